from django.db import migrations
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [
        ("vault", "0024_passages_by_state"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="vault",
            options={"ordering": (Lower("name"), "pk")},
        ),
    ]
