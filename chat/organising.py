"""What an owner does with conversations: the branch shown, name, place, end and return."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from chat.core.asking import BadAsk, Refused, clean_text, not_found
from chat.core.branches import branch_through
from chat.history import RUN_ACTIVE, own_conversation, parents_of
from chat.ledger import end_abandoned, want_stop
from chat.models import Conversation, Folder, Message
from chat.runs import delete_conversation

# A temporary conversation after its last use, and a deleted one: then they are gone for good.
KEPT_FOR = timedelta(days=1)
# A temporary conversation after its tab was closed: who loads the page anew, or reads a note
# and comes back, finds it.
LEFT_FOR = timedelta(minutes=10)
LONGEST_TITLE = 200  # characters, as the column has it
LONGEST_FOLDER = 80
MOST_FOLDERS = 200

# What a mark changes, by its name in addresses.
MARKS: dict[str, dict[str, bool]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "archive": {"archived": True, "pinned": False},
    "unarchive": {"archived": False},
    "keep": {"temporary": False},
}
OPPOSITES = {"pin": "unpin", "unpin": "pin", "archive": "unarchive", "unarchive": "archive"}


def mark(conversation: Conversation, name: str) -> None:
    """Pin it, archive it, keep it, or the opposite. Its date stays."""
    Conversation.objects.filter(pk=conversation.pk).update(**MARKS[name])


def rename(conversation: Conversation, title: str) -> str:
    """Give it a title that no model changes any more. Raises BadAsk."""
    named = _one_line(title, most=LONGEST_TITLE, what="A title")
    Conversation.objects.filter(pk=conversation.pk).update(title=named, title_is_final=True)
    return named


def move(conversation: Conversation, folder: Folder | None) -> None:
    """Put it into a folder of its owner, or into none."""
    Conversation.objects.filter(pk=conversation.pk).update(folder=folder)


def own_folder(user: User, folder_id: object) -> Folder:
    """A folder of `user`. Raises Refused, alike for missing and foreign ones."""
    number = str(folder_id)
    if number.isascii() and number.isdigit() and len(number) < 19:
        folder = Folder.objects.owned_by(user).filter(pk=int(number)).first()
        if folder is not None:
            return folder
    raise Refused("not_found", "There is no such folder.", status=404)


def make_folder(user: User, name: str) -> Folder:
    """A new folder, or the one that has this name already. Raises BadAsk."""
    named = _one_line(name, most=LONGEST_FOLDER, what="A folder's name")
    mine = Folder.objects.owned_by(user)
    found = mine.filter(name__iexact=named).first()
    if found is not None:
        return found
    if mine.count() >= MOST_FOLDERS:
        raise BadAsk(f"You have {MOST_FOLDERS} folders. Delete one, or use one you have.")
    try:
        with transaction.atomic():
            return Folder.objects.create(owner=user, name=named)
    except IntegrityError:  # made twice at once
        return mine.get(name__iexact=named)


def rename_folder(folder: Folder, name: str) -> None:
    """Raises BadAsk when the name is empty, too long or taken."""
    named = _one_line(name, most=LONGEST_FOLDER, what="A folder's name")
    try:
        with transaction.atomic():
            Folder.objects.filter(pk=folder.pk).update(name=named)
    except IntegrityError as error:
        raise BadAsk(f"You have a folder “{named}” already.") from error


def delete_folder(folder: Folder) -> None:
    """Its conversations stay, in no folder."""
    folder.delete()


def put_away(conversation: Conversation) -> None:
    """Delete it for everybody; restore() brings it back for a day. A running answer stops."""
    for run_id in conversation.runs.active().values_list("pk", flat=True):
        want_stop(run_id)
    Conversation.objects.filter(pk=conversation.pk).update(deleted=Now())


def restore(user: User, conversation_id: UUID) -> Conversation:
    """Bring back what was deleted less than a day ago. Raises Refused."""
    mine = Conversation.objects.kept_or_deleted_by(user)
    back = mine.filter(pk=conversation_id).exclude(deleted__lt=Now() - KEPT_FOR)
    if not back.update(deleted=None):
        raise not_found()
    return own_conversation(user, conversation_id)


def leave(user_id: int, conversation_ids: Collection[UUID]) -> bool:
    """A tab that showed these was closed; whether a temporary one among them ends now."""
    mine = Conversation.objects.filter(owner_id=user_id, pk__in=conversation_ids)
    return bool(mine.filter(temporary=True).update(left=Now()))


def come_back(user_id: int, conversation_ids: Collection[UUID]) -> None:
    """A tab that shows these is open."""
    mine = Conversation.objects.filter(owner_id=user_id, pk__in=conversation_ids)
    mine.exclude(left=None).update(left=None)


def sweep_conversations() -> int:
    """Delete for good what was deleted, or temporary and unused, for a day, and what is
    temporary and was left. How many wait."""
    waiting = Conversation.objects.filter(Q(temporary=True) | Q(deleted__isnull=False))
    is_due = Q(deleted__lt=Now() - KEPT_FOR) | Q(temporary=True, updated__lt=Now() - KEPT_FOR)
    is_due |= Q(temporary=True, left__lt=Now() - LEFT_FOR)
    for conversation in waiting.filter(is_due).exclude(runs__state="active").iterator():
        delete_conversation(conversation)
    return waiting.count()


def _one_line(text: str, *, most: int, what: str) -> str:
    line = " ".join(clean_text(text).split())
    if not line or len(line) > most:
        raise BadAsk(f"{what} has 1 to {most} characters.")
    return line


def choose_branch(conversation: Conversation, message: object) -> UUID:
    """Show the branch through `message` from now on. Raises Refused when it is not there."""
    try:
        chosen = UUID(str(message))
    except ValueError as error:
        raise not_found() from error
    if not conversation.messages.filter(pk=chosen).exists():
        raise not_found()
    # Looking at another branch is no use of the conversation: its date stays.
    Conversation.objects.filter(pk=conversation.pk).update(leaf=chosen)
    return chosen


def count_other_branches(conversation: Conversation) -> dict[str, int]:
    """How many questions and answers stand in branches that are not shown."""
    shown = branch_through(parents_of(conversation), conversation.leaf)
    other = conversation.messages.exclude(pk__in=shown)
    questions = other.filter(role=Message.Role.USER).count()
    return {"questions": questions, "answers": other.count() - questions}


def keep_only_branch(user: User, conversation_id: UUID) -> int:
    """Delete what is not on the shown branch; how many messages that were. Raises Refused."""
    with transaction.atomic():
        conversation = own_conversation(user, conversation_id, lock=True)
        end_abandoned(conversation.runs.active().values_list("pk", flat=True))
        if conversation.runs.active().exists():
            raise Refused("run_active", RUN_ACTIVE)
        shown = branch_through(parents_of(conversation), conversation.leaf)
        other = conversation.messages.exclude(pk__in=shown)
        lost = other.count()
        other.delete()
    return lost
