from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("providers", "0006_what_a_model_can_call")]

    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="noise_bar",
            field=models.FloatField(
                editable=False,
                help_text="Cosine under which no passage is near a question: measured.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="noise_spread",
            field=models.FloatField(
                default=0.0,
                editable=False,
                help_text="Deviation of the cosines it was measured by.",
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="noise_passages",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="Passages it was measured by."
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="noise_of",
            field=models.PositiveBigIntegerField(
                default=0, editable=False, help_text="Vectors there were then."
            ),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="noise_space",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="Fingerprint of the model then; empty: not measured.",
                max_length=16,
            ),
        ),
    ]
