import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0008_trials'),
        ('vault', '0021_size_trials'),
    ]

    operations = [
        migrations.AddField(
            model_name='evalrun',
            name='asked_vault',
            field=models.ForeignKey(blank=True, help_text='Copies of notes that are asked in place of the vault, while they last.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='vault.vault'),
        ),
        migrations.AddField(
            model_name='evalrun',
            name='size_trial',
            field=models.ForeignKey(blank=True, help_text='Other sizes of passages that it is a part of the trial of.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='vault.sizetrial'),
        ),
    ]
