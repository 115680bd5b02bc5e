import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("providers", "0001_initial"),
        ("retrieval", "0002_settings_in_range"),
    ]

    operations = [
        migrations.AlterField(
            model_name="retrievalsettings",
            name="rerank_model",
            field=models.ForeignKey(
                blank=True,
                help_text="Orders the best candidates again, as half of their score, for everybody. Empty: only for those who switch it on in their chat settings.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to="providers.rerankmodel",
            ),
        ),
    ]
