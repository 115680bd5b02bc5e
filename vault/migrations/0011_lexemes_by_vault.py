import django.db.models.deletion
from django.db import migrations, models

import vault.extensions


def count_again(apps, schema_editor):
    """The counts are made anew in the background; until then a search counts for itself."""
    Job = apps.get_model("vault", "Job")
    is_open = Job.objects.filter(key="lexemes", state__in=["queued", "running"]).exists()
    if apps.get_model("vault", "Chunk").objects.exists() and not is_open:
        Job.objects.create(key="lexemes", kind="lexemes")


class Migration(migrations.Migration):
    # The trigram index is built CONCURRENTLY. The tables hold counts alone, so they are made
    # anew rather than changed.
    atomic = False

    dependencies = [
        ("vault", "0010_embedding_switch"),
    ]

    operations = [
        migrations.DeleteModel(name="LexemeFrequency"),
        migrations.DeleteModel(name="LexicalCorpus"),
        migrations.CreateModel(
            name="Lexeme",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lexeme", models.TextField(unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="LexemeFrequency",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text_config", models.CharField(max_length=63)),
                ("lexeme", models.TextField()),
                ("chunks", models.PositiveIntegerField()),
                ("vault", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="vault.vault")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("lexeme", "vault", "text_config"), name="lexeme_once_per_vault")],
            },
        ),
        migrations.CreateModel(
            name="LexicalCorpus",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text_config", models.CharField(max_length=63)),
                ("chunks", models.PositiveIntegerField()),
                ("average_length", models.FloatField(help_text="lexemes in a chunk")),
                ("refreshed", models.DateTimeField(auto_now=True)),
                ("vault", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="vault.vault")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("vault", "text_config"), name="lexicalcorpus_once_per_vault")],
            },
        ),
        vault.extensions.CreateTrigramIndexIfAvailable(
            "lexeme_trigrams", table="vault_lexeme", column="lexeme"
        ),
        migrations.RunPython(count_again, migrations.RunPython.noop, elidable=True),
    ]
