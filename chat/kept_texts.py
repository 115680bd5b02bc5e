"""Texts of notes that are kept with answers: cleaned when the rules for secrets change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction

from chat.models import Message, RunEvent, Source, Step
from chat.told import answers_after

Clean = Callable[[str], str]


def rescrub_kept(vault_id: int, clean: Clean) -> int:
    """Pass all that answers keep of a vault's notes through `clean`; rows changed.

    That is the passages, what was written from them, the steps on the way and the events
    of the writing. An answer that was told an earlier one may repeat it and is cleaned too.
    """
    sources = Source.objects.filter(vault_id=vault_id)
    answers = Message.objects.filter(role=Message.Role.ASSISTANT)
    direct = set(sources.values_list("message_id", flat=True))
    ids = direct | answers_after(direct, among=answers)
    changed = sum(_clean_source(source, clean) for source in sources.iterator(200))
    for message_id in ids:
        changed += _clean_answer(message_id, clean)
    return changed


def _clean_source(source: Source, clean: Clean) -> bool:
    before = (source.text, source.title, source.heading_path, source.outline)
    after = tuple(_cleaned(value, clean) for value in before)
    if after == before:
        return False
    source.text, source.title, source.heading_path, source.outline = after
    # The passage begins where it began; what it holds is as long as it is now.
    source.end = source.start + len(source.text)
    source.save(update_fields=["text", "title", "heading_path", "outline", "end"])
    return True


@transaction.atomic
def _clean_answer(message_id: Any, clean: Clean) -> int:
    """An answer and the events it was written by, together."""
    changed = 0
    message = Message.objects.select_for_update().filter(pk=message_id).first()
    if message is None:
        return 0
    before = (message.text, message.citations, message.notices, message.error)
    after = tuple(_cleaned(value, clean) for value in before)
    if after != before:
        message.text, message.citations, message.notices, message.error = after
        message.save(update_fields=["text", "citations", "notices", "error"])
        changed += 1
    return changed + _clean_steps(message_id, clean) + _clean_events(message_id, clean)


def _clean_steps(message_id: Any, clean: Clean) -> int:
    """What the model looked for on its way: it may repeat what it had read."""
    changed = 0
    for step in Step.objects.filter(message_id=message_id):
        before = (step.what, step.why, step.said)
        after = tuple(clean(text) for text in before)
        if after != before:
            step.what, step.why, step.said = after
            step.save(update_fields=["what", "why", "said"])
            changed += 1
    return changed


def _clean_events(message_id: Any, clean: Clean) -> int:
    """The events of a run. A secret may be cut in two by them: when the text as a whole is
    another once it is clean, its first event says all of it."""
    rows = list(RunEvent.objects.filter(run__message_id=message_id).order_by("first"))
    before = [row.events for row in rows]
    deltas = [event for row in rows for event in row.events if event.get("type") == "delta"]
    said = "".join(event["data"]["text"] for event in deltas)
    whole = clean(said)
    rewritten = {id(event): "" for event in deltas} if whole != said else {}
    if rewritten:
        rewritten[id(deltas[0])] = whole
    changed = 0
    for row, old in zip(rows, before, strict=True):
        row.events = [
            event | {"data": event["data"] | {"text": rewritten[id(event)]}}
            if id(event) in rewritten
            else _cleaned(event, clean)
            for event in old
        ]
        if row.events != old:
            row.save(update_fields=["events"])
            changed += 1
    return changed


def _cleaned(value: Any, clean: Clean) -> Any:
    """A value of JSON with every text in it cleaned; names of fields are our own."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item, clean) for item in value]
    if isinstance(value, dict):
        return {name: _cleaned(item, clean) for name, item in value.items()}
    return value
