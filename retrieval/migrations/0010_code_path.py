from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0009_runs_of_size_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="retrievalsettings",
            name="code_path",
            field=models.BooleanField(
                default=True,
                help_text="look for source code by itself, where a question may be about it",
            ),
        ),
    ]
