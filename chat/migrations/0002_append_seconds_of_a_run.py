"""A run's events are kept by the second; personas are rows of admins alone."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_initial")]

    operations = [
        migrations.RemoveField(model_name="persona", name="vault"),
        migrations.RemoveField(model_name="persona", name="path"),
        migrations.AlterField(
            model_name="persona",
            name="prompt",
            field=models.TextField(help_text="Follows the base prompt."),
        ),
        migrations.AddField(
            model_name="message",
            name="notices",
            field=models.JSONField(
                default=list, help_text="What the reader was told: skipped arms, left out turns."
            ),
        ),
        migrations.AlterModelOptions(
            name="message", options={"ordering": ["created", "-role"]}
        ),
        migrations.DeleteModel(name="RunEvent"),
        migrations.CreateModel(
            name="RunEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("first", models.PositiveIntegerField()),
                ("last", models.PositiveIntegerField()),
                ("events", models.JSONField(default=list)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="chat.run",
                    ),
                ),
            ],
            options={
                "ordering": ["first"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "first"), name="runevent_first_once")
                ],
            },
        ),
    ]
