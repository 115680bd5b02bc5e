from django.db import migrations

from vault.bare_names import BareName


class Migration(migrations.Migration):
    dependencies = [
        ("vault", "0025_vaults_in_order"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="vault",
            options={"ordering": (BareName("name"), "pk")},
        ),
    ]
