"""Each answer knows the earlier answers its model was told; older ones were told their branch."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    messages = apps.get_model("chat", "Message").objects
    parents = dict(messages.values_list("pk", "parent_id"))
    answers = set(messages.filter(role="assistant").values_list("pk", flat=True))
    for pk in answers:
        told, at = [], parents[pk]
        while at is not None:
            if at in answers:
                told.append(str(at))
            at = parents[at]
        if told:
            messages.filter(pk=pk).update(told=told)


class Migration(migrations.Migration):
    dependencies = [("chat", "0003_delete_what_a_run_adds")]

    operations = [
        migrations.AddField(
            model_name="message",
            name="told",
            field=models.JSONField(
                default=list,
                help_text="Earlier answers the model was told: this one may repeat them.",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="error_mend",
            field=models.TextField(blank=True, help_text="What the reader could do about it."),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
