from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0004_golden_questions'),
    ]

    operations = [
        migrations.AddField(
            model_name='retrievalsettings',
            name='linked_notes',
            field=models.BooleanField(default=False, help_text='notes that a passage links to come along last, while the budget lasts'),
        ),
    ]
