import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('providers', '0006_what_a_model_can_call'),
        ('vault', '0020_switch_verdict'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='vault',
            name='state',
            field=models.CharField(choices=[('active', 'active'), ('paused', 'paused, waiting for an answer'), ('deleted', 'deleted, can be brought back'), ('removing', 'being removed'), ('trial', 'copies for a trial, shown to nobody')], default='active', max_length=10),
        ),
        migrations.CreateModel(
            name='SizeTrial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('before_tokens', models.PositiveSmallIntegerField()),
                ('before_overlap', models.PositiveSmallIntegerField()),
                ('before_minimum', models.PositiveSmallIntegerField()),
                ('after_tokens', models.PositiveSmallIntegerField()),
                ('after_overlap', models.PositiveSmallIntegerField()),
                ('after_minimum', models.PositiveSmallIntegerField()),
                ('space', models.CharField(blank=True, help_text='Of the embedding model when it was begun.', max_length=16)),
                ('state', models.CharField(choices=[('queued', 'waiting for the worker'), ('running', 'running'), ('done', 'done'), ('cancelled', 'stopped'), ('failed', 'failed')], default='queued', max_length=10)),
                ('stage', models.CharField(choices=[('choose', 'choosing notes'), ('copy', 'cutting copies of the notes'), ('embed', 'embedding the passages'), ('ask', 'asking the golden questions')], default='choose', max_length=10)),
                ('done', models.PositiveIntegerField(default=0, help_text='of `total`, in this stage')),
                ('total', models.PositiveIntegerField(default=0)),
                ('questions', models.JSONField(default=list, help_text='ids')),
                ('ranked', models.JSONField(default=dict, help_text='Ids of the notes that search found, by question id.')),
                ('pool', models.JSONField(default=list, help_text='Ids of the notes that are copied.')),
                ('notes', models.PositiveIntegerField(default=0, help_text='notes of the vault')),
                ('spent', models.JSONField(default=dict, help_text='Tokens and USD for new vectors.')),
                ('report', models.JSONField(default=dict)),
                ('trouble', models.TextField(blank=True, help_text='Why it waits and tries again.')),
                ('error', models.TextField(blank=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('finished', models.DateTimeField(blank=True, null=True)),
                ('after_vault', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='vault.vault')),
                ('before_vault', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='vault.vault')),
                ('embedding_model', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='providers.embeddingmodel')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('vault', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='size_trials', to='vault.vault')),
            ],
            options={
                'ordering': ['-created', '-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('vault',), name='sizetrial_one_open_in_vault')],
            },
        ),
    ]
