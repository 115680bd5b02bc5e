from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

import vault.extensions


class Migration(migrations.Migration):
    # Chunks may be millions: the indexes are built while the site goes on.
    atomic = False

    dependencies = [
        ("vault", "0006_uploads"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="chunk",
            index=models.Index(fields=["vault", "text_config"], name="chunk_vault_config"),
        ),
        vault.extensions.CreateTrigramIndexIfAvailable(
            "lexemefrequency_trigrams", table="vault_lexemefrequency", column="lexeme"
        ),
    ]
