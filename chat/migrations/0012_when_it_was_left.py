from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0011_search_again")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="left",
            field=models.DateTimeField(
                default=None,
                help_text=(
                    "When a tab that showed a temporary one was closed; null: one is open again."
                ),
                null=True,
            ),
        ),
    ]
