"""Winners and their neighbours become passages, inside a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.core.copies import what_is_said
from retrieval.core.types import Candidate, Knobs


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk as expansion sees it. Offsets are characters of the note's body."""

    chunk_id: int
    note_id: int
    ordinal: int
    start: int
    end: int
    tokens: int
    content: str = ""
    heading_path: Sequence[str] = ()

    @property
    def said(self) -> str:
        """What it says, to be compared with what others say."""
        title = self.heading_path[0] if self.heading_path else ""
        return what_is_said(self.content, title=title, heading_path=self.heading_path)


@dataclass(slots=True)
class Group:
    """Contiguous pieces of one note that become one passage. `lead` is its best chunk.

    `host`: not found by itself, but embedded in (`is_embed`) or linked from that group.
    """

    lead: Candidate
    pieces: list[Piece] = field(default_factory=list)
    host: Group | None = None
    is_embed: bool = False

    @property
    def start(self) -> int:
        return min(piece.start for piece in self.pieces)

    @property
    def end(self) -> int:
        return max(piece.end for piece in self.pieces)

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    def touches(self, piece: Piece) -> bool:
        """Whether `piece` stands directly before or after this group in its note."""
        ordinals = [own.ordinal for own in self.pieces]
        return self.pieces[0].note_id == piece.note_id and piece.ordinal in (
            min(ordinals) - 1,
            max(ordinals) + 1,
        )


def plan_passages(
    winners: Sequence[Candidate], pieces: Mapping[int, Piece], knobs: Knobs
) -> list[Group]:
    """Groups of pieces, best first, at most `knobs.passages` and `knobs.token_budget`.

    `pieces` (by chunk id) holds the winners, which say different things, and their
    neighbours. A winner that does not fit the budget makes room for a smaller one; winners
    side by side become one passage. What is left of the budget goes to neighbours that say
    something new, best passage first.
    """
    groups = _groups_of_winners(winners, pieces, knobs)
    room = knobs.token_budget - sum(group.tokens for group in groups)
    by_place = {(piece.note_id, piece.ordinal): piece for piece in pieces.values()}
    taken = {piece.chunk_id for group in groups for piece in group.pieces}
    said = {piece.said for group in groups for piece in group.pieces} - {""}
    for group in groups:
        for neighbour in _neighbours(group, by_place, knobs.neighbours):
            if neighbour.chunk_id in taken or neighbour.tokens > room:
                continue
            if group.touches(neighbour) and neighbour.said not in said:
                group.pieces.append(neighbour)
                taken.add(neighbour.chunk_id)
                said.add(neighbour.said)
                room -= neighbour.tokens
    return _join_touching(groups)


def _groups_of_winners(
    winners: Sequence[Candidate], pieces: Mapping[int, Piece], knobs: Knobs
) -> list[Group]:
    groups: list[Group] = []
    spent = 0
    for winner in winners:
        piece = pieces.get(winner.chunk_id)
        if piece is None or _cost(piece, knobs, is_first=not groups) + spent > knobs.token_budget:
            continue
        host = next((group for group in groups if group.touches(piece)), None)
        if host is None and len(groups) == knobs.passages:
            continue
        spent += _cost(piece, knobs, is_first=not groups)
        if host is None:
            groups.append(Group(winner, [piece]))
        else:
            host.pieces.append(piece)
    return groups


def _cost(piece: Piece, knobs: Knobs, *, is_first: bool) -> int:
    """Tokens of a piece; the best one is let in even when it must be cut to the budget."""
    return min(piece.tokens, knobs.token_budget) if is_first else piece.tokens


def _neighbours(group: Group, by_place: Mapping[tuple[int, int], Piece], reach: int) -> list[Piece]:
    """Pieces before and after a group, nearest first."""
    note_id = group.pieces[0].note_id
    first = min(piece.ordinal for piece in group.pieces)
    last = max(piece.ordinal for piece in group.pieces)
    places = [
        (note_id, ordinal)
        for step in range(1, reach + 1)
        for ordinal in (last + step, first - step)
    ]
    return [by_place[place] for place in places if place in by_place]


def _join_touching(groups: Sequence[Group]) -> list[Group]:
    """Groups that neighbours brought together become one, in the better one's place."""
    joined: list[Group] = []
    for group in groups:
        host = next((other for other in joined if _are_side_by_side(other, group)), None)
        if host is None:
            joined.append(group)
        else:
            host.pieces.extend(group.pieces)
    return joined


def _are_side_by_side(one: Group, other: Group) -> bool:
    return any(one.touches(piece) for piece in other.pieces)


def fit_texts(
    texts: Sequence[str], *, budget: int, count_tokens: Callable[[str], int]
) -> list[str]:
    """The texts that fit in `budget` tokens together, in order; "" for one that does not.

    The first is cut at a space to fit, so that a question always has its best passage.
    """
    fitted: list[str] = []
    room = budget
    for text in texts:
        kept = text
        if count_tokens(text) > room:
            kept = "" if any(fitted) else _cut(text, room, count_tokens)
        fitted.append(kept)
        room -= count_tokens(kept) if kept else 0
    return fitted


def _cut(text: str, budget: int, count_tokens: Callable[[str], int]) -> str:
    """The longest beginning of `text`, whole words where it has spaces, within `budget`."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= budget else (low, middle - 1)
    space = text.rfind(" ", low // 2, low)
    return text[: space if space > 0 else low]
