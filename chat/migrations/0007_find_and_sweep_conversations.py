"""Indexes by which messages are searched, folders emptied and old conversations deleted."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

import vault.extensions


class Migration(migrations.Migration):
    # Messages may be millions: the indexes are built while the site goes on.
    atomic = False

    dependencies = [
        ("chat", "0006_organise_and_share_conversations"),
        ("vault", "0001_initial"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("folder__isnull", False)),
                fields=["folder"],
                name="chat_conversation_folder",
            ),
        ),
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(
                    ("temporary", True), ("deleted__isnull", False), _connector="OR"
                ),
                fields=["updated"],
                name="chat_conversation_to_delete",
            ),
        ),
        AddIndexConcurrently(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("origin__isnull", False)),
                fields=["owner", "origin"],
                name="chat_conversation_origin",
            ),
        ),
        AddIndexConcurrently(
            model_name="message",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.search.SearchVector(
                    django.db.models.functions.text.Left("text", 200000), config="simple"
                ),
                name="chat_message_words",
            ),
        ),
        vault.extensions.CreateTrigramIndexIfAvailable(
            "chat_message_trigrams", table="chat_message", column="text"
        ),
    ]
