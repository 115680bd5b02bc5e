from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("vault", "0019_facts"),
    ]

    operations = [
        migrations.AddField(
            model_name="vault",
            name="switch_verdict",
            field=models.CharField(
                blank=True,
                choices=[("worse", "worse"), ("agreed", "agreed")],
                default="",
                editable=False,
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="vault",
            name="switch_report",
            field=models.JSONField(default=dict, editable=False),
        ),
    ]
