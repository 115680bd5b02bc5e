from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Vectors may be millions: the index is built while the site goes on.
    atomic = False

    dependencies = [
        ("vault", "0017_deleted_and_left_out"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="chunkvector",
            index=models.Index(
                fields=["embedding_model", "vault", "fingerprint"], name="chunkvector_space"
            ),
        ),
    ]
