"""Folders, pins, archive, temporary and deleted conversations, the branch shown; share links.

New columns are nullable or have a constant default: no row is rewritten.
"""

import uuid

import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("chat", "0005_keep_the_outline_of_a_source"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Folder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("owner"),
                        django.db.models.functions.text.Lower("name"),
                        name="folder_name_once_an_owner",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="conversation",
            name="leaf",
            field=models.UUIDField(
                default=None,
                help_text="A message of the branch that is shown; null: newest.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="folder",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to="chat.folder",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="pinned",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="conversation",
            name="archived",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="conversation",
            name="temporary",
            field=models.BooleanField(
                default=False,
                help_text="In no list and no search; deleted a day after its last use.",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="deleted",
            field=models.DateTimeField(
                default=None,
                help_text="Can be brought back for a while from then on.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="origin",
            field=models.UUIDField(
                default=None,
                help_text="Its id in the file that it was imported from.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("token_hash", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "only_answer",
                    models.BooleanField(
                        default=False,
                        help_text="That answer and its question, without what came before.",
                    ),
                ),
                (
                    "audience",
                    models.CharField(
                        choices=[
                            ("signed_in", "everybody who can sign in"),
                            ("named", "people and groups I name"),
                            ("readers", "those who may read every vault it was written from"),
                        ],
                        default="signed_in",
                        max_length=10,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField()),
                ("revoked", models.DateTimeField(default=None, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to="chat.conversation",
                    ),
                ),
                ("groups", models.ManyToManyField(blank=True, related_name="+", to="auth.group")),
                (
                    "message",
                    models.ForeignKey(
                        help_text="The last message that is shown.",
                        on_delete=django.db.models.deletion.CASCADE,
                        to="chat.message",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "users",
                    models.ManyToManyField(
                        blank=True, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-created"],
                "indexes": [
                    models.Index(
                        fields=["owner", "-created"], name="chat_sharel_owner_i_255f68_idx"
                    )
                ],
            },
        ),
    ]
