"""What pages and scripts show of vaults and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any
from urllib.parse import urlencode

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from vault import access
from vault.core.archives import ArchivePlan
from vault.core.file_kinds import MOST_KINDS, OTHER_KINDS
from vault.core.folding import fold
from vault.core.names import file_name, without_suffix
from vault.models import Note, SyncRun, Vault, VaultMember
from vault.models.vaults import BY_NAME
from vault.problem_kinds import Kind
from vault.problems import wrong_in_all
from vault.removal import seconds_to_undo
from vault.run_rows import not_read_of
from vault.status import CurrentJob, counts_in

# A tree of more notes shows whole only the folders on the way to the open note.
LARGEST_TREE = 800
MOST_FILTERED = 200


class PageAddresses:
    """Addresses of this site's pages, for what is rendered from notes."""

    def note(self, slug: str, path: str) -> str:
        return reverse("note", args=[slug, path])

    def picture(self, slug: str, path: str) -> str:
        return reverse("vault-file", args=[slug, path])

    def tag(self, slug: str, tag: str) -> str:
        return f"{reverse('search')}?{urlencode({'q': f'tag:{tag}', 'vault': slug})}"


@dataclass(frozen=True, slots=True)
class VaultRow:
    """A vault of the list."""

    vault: Vault
    notes: int
    searchable: int
    percent: int
    last_sync: Any
    has_failed: bool
    role: str


def vault_rows(user: access.User) -> list[VaultRow]:
    """The vaults that `user` may read, by name."""
    syncs = SyncRun.objects.filter(vault=OuterRef("pk"), kind=SyncRun.Kind.SYNC)
    vaults = (
        access.visible_to(user)
        .annotate(
            last_sync=Max("sync_runs__finished", filter=Q(sync_runs__kind="sync")),
            last_state=Subquery(syncs.order_by("-started").values("state")[:1]),
        )
        # A statement that groups does not take the order of the model.
        .order_by(*BY_NAME)
    )
    counts = counts_in(access.scope_for(user))
    edited = set(access.editable_by(user).values_list("pk", flat=True))
    owned = set(access.owned_by(user).values_list("pk", flat=True))
    rows = []
    for vault in vaults:
        notes, searchable = counts.get(vault.pk, (0, 0))
        role = "owner" if vault.pk in owned else "editor" if vault.pk in edited else "reader"
        rows.append(
            VaultRow(
                vault,
                notes,
                searchable,
                percent=_percent(searchable, notes),
                last_sync=vault.last_sync,
                has_failed=vault.last_state == SyncRun.State.FAILED,
                role=role,
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class DeletedRow:
    """A vault that was deleted. `minutes` to bring it back; 0: it is being removed."""

    vault: Vault
    minutes: int


def deleted_rows(user: access.User) -> list[DeletedRow]:
    """What `user` owned and what is not removed yet, the latest first."""
    return [
        DeletedRow(vault, ceil(seconds_to_undo(vault) / 60))
        for vault in access.deleted_by(user).order_by("-deleted")
    ]


def _percent(part: int, whole: int) -> int:
    """Rounded down, so that 100 means all."""
    return part * 100 // whole if whole else 0


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A step through the tree: "open" a folder, "close" it, show a "note", or name a
    "folder" that is not shown from inside."""

    step: str
    name: str = ""
    path: str = ""
    is_open: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """The steps of a vault's tree. `hidden` notes were left out of a list that is too long."""

    rows: list[TreeRow]
    hidden: int = 0


def tree_of(notes: QuerySet[Note], *, current: str = "", contains: str = "") -> Tree:
    """Notes of a vault as a tree, or those whose path or title has `contains` as a list.

    `current` is the path of the open note, or of a folder with a slash at its end. In a
    large vault only the folders on the way to it are shown from inside.
    """
    notes = notes.exclude(status=Note.Status.EXCLUDED)
    if contains:
        found = notes.filter(Q(path__icontains=contains) | Q(title__icontains=contains))
        listed = list(found.order_by("path").values_list("path", "title")[: MOST_FILTERED + 1])
        rows = [TreeRow("note", title or path, path) for path, title in listed[:MOST_FILTERED]]
        return Tree(rows, found.count() - len(rows))
    pairs = list(notes.order_by("path").values_list("path", "title"))
    return Tree(note_tree(pairs, current=current, is_pruned=len(pairs) > LARGEST_TREE))


def note_tree(
    notes: Iterable[tuple[str, str]], *, current: str = "", is_pruned: bool = False
) -> list[TreeRow]:
    """Notes (path, title) as nested folders, told as steps in order: folders first.

    `is_pruned` leaves out what is in folders that are not on the way to `current`.
    """
    root: dict[str, Any] = {}
    for path, title in notes:
        folder = root
        for part in path.split("/")[:-1]:
            folder = folder.setdefault(part + "/", {})
        folder[file_name(path)] = (path, title)
    return list(_steps(root, current, is_pruned=is_pruned))


def _steps(root: dict[str, Any], current: str, *, is_pruned: bool) -> Iterator[TreeRow]:
    """Without recursion: folders may be a hundred deep."""
    stack = [_children(root, "")]
    while stack:
        name, child, path = next(stack[-1], ("", None, ""))
        if child is None:
            stack.pop()
            if stack:
                yield TreeRow("close")
        elif isinstance(child, tuple):
            path, title = child
            # Titles of source files are their paths: inside a folder the name is enough.
            shown = name if title == path else title or without_suffix(name)
            yield TreeRow("note", shown, path)
        else:
            is_open = current.startswith(path)
            step = "folder" if is_pruned and not is_open else "open"
            yield TreeRow(step, name.rstrip("/"), path, is_open, _count(child))
            if step == "open":
                stack.append(_children(child, path))


def _children(folder: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any, str]]:
    """(name, subfolder or note, path), folders first, by name."""
    for name in sorted(folder, key=lambda name: (not name.endswith("/"), fold(name), name)):
        yield name, folder[name], prefix + name


def _count(folder: dict[str, Any]) -> int:
    total, stack = 0, [folder]
    while stack:
        for child in stack.pop().values():
            if isinstance(child, dict):
                stack.append(child)
            else:
                total += 1
    return total


def ask_url(note: Note) -> str:
    """The chat, with the vault of `note` chosen and a question about it begun."""
    text = _("About “%(title)s”: ") % {"title": note.title}
    return f"{reverse('home')}?{urlencode({'vault': note.vault.slug, 'text': text})}"


def crumbs_of(note: Note) -> list[str]:
    """The folders of a note."""
    return note.path.split("/")[:-1]


def job_words(job: CurrentJob) -> str:
    """What a job does, how fast, and how long it will take."""
    stages = {
        "scan": _("Looking through the folder"),
        "hash": _("Looking for changes"),
        "notes": _("Reading notes"),
        "links": _("Following links"),
        "index": _("Building the index of vectors"),
    }
    kinds = {
        "sync": _("Syncing"),
        "rescrub": _("Looking for secrets in what is stored"),
        "embed": _("Making notes searchable by meaning"),
        "enrich": _("Writing context lines"),
        "switch": _("Changing over to the new embedding model"),
        "try_switch": _("Asking the golden questions of both models"),
        "try_sizes": _("Trying other sizes of passages"),
        "cleanup": _("Deleting vectors that nobody uses"),
        "vector_index": _("Looking after the index of vectors"),
        "check": _("Checking the index"),
        "remove": _("Removing the vault"),
    }
    words = [stages.get(job.stage) or kinds.get(job.kind, job.kind)]
    if job.state == "queued":
        words = [_("Waiting for the worker: %(what)s") % {"what": words[0].lower()}]
    if job.total:
        words.append(_("%(done)d of %(total)d") % {"done": job.done, "total": job.total})
    if job.per_second:
        words.append(_("%(rate).1f a second") % {"rate": job.per_second})
    if job.seconds_left is not None:
        words.append(_("%(time)s left") % {"time": _duration(job.seconds_left)})
    return " · ".join(words)


def _duration(seconds: int) -> str:
    if seconds < 90:
        return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}
    minutes = round(timedelta(seconds=seconds).total_seconds() / 60)
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}


def run_words(counts: dict[str, Any]) -> str:
    """What a run changed, or a check found: `3 new, 1 changed`."""
    names = (
        ("created", _("%(n)d new")),
        ("updated", _("%(n)d changed")),
        ("moved", _("%(n)d moved")),
        ("deleted", _("%(n)d deleted")),
        ("failed", _("%(n)d failed")),
        ("differ", _("%(n)d read anew")),
        ("hashes", _("%(n)d passages corrected")),
        ("vectors", _("%(n)d vectors missing")),
        ("note_vectors", _("%(n)d vectors of notes made anew")),
        ("orphans", _("%(n)d unused vectors")),
        ("secrets", _("%(n)d secrets taken out")),
    )
    parts = [text % {"n": counts[name]} for name, text in names if counts.get(name)]
    if "checked" in counts:
        return ": ".join((_("Check"), ", ".join(parts) or _("nothing was wrong")))
    return ", ".join(parts) or _("nothing changed")


def not_read_words(run: SyncRun, *, most: int = MOST_KINDS) -> str:
    """Files of kinds that the run did not read: `12 .rst, 3 .docx, 4 others`; empty for none."""
    return _kinds_in_words(not_read_of(run), most=most)


def _kinds_in_words(found: dict[str, int], *, most: int) -> str:
    others = found.pop(OTHER_KINDS, 0) + sum([*found.values()][most:])
    parts = [f"{count:,} {suffix}" for suffix, count in [*found.items()][:most]]
    if others:
        words = (
            ngettext("%(n)s other", "%(n)s others", others)
            if parts
            else ngettext("%(n)s file of another kind", "%(n)s files of other kinds", others)
        )
        parts.append(words % {"n": f"{others:,}"})
    return ", ".join(parts)


def archive_words(plan: ArchivePlan) -> str:
    """What was taken out of an archive, and what was not."""
    count = len(plan.files)
    words = ngettext(
        "%(count)d file was unpacked and is being read.",
        "%(count)d files were unpacked and are being read.",
        count,
    ) % {"count": count}
    if plan.left_out:
        left_out = ngettext(
            "%(count)d file was left out.", "%(count)d files were left out.", plan.left_out
        )
        words = f"{words} {left_out % {'count': plan.left_out}}"
    if kinds := _kinds_in_words(dict(plan.not_read), most=MOST_KINDS):
        words = f"{words} {_('Of kinds that are not read: %(kinds)s.') % {'kinds': kinds}}"
    return words


@dataclass(frozen=True, slots=True)
class KindChip:
    """A kind of problem to choose; `count` is None where it is not known."""

    label: str
    count: int | None
    url: str
    is_chosen: bool


def kind_chips(
    counts: dict[Kind, int | None], chosen: Kind | None, url: Callable[[Kind | None], str]
) -> list[KindChip]:
    """Everything that is wrong, then each kind that there is some of, or that is chosen."""
    labels = {
        Kind.FAILED: _("Failed"),
        Kind.UNREAD: _("Not read"),
        Kind.SETTINGS: _("Settings files"),
        Kind.TOO_LARGE: _("Too large"),
        Kind.EXCLUDED: _("Not text"),
        Kind.REFUSED: _("Not by meaning"),
        Kind.NO_CONTEXT: _("No context"),
        Kind.SUSPICIOUS: _("Suspicious"),
        Kind.WARNINGS: _("Warnings"),
        Kind.WAITING: _("Waiting"),
        Kind.EMPTY: _("Empty"),
        Kind.SECRETS: _("Secrets"),
    }
    everything = KindChip(_("All problems"), wrong_in_all(counts), url(None), chosen is None)
    kinds = [kind for kind in Kind if counts[kind] != 0 or kind is chosen]
    return [
        everything,
        *(KindChip(labels[kind], counts[kind], url(kind), kind is chosen) for kind in kinds),
    ]


def run_facts(run: SyncRun) -> list[tuple[str, str]]:
    """What a reading of a vault did, in numbers."""
    counts = run.counts
    names = (
        (_("Files found"), "files"),
        (_("New notes"), "created"),
        (_("Changed notes"), "updated"),
        (_("Moved notes"), "moved"),
        (_("Deleted notes"), "deleted"),
        (_("Read again"), "again"),
        (_("Passages written"), "chunks"),
        (_("Being written just then"), "busy"),
        (_("Left for the next run"), "left"),
    )
    facts = [(label, f"{counts[name]:,}") for label, name in names if counts.get(name)]
    if run.finished is not None:
        seconds = (run.finished - run.started).total_seconds()
        facts.append((_("Time"), _("%(n).1f s") % {"n": seconds}))
    return facts


def member_rows(vault: Vault) -> list[tuple[VaultMember, str, str, str]]:
    """Members with their names, and the folders they may read, and may not, as lines."""
    return [
        (row, name_of(row), "\n".join(row.only_folders), "\n".join(row.hidden_folders))
        for row in members_of(vault)
    ]


def members_of(vault: Vault) -> Sequence[VaultMember]:
    """Members by role, owners first, then by name."""
    order = {role: place for place, role in enumerate(reversed(access.READERS))}
    rows = VaultMember.objects.filter(vault=vault).select_related("user", "group")
    return sorted(rows, key=lambda row: (order[VaultMember.Role(row.role)], name_of(row)))


def name_of(member: VaultMember) -> str:
    """The e-mail of a person, or the name of a group."""
    if member.user is not None:
        return member.user.email or member.user.get_username()
    return member.group.name if member.group else ""
