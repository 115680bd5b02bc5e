from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Passages may be millions: the indexes are built while the site goes on.
    atomic = False

    dependencies = [
        ("vault", "0023_words_inline"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="chunk",
            index=models.Index(
                fields=["vault"], name="chunk_refused", condition=~models.Q(embed_failed="")
            ),
        ),
        AddIndexConcurrently(
            model_name="chunk",
            index=models.Index(
                fields=["vault"], name="chunk_context", condition=~models.Q(context_made="")
            ),
        ),
        AddIndexConcurrently(
            model_name="syncrun",
            index=models.Index(fields=["vault", "-started"], name="syncrun_newest"),
        ),
    ]
