from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Passages may be millions: the index is built while the site goes on.
    atomic = False

    dependencies = [
        ("vault", "0021_size_trials"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="chunk",
            index=models.Index(
                fields=["vault"], name="chunk_code", condition=models.Q(is_code=True)
            ),
        ),
    ]
