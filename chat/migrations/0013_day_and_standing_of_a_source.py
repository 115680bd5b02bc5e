from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0012_when_it_was_left")]

    operations = [
        migrations.AddField(
            model_name="source",
            name="note_day",
            field=models.DateField(help_text="The day the note is of.", null=True),
        ),
        migrations.AddField(
            model_name="source",
            name="standing",
            field=models.JSONField(
                default=dict, help_text="What the note said of how far it holds."
            ),
        ),
    ]
