from django.db import migrations, models


class Migration(migrations.Migration):
    """A quote is named by its own heading. A column with a default: no row is rewritten."""

    dependencies = [("chat", "0004_remember_what_the_model_was_told")]

    operations = [
        migrations.AddField(
            model_name="source",
            name="outline",
            field=models.JSONField(
                default=list,
                help_text="Where which heading path begins within the passage.",
            ),
        ),
    ]
