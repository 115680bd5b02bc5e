from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0013_day_and_standing_of_a_source")]

    operations = [
        migrations.AddField(
            model_name="source",
            name="also_in",
            field=models.JSONField(default=list, help_text="Notes that said the same, left out."),
        ),
    ]
