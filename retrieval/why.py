"""Why a query does not find a note, or finds it late: arm by arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from retrieval.arms import search_queries
from retrieval.core.query import ParsedQuery, clean, parse_query
from retrieval.core.types import Candidate, Hit, Mode
from retrieval.database import in_database
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.filters import list_notes
from retrieval.options import site_knobs
from retrieval.search import MOST_RESULTS, reading_notices, search_notes
from vault.access import notes_in, scope_for
from vault.core.golden_notes import is_golden_note
from vault.core.names import lookup_key
from vault.core.types import Scope
from vault.models import Chunk, Note, SyncRun, Vault
from vault.presence import presence_of
from vault.staleness import pending_chunks, refused_by

# Passages that each arm is asked for: five times what a search looks at.
DEPTH = 250
_MOST_FILTERED = 20_000
# Beyond the first page of results a note is as good as not found.
_FIRST_PAGE = 20


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that was looked at. `state` is "good", "bad" or "unsure"."""

    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Why:
    """What was found out; `rank` is the note's place in a search, from 1."""

    note: Note | None
    rank: int | None
    reasons: tuple[Reason, ...]


async def why_not_found(vault: Vault, name: str, query: str, *, scope: Scope) -> Why:
    """Look for the note called `name` (path, title or alias) of `vault` as `query` does.

    `scope` is that vault alone, for somebody who may read it.
    """
    note = await in_database(_find_note, scope, name)
    if note is None:
        return Why(None, None, tuple(await in_database(_why_unread, vault, name, scope)))
    reasons = list(await in_database(_about_note, vault, note))
    if not clean(query):
        return Why(note, None, (*reasons, Reason("unsure", _("Nothing was asked."))))
    parsed = parse_query(query, operators=True)
    if parsed.is_exclusions_alone:
        said = _("The query says only what is not to be found.")
        return Why(note, None, (*reasons, Reason("unsure", said)))
    reasons += [Reason("unsure", notice) for notice in reading_notices(parsed)]
    if parsed.filters and not is_golden_note(note.path, note.properties):
        reasons.append(await in_database(_about_filters, parsed, note, scope))
    if not parsed.is_filters_alone:
        facts = await in_database(scope_facts, scope)
        reasons += [await _in_arm(mode, parsed, note, facts, scope) for mode in _ARMS]
    found = await search_notes(query, scope=scope, mode=Mode.HYBRID, limit=MOST_RESULTS)
    rank = next((number for number, hit in enumerate(found.hits, 1) if _shows(hit, note)), None)
    reasons += _copied(rank, note, found.hits)
    reasons += _outranked(rank, [hit.title for hit in found.hits if hit.note_id != note.pk])
    return Why(note, rank, tuple(reasons))


async def why_not_for(person: User, vault: Vault, name: str, query: str, *, scope: Scope) -> Why:
    """As why_not_found, for another member: their rights first, then their search.

    `scope` is that vault for whoever asks on their behalf, its owner.
    """
    note = await in_database(_find_note, scope, name)
    theirs = await in_database(scope_for, person, [vault.slug])
    if note is None:
        return await why_not_found(vault, name, query, scope=scope)
    who = person.get_username()
    if not theirs:
        text = _("%(who)s is no member of this vault, or not active.") % {"who": who}
        return Why(note, None, (Reason("bad", text),))
    if not theirs.opens(vault.pk, note.path):
        text = _("The membership of %(who)s does not open the folder of this note.") % {"who": who}
        return Why(note, None, (Reason("bad", text),))
    found = await why_not_found(vault, note.path, query, scope=theirs)
    text = _("%(who)s may read it.") % {"who": who}
    return replace(found, reasons=(Reason("good", text), *found.reasons))


def _shows(hit: Hit, note: Note) -> bool:
    return note.pk in (hit.note_id, *(copy.note_id for copy in hit.also_in))


def _copied(rank: int | None, note: Note, hits: Sequence[Hit]) -> Iterator[Reason]:
    """That another note says the same, and stands for it among the results."""
    if rank is not None and hits[rank - 1].note_id != note.pk:
        text = _("“%(path)s” says the same: one result shows both, with this one as “also in”.")
        yield Reason("good", text % {"path": hits[rank - 1].path})


def _outranked(rank: int | None, others: Sequence[str]) -> Iterator[Reason]:
    """What comes first, when the note does not."""
    before = others if rank is None else others[: rank - 1]
    if not before or (rank is not None and rank <= _FIRST_PAGE):
        return
    shown = ", ".join(before[:3])
    text = ngettext(
        "%(count)d other note comes first: %(shown)s.",
        "%(count)d other notes come first, such as %(shown)s.",
        len(before),
    )
    yield Reason("bad", text % {"count": len(before), "shown": shown})


_ARMS = (Mode.KEYWORD, Mode.SEMANTIC)


def _find_note(scope: Scope, name: str) -> Note | None:
    notes = notes_in(scope).defer("body")
    by_path = notes.filter(path=name.strip()).first()
    return by_path or notes.filter(lookup_keys__contains=[lookup_key(name)]).first()


def _why_unread(vault: Vault, name: str, scope: Scope) -> list[Reason]:
    reasons = [Reason("bad", _("No note of this vault has this path, title or alias."))]
    run = SyncRun.objects.filter(vault=vault, kind=SyncRun.Kind.SYNC).first()
    if run is None:
        reasons.append(Reason("bad", _("The vault was not read yet.")))
    wanted = name.strip().casefold()
    reasons += [
        Reason("bad", f"{warning['path']}: {warning['reason']}")
        for warning in (run.warnings if run else ())
        if wanted and wanted in str(warning["path"]).casefold()
        if scope.opens(vault.pk, str(warning["path"]))
    ]
    if scope.opens(vault.pk, name.strip()):
        reasons += _about_file(vault, name.strip())
    if len(reasons) == 1:
        question = _("Is the file in the vault's folder, of a kind that is read, and not ignored?")
        reasons.append(Reason("unsure", question))
    return reasons


def _about_file(vault: Vault, path: str) -> Iterator[Reason]:
    """What the vault's folder says of a file that is no note."""
    found = presence_of(vault, path)
    if found.state == "ignored":
        text = _("The file is there, and the rule “%(rule)s” leaves it out.")
        yield Reason("bad", text % {"rule": found.rule})
    elif found.state == "other":
        yield Reason("bad", _("The file is there, but of no kind that is read."))
    elif found.state == "read":
        yield Reason("bad", _("The file is there and not read yet: sync the vault."))
    elif found.state == "gone":
        yield Reason("unsure", _("There is no file of this path in the vault's folder."))


def _about_age(vault: Vault, note: Note) -> Iterator[Reason]:
    """Whether what is searched is what the file says now."""
    found = presence_of(vault, note.path)
    if found.state in {"gone", "ignored"}:
        yield Reason("bad", _("Its file is gone or left out now: the next sync takes it away."))
    elif found.file is not None and (
        found.file.size != note.size or found.file.modified > note.file_modified
    ):
        yield Reason("bad", _("Its file changed since it was read: search knows the older text."))


def _about_note(vault: Vault, note: Note) -> list[Reason]:
    """What does not depend on the query."""
    reasons: list[Reason] = []
    if vault.state == Vault.State.PAUSED:
        reasons.append(Reason("unsure", _("The vault is paused: changes are not read.")))
    reasons += _about_age(vault, note)
    chunks = Chunk.objects.filter(note=note)
    count = chunks.count()
    if note.status != Note.Status.INDEXED or not count:
        why = note.reason or _no_text(note)
        return [*reasons, Reason("bad", _("The note is not searchable: %s") % why)]
    text = ngettext("It is searchable, as %d passage.", "It is searchable, as %d passages.", count)
    reasons.append(Reason("good", text % count))
    model = vault.embedding_model
    if model is None:
        return [*reasons, Reason("unsure", _("The vault has no embedding model: keywords only."))]
    waiting = pending_chunks(vault.pk, model).filter(note=note).count()
    if waiting:
        text = _("%d of its passages wait to be made searchable by meaning.")
        reasons.append(Reason("bad", text % waiting))
    refused = chunks.filter(refused_by(model)).first()
    if refused is not None:
        text = _("A passage could not be made searchable by meaning: %s")
        reasons.append(Reason("bad", text % refused.embed_failed))
    return reasons


def _no_text(note: Note) -> str:
    if is_golden_note(note.path, note.properties):
        return _("It holds golden questions, which are read but never searched.")
    return _("It has no text that could be found.")


def _about_filters(query: ParsedQuery, note: Note, scope: Scope) -> Reason:
    passed = {note_id for note_id, _chunk in list_notes(query, scope=scope, limit=_MOST_FILTERED)}
    if note.pk in passed:
        return Reason("good", _("The filters of the query let it through."))
    return Reason("bad", _("The filters of the query leave it out."))


async def _in_arm(
    mode: Mode, query: ParsedQuery, note: Note, facts: ScopeFacts, scope: Scope
) -> Reason:
    """The rank of the note's best passage in one arm."""
    knobs = replace(await in_database(site_knobs), mode=mode, depth=DEPTH)
    found = await search_queries([query], scope=scope, facts=facts, knobs=knobs)
    name = _("Keywords") if mode is Mode.KEYWORD else _("Meaning")
    arm = found.arms[0 if mode is Mode.KEYWORD else 1]
    if not arm.ran:
        return Reason("unsure", f"{name}: {arm.reason}")
    ranks = list(_ranks(mode, found.lists[0], note.pk))
    if ranks:
        values = {"arm": name, "rank": min(ranks), "all": arm.found}
        return Reason("good", _("%(arm)s: passage %(rank)d of %(all)d.") % values)
    if mode is Mode.KEYWORD:
        return Reason("bad", _("Keywords: no passage of it holds the words that were asked for."))
    values = {"depth": DEPTH}
    return Reason(
        "bad", _("Meaning: none of its passages is among the %(depth)d nearest.") % values
    )


def _ranks(mode: Mode, candidates: Iterable[Candidate], note_id: int) -> Iterator[int]:
    for candidate in candidates:
        rank = candidate.lexical_rank if mode is Mode.KEYWORD else candidate.vector_rank
        if candidate.note_id == note_id and rank is not None:
            yield rank
