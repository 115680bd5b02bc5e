"""Links to conversations: made, found by their token, revoked; what a reader sees of one.

A link shows nothing by itself. At every opening each answer is asked after the rights of
who reads: one that rests on a vault they may not read is withheld whole, as its owner's is
when they lose a vault, and a question that repeats its words is withheld with it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from chat.core.asking import BadAsk, Refused, not_found
from chat.core.branches import branch_through, branch_to
from chat.core.leaks import repeats
from chat.core.sharing import ShareWish
from chat.core.titles import title_from_question
from chat.history import own_conversation, parents_of
from chat.models import AnswerMode, Conversation, Message, ShareLink, Source, Step
from chat.rights import is_open
from chat.threads import message_json
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Vault

MOST_LINKS = 500
# One sentence for whatever a token does not open: who asks learns nothing from it.
NO_SHARE = (
    "Nothing is shared with you at this address. The link may have expired or been taken "
    "back, or it may be for others: ask who sent it."
)
HIDDEN_ANSWER = "This answer rests on notes you may not read, so it is not shown."
HIDDEN_QUESTION = "(This question repeats words of notes you may not read.)"
NOT_COPIED = "This answer rests on notes you may not read, so it was not copied."


def no_share() -> Refused:
    """The same for what is missing, over, and for others."""
    return Refused("not_found", NO_SHARE, status=404)


@dataclass(frozen=True, slots=True)
class Shared:
    """What one reader sees of a link: messages as of a thread, oldest first."""

    link: ShareLink
    title: str
    messages: tuple[dict[str, Any], ...]

    @property
    def is_whole(self) -> bool:
        return not any(message["withheld"] for message in self.messages)


def token_of(link: ShareLink) -> str:
    """The secret of its address; "" once the server's key is another one.

    It is made of the link's random id with the server's key, so that an owner can copy it
    again while the table holds a hash only.
    """
    token = _token(link.pk)
    return token if constant_time_compare(_hash(token), link.token_hash) else ""


def make_link(user: User, conversation_id: UUID, wish: ShareWish) -> ShareLink:
    """Share a conversation of `user` up to a message of it. Raises Refused."""
    conversation = own_conversation(user, conversation_id)
    if conversation.temporary:
        raise BadAsk("A temporary conversation is deleted after a day: keep it, then share it.")
    if ShareLink.objects.owned_by(user).in_force().count() >= MOST_LINKS:
        raise BadAsk(f"You share {MOST_LINKS} links already. Take some back first.")
    users, groups = _named(wish.names)
    message = _last_shown(conversation, wish)
    link_id = uuid4()
    with transaction.atomic():
        link = ShareLink.objects.create(
            id=link_id,
            token_hash=_hash(_token(link_id)),
            owner=user,
            conversation=conversation,
            message=message,
            only_answer=wish.only_answer,
            audience=wish.audience,
            expires=timezone.now() + timedelta(days=wish.days),
        )
        link.users.set(users)
        link.groups.set(groups)
    return link


def own_link(user: User, link_id: UUID) -> ShareLink:
    """A link that `user` made. Raises Refused, alike for missing and foreign ones."""
    link = ShareLink.objects.owned_by(user).filter(pk=link_id).first()
    if link is None:
        raise Refused("not_found", "There is no such shared link.", status=404)
    return link


def revoke(link: ShareLink) -> None:
    """It opens nothing from now on; restore_link() takes that back."""
    ShareLink.objects.filter(pk=link.pk, revoked=None).update(revoked=Now())


def restore_link(link: ShareLink) -> None:
    """Let a revoked link open again, until it expires."""
    ShareLink.objects.filter(pk=link.pk).update(revoked=None)


def open_link(user: User, token: str) -> Shared:
    """What `user` may see of what is shared under `token`. Raises Refused."""
    in_force = ShareLink.objects.in_force().select_related("owner", "conversation")
    link = in_force.filter(token_hash=_hash(token)).first()
    if link is None or not _is_for(link, user):
        raise no_share()
    shared = _shown_to(user, link)
    if link.audience == ShareLink.Audience.READERS and not shared.is_whole:
        raise no_share()
    return shared


@transaction.atomic
def continue_link(user: User, token: str) -> Conversation:
    """A conversation of `user` that begins with what they may see of it. Raises Refused."""
    shared = open_link(user, token)
    copied = Conversation.objects.create(owner=user, title=shared.title)
    new_ids: dict[str, UUID] = {}
    parent: UUID | None = None
    rows = Message.objects.in_bulk([UUID(message["id"]) for message in shared.messages])
    for seen in shared.messages:
        row = rows[UUID(seen["id"])]
        parent = _copy(row, seen, into=copied, parent=parent, new_ids=new_ids)
        new_ids[seen["id"]] = parent
    Conversation.objects.filter(pk=copied.pk).update(leaf=parent)
    return copied


def _copy(
    row: Message,
    seen: dict[str, Any],
    *,
    into: Conversation,
    parent: UUID | None,
    new_ids: dict[str, UUID],
) -> UUID:
    is_hidden_answer = seen["withheld"] and row.role == Message.Role.ASSISTANT
    made = Message.objects.create(
        conversation=into,
        parent_id=parent,
        role=row.role,
        text=seen["text"],
        status=Message.Status.FAILED if is_hidden_answer else row.status,
        mode=row.mode,
        model_label="" if is_hidden_answer else row.model_label,
        persona_name="" if is_hidden_answer else row.persona_name,
        error_code="not_copied" if is_hidden_answer else row.error_code,
        error=NOT_COPIED if is_hidden_answer else seen.get("error", {}).get("text", ""),
        cut_short=row.cut_short and not is_hidden_answer,
        citations=[] if is_hidden_answer else row.citations,
        sources_added=row.sources_added and not is_hidden_answer,
        tool_use=row.tool_use,
        told=[str(new_ids[pk]) for pk in row.told if pk in new_ids],
    )
    if not seen["withheld"]:
        sources = list(row.sources.all())
        for source in sources:
            source.pk, source.message_id = None, made.pk
        Source.objects.bulk_create(sources)
        Step.objects.bulk_create(_step(step, made.pk) for step in seen.get("steps", ()))
    return made.pk


def _step(seen: dict[str, Any], message_id: UUID) -> Step:
    """A further search as far as it is shown: what it looked for is its owner's."""
    kept = {name: seen[name] for name in ("number", "tool", "state", "decision", "found")}
    return Step(message_id=message_id, **kept)


def _shown_to(user: User, link: ShareLink) -> Shared:
    """Each message of the link, less what `user` may not read."""
    conversation = link.conversation
    path = branch_to(parents_of(conversation), link.message_id)
    rows = conversation.messages.select_related("retrieval_run").prefetch_related(
        "sources__vault", "steps__retrieval_run"
    )
    by_id = {row.pk: row for row in rows.filter(pk__in=path)}
    messages = [by_id[pk] for pk in path]
    readable = scope_for(user)
    closed = _closed_vaults(messages, readable)
    lost = _lost(messages, readable, [name.casefold() for name in closed.values()])
    hidden = [row.text for row in messages if row.pk in lost]
    hidden += [
        source.text
        for row in messages
        for source in row.sources.all()
        if not is_open(source, readable)
    ]
    shown = messages[-2:] if link.only_answer else messages
    seen = [
        _without_closed(row, _seen(row, readable, hidden, is_lost=row.pk in lost), closed)
        for row in shown
    ]
    title = title_from_question(seen[0]["text"]) if link.only_answer else str(conversation)
    if seen[0]["withheld"] or repeats(title, hidden):
        title = "A shared conversation"
    return Shared(link, title, tuple(seen))


def _seen(row: Message, readable: Scope, hidden: list[str], *, is_lost: bool) -> dict[str, Any]:
    """A message without what is its owner's alone: how it was found, what it cost, its errors."""
    data = message_json(row, readable, is_lost=is_lost)
    if row.role == Message.Role.USER:
        is_hidden = repeats(row.text, hidden)
        return data | {"withheld": is_hidden, "text": HIDDEN_QUESTION if is_hidden else row.text}
    text = HIDDEN_ANSWER if is_lost else ""
    if row.status == Message.Status.FAILED and not is_lost:
        text = "The answer could not be written."
    error = {"code": data["error"]["code"], "text": text, "mend": ""}
    blank = dict.fromkeys(("what", "why", "said"), "") | {"milliseconds": 0, "retrieval_run": None}
    steps = [step | blank for step in data["steps"]]
    own: dict[str, Any] = {"notices": [], "usage": {}, "retrieval_run": None}
    return data | {"error": error, "steps": steps, **own}


def _without_closed(
    row: Message, seen: dict[str, Any], closed: Mapping[str, str]
) -> dict[str, Any]:
    """A message without the further searches that went through a vault closed to its reader."""
    numbers = {
        step.number
        for step in row.steps.all()
        if step.retrieval_run and not closed.keys().isdisjoint(step.retrieval_run.vaults)
    }
    steps = [step for step in seen.get("steps", ()) if step["number"] not in numbers]
    return seen | {"steps": steps} if numbers else seen


def _lost(messages: list[Message], readable: Scope, names: Sequence[str]) -> set[UUID]:
    """Answers that rest on a vault that is not readable, or were told one that does.

    Of a chain of any length: what was told repeats what it was told. An answer that says
    one of `names`, of vaults that may not be known of, is lost as well.
    """
    lost: set[UUID] = set()
    for row in messages:
        if row.role != Message.Role.ASSISTANT:
            continue
        sources = row.sources.all()
        rests = any(not is_open(source, readable) for source in sources)
        told = any(str(before) in row.told for before in lost)
        says = any(name in row.text.casefold() for name in names)
        if rests or told or says or _may_name_vaults(row, has_sources=bool(sources)):
            lost.add(row.pk)
    return lost


def _closed_vaults(messages: list[Message], readable: Scope) -> dict[str, str]:
    """By slug, the names of vaults that were searched and may not be known of."""
    runs = [row.retrieval_run for row in messages]
    runs += [step.retrieval_run for row in messages for step in row.steps.all()]
    slugs = {slug for run in runs if run is not None for slug in run.vaults}
    closed = Vault.objects.filter(slug__in=slugs).exclude(pk__in=readable.vault_ids)
    return dict(closed.values_list("slug", "name"))


def _may_name_vaults(row: Message, *, has_sources: bool) -> bool:
    """An answer that found nothing names what was searched; which, is forgotten in time."""
    found_nothing = row.mode == AnswerMode.NOTES_ONLY and not has_sources
    return found_nothing and row.retrieval_run is None


def _is_for(link: ShareLink, user: User) -> bool:
    if not user.is_active:
        return False
    if link.owner_id == user.pk or link.audience != ShareLink.Audience.NAMED:
        return True
    is_named = link.users.filter(pk=user.pk).exists()
    return is_named or link.groups.filter(user=user).exists()


def _last_shown(conversation: Conversation, wish: ShareWish) -> Message:
    parents = parents_of(conversation)
    if wish.message is None:
        branch = branch_through(parents, conversation.leaf)
        wanted = branch[-1] if branch else None
    else:
        wanted = wish.message
    if wanted is None:
        raise BadAsk("There is no answer to share yet.")
    message = conversation.messages.filter(pk=wanted, role=Message.Role.ASSISTANT).first()
    if message is None:
        raise not_found()
    if message.status == Message.Status.RUNNING:
        raise Refused("run_active", "This answer is still being written. Share it when it ends.")
    return message


def _named(names: tuple[str, ...]) -> tuple[list[User], list[Group]]:
    """People by e-mail address, groups by name. Raises BadAsk with the first that is neither."""
    users: list[User] = []
    groups: list[Group] = []
    for name in names:
        people = get_user_model().objects.filter(
            Q(email__iexact=name) | Q(username__iexact=name), is_active=True
        )
        group = Group.objects.filter(name__iexact=name).first()
        if person := people.first():
            users.append(person)
        elif group is not None:
            groups.append(group)
        else:
            raise BadAsk(f"Nobody who can sign in, and no group, is called “{name}”.")
    return users, groups


def _token(link_id: UUID) -> str:
    digest = salted_hmac("chat.sharing", link_id.hex, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
