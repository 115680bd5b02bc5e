from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("vault", "0014_folder_rules_and_former_paths"),
    ]

    operations = [
        migrations.AddField(
            model_name="vault",
            name="largest_attachment_kb",
            field=models.PositiveIntegerField(
                default=20000,
                help_text="Of PDF files and pictures; larger ones are only listed.",
            ),
        ),
    ]
