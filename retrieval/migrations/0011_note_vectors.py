from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0010_code_path"),
    ]

    operations = [
        migrations.AddField(
            model_name="retrievalsettings",
            name="note_vectors",
            field=models.BooleanField(
                default=True,
                help_text="let whole notes that are near bring passages which a large index misses",
            ),
        ),
    ]
