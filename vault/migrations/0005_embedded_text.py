import django.contrib.postgres.indexes
import django.contrib.postgres.search
from django.db import migrations, models

import vault.weighted_tsvector


class Migration(migrations.Migration):

    dependencies = [
        ("vault", "0004_code_suffixes"),
    ]

    # The expression of a generated column cannot be altered: it is made anew.
    operations = [
        migrations.RemoveIndex(model_name="chunk", name="chunk_tsv"),
        migrations.RemoveField(model_name="chunk", name="tsv"),
        migrations.AddField(
            model_name="chunk",
            name="embedded_text",
            field=models.TextField(
                blank=True,
                default="",
                help_text="What is embedded here from other notes, for keyword search.",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="chunk",
            name="tsv",
            field=models.GeneratedField(
                db_persist=True,
                expression=vault.weighted_tsvector.WeightedTsvector(
                    models.F("text_config"),
                    models.F("heading_text"),
                    models.F("context"),
                    models.F("content"),
                    models.F("made_tokens"),
                    models.F("embedded_text"),
                ),
                output_field=django.contrib.postgres.search.SearchVectorField(),
            ),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=django.contrib.postgres.indexes.GinIndex(fields=["tsv"], name="chunk_tsv"),
        ),
    ]
