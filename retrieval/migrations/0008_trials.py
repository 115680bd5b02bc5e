import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("providers", "0006_what_a_model_can_call"),
        ("retrieval", "0007_overfetch"),
    ]

    operations = [
        migrations.AddField(
            model_name="evalrun",
            name="trial_model",
            field=models.ForeignKey(
                blank=True,
                help_text="Asked in place of the model that serves, before it may.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="providers.embeddingmodel",
            ),
        ),
        migrations.AddField(
            model_name="evalrun",
            name="against",
            field=models.ForeignKey(
                blank=True,
                help_text="The run that it is measured by.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="retrieval.evalrun",
            ),
        ),
    ]
