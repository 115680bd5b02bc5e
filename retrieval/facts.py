"""What a scope holds, as far as a search must know it before it can be written."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from providers.models import EmbeddingModel
from retrieval.core.types import EF_SEARCH, MOST_EF_SEARCH
from retrieval.database import keeping_cursor
from retrieval.serving import Known, as_known, known_models, learn
from vault.core.types import Scope

# The cost rule, in rows of an exact scan. An exact scan of a scope reads every vector of it and
# misses nothing. An index scan looks at a number of rows (`index_width`), and where the scope is
# a part of what the index holds, at so many that the wanted ones are among them; it misses some.
# One row by a large index costs as much as 72 of an exact scan (halfvec, 384 dimensions); for
# missing nothing twice that is paid. A small index lies in the caches and misses next to nothing:
# of 10,000 vectors a row costs as much as 18, and half as much again is paid. Measured by
# benchmarks/retrieval_speed.py, scopes of 2,000 to 200,000 passages.
ROWS_A_VISIT, _CACHED = 2 * 72, 0.7
# Vectors in an index up to which `ef_search` finds what it should; in a larger one it must look
# at as many times more: of 200,000 vectors 400 find 0.955, 800 all. In a smaller one less will do,
# down to this share: of 10,000 vectors 200 find 0.995, 300 all.
_LARGE_INDEX, _LEAST_WIDTH = 100_000, 0.75
# From here on whole notes find what an index misses (retrieval/near_notes.py).
_MISSING_INDEX = 25_000
# Up to so many passages all vectors are compared even where signs are kept: signs and what they
# bring take 20 ms, as long as 30,000 vectors, and for missing nothing twice that is paid.
_EXACT_BESIDE_SIGNS = 60_000
# What the vector arm hands over at least.
_WANTED = 50
# Counting rows costs a microsecond for ten. Each vault gets its share of the counting, but at
# least so many; beyond it, the number of the last count of words is taken.
_COUNTED, _LEAST_COUNTED = 10_000, 500
# A plan that was made when the database knew of fewer passages would be kept while they come.
_KNOWN = 1_000
# A readable scope of at most one in so many of all passages is a sliver: the index of words would
# bring some ten times as many rows of others as it has itself. Of 150,000 passages 7,500 are
# searched as fast either way, of 200,000 passages 2,000 in 11 ms in place of 29.
_SLIVER = 25
# Up to here all text can be read for what stands in it as typed.
_READABLE = 10_000


def index_width(chunks: int, *, indexed: int) -> float:
    """How many times `ef_search` an index scan must look at, of an index that holds `indexed`
    vectors, to find the nearest of a scope of `chunks`.

    Of what it looks at only the share of the scope counts, and in a large index the way to the
    nearest is easier to miss.
    """
    share = min(1.0, max(1, chunks) / max(1, indexed))
    size = indexed / _LARGE_INDEX
    return max(size, _LEAST_WIDTH + (1 - _LEAST_WIDTH) * size) / share


def is_cheaper_exactly(chunks: int, *, indexed: int) -> bool:
    """Whether a scope of `chunks` passages is compared one by one rather than by an index
    that holds `indexed` vectors of it and of others."""
    if not indexed:
        return is_bearable_exactly(chunks, indexed=indexed)
    size = min(1.0, max(chunks, indexed) / _LARGE_INDEX)
    return chunks <= ROWS_A_VISIT * math.pow(size, _CACHED) * _looked_at(chunks, indexed)


def is_bearable_exactly(chunks: int, *, indexed: int) -> bool:
    """Whether it may be, where the index would have to pass much over: it costs no more than
    by a large index."""
    return chunks <= ROWS_A_VISIT * max(EF_SEARCH, _looked_at(chunks, indexed))


def _looked_at(chunks: int, indexed: int) -> float:
    """Rows that an index scan looks at."""
    width = min(MOST_EF_SEARCH, EF_SEARCH * index_width(chunks, indexed=indexed))
    return max(width, _WANTED * indexed / max(1, chunks))


class Lack(Enum):
    """What keeps a vault, or a part of it, from search by meaning; told in this order."""

    TEXT = auto()
    MODEL = auto()
    VECTORS = auto()
    SOME_VECTORS = auto()


@dataclass(frozen=True, slots=True)
class VaultFacts:
    """A vault of the scope. `chunks`, `vectors` and `code` are counted up to a limit.

    `code`: chunks of source code. `size` is the number of all chunks beyond it too, as the last
    count of words knew it; None where that was never counted. `is_embedding`: more than was
    counted, and some of it waits for a vector.
    """

    vault_id: int
    slug: str
    name: str
    model: EmbeddingModel | None
    chunks: int
    vectors: int
    size: int | None
    code: int = 0
    is_embedding: bool = False


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """The vaults, the text configurations present, and how vectors are stored.

    `is_small`: exact search is the cheaper way (`is_cheaper_exactly`); `is_bearable`: it may be
    chosen. `width`: how many times `ef_search` the index looks at where it is not, `is_missing`:
    that may miss what whole notes find. `is_most`: the scope is at least half of all there is, as
    far as the database knows, so that a plan made for any scope is its best one. `is_sliver`: it
    is so small a part of all that its own rows are read, by no index over all vaults. `is_large`:
    it is worth comparing all passages by the signs of their vectors, since the index misses more
    of the nearest the more it holds, and comparing whole vectors takes longer.
    """

    vaults: tuple[VaultFacts, ...]
    text_configs: tuple[str, ...]
    has_halfvec: bool
    has_trigrams: bool
    is_small: bool
    width: float = 1.0
    is_most: bool = False
    is_sliver: bool = False
    is_large: bool = False
    is_bearable: bool = False
    is_missing: bool = False

    def narrowed(self, *, narrows: bool) -> ScopeFacts:
        """For a question that narrows what may be found, or not: an index passes over what may
        not, so that comparing each is the better way wherever it is bearable."""
        return replace(self, is_small=True) if narrows and self.is_bearable else self

    @property
    def chunks(self) -> int:
        """Chunks of the scope, as far as is known."""
        return sum(max(vault.chunks, vault.size or 0) for vault in self.vaults)

    @property
    def code(self) -> int:
        """Chunks of source code, counted up to a limit a vault."""
        return sum(vault.code for vault in self.vaults)

    @property
    def is_readable(self) -> bool:
        """Whether reading all its text for one search is bearable."""
        return self.is_bearable and self.chunks <= _READABLE

    @property
    def models(self) -> dict[EmbeddingModel, tuple[int, ...]]:
        """Embedding models that serve here, each with the ids of its vaults with vectors."""
        found: dict[EmbeddingModel, list[int]] = defaultdict(list)
        for vault in self.vaults:
            if vault.model is not None and vault.vectors:
                found[vault.model].append(vault.vault_id)
        return {model: tuple(ids) for model, ids in sorted(found.items(), key=lambda m: m[0].pk)}

    @property
    def slugs(self) -> tuple[str, ...]:
        return tuple(vault.slug for vault in self.vaults)

    def gaps(self) -> tuple[str, ...]:
        """What search by meaning cannot see here, one sentence for all vaults of one lack."""
        lacking = defaultdict(list)
        for vault in self.vaults:
            if lack := _lack(vault):
                lacking[lack].append(vault.name)
        return tuple(_gap(lack, lacking[lack]) for lack in Lack if lack in lacking)


def scope_facts(scope: Scope, serving: EmbeddingModel | None = None) -> ScopeFacts:
    """Look at what `scope` holds: one query, counting some ten thousand rows at most; three
    where a model serves that this process does not know, or not as it is now.

    `serving`: a model to be looked at in place of those that serve.
    """
    limit = max(_LEAST_COUNTED, _COUNTED // max(1, len(scope.vault_ids)))
    counted, models = _counted(scope.vault_ids, limit, serving)
    facts = tuple(
        VaultFacts(
            row.vault_id,
            row.slug,
            row.name,
            models[row.model_id].model if row.model_id else None,
            chunks=row.chunks,
            vectors=row.vectors,
            size=_size(row, limit),
            code=row.code,
            is_embedding=row.is_embedding and row.chunks >= limit,
        )
        for row in counted
    )
    sizes = [vault.size for vault in facts]
    known = [size for size in sizes if size is not None]
    is_known, size = len(known) == len(sizes), sum(known)
    indexed = max((int(row.indexed) for row in counted), default=0)
    stored = max((row.stored for row in counted), default=0)
    return ScopeFacts(
        vaults=facts,
        text_configs=tuple(sorted({name for row in counted for name in row.configs})),
        has_halfvec=any(row.kind == "halfvec" for row in counted),
        has_trigrams=any(row.has_trigrams for row in counted),
        is_small=is_known and is_cheaper_exactly(size, indexed=indexed),
        width=index_width(size, indexed=indexed) if is_known else 1.0,
        is_large=indexed > _LARGE_INDEX and size > _EXACT_BESIDE_SIGNS,
        is_most=_KNOWN <= stored <= 2 * size,
        is_sliver=is_known and size <= _READABLE and stored >= max(_KNOWN, _SLIVER * size),
        is_bearable=is_known and is_bearable_exactly(size, indexed=indexed),
        is_missing=not is_known or indexed > _MISSING_INDEX,
    )


class _Counted(NamedTuple):
    """A row of _COUNTS."""

    vault_id: int
    slug: str
    name: str
    model_id: int | None
    version: str
    configs: list[str]
    chunks: int
    vectors: int
    code: int
    last_count: int
    indexed: float
    stored: float
    kind: str
    has_trigrams: bool
    is_embedding: bool


def _counted(
    vault_ids: Sequence[int], limit: int, serving: EmbeddingModel | None
) -> tuple[list[_Counted], Mapping[int, Known]]:
    """A row for each vault, and the models that they name, as they are now."""
    while True:
        models = {serving.pk: as_known(serving)} if serving else known_models()
        rows = _look(vault_ids, limit, models, serving)
        versions = {row.model_id: row.version for row in rows if row.model_id}
        fresh = {
            pk: version
            for pk, version in versions.items()
            if not serving and (pk not in models or models[pk].version != version)
        }
        if not fresh:
            return rows, models
        learn(fresh)


def _look(
    vault_ids: Sequence[int],
    limit: int,
    models: Mapping[int, Known],
    serving: EmbeddingModel | None,
) -> list[_Counted]:
    with keeping_cursor() as cursor:
        cursor.execute(
            _COUNTS,
            {
                "vaults": list(vault_ids),
                "serving": serving.pk if serving else None,
                "models": list(models),
                "spaces": [known.space for known in models.values()],
                "indexes": [known.index for known in models.values()],
                "limit": limit,
            },
        )
        return [_Counted(*row) for row in cursor.fetchall()]


def _size(row: _Counted, limit: int) -> int | None:
    if row.chunks < limit:
        return row.chunks
    return row.last_count if row.last_count >= limit else None


# For each vault: its names, its model and the version of that (by whom its rows were written, and
# where they lie: no other state of them has the same), text configurations (each found by one
# step through their index), chunks, vectors of its model as it is known, chunks of code, chunks
# when words were last counted, vectors in the index of its model, chunks of all vaults, type of
# the column, and whether vectors of the model are being made: where more passages and vectors are
# than are counted, only that tells that some are missing. All counts read indexes alone.
_COUNTS = """
SELECT v.id, v.slug, v.name, v.model_id, v.version,
    COALESCE(present.configs, '{}'), counted.chunks, vectors.found, code.found,
    COALESCE((SELECT sum(chunks) FROM vault_lexicalcorpus WHERE vault_id = v.id), 0)::bigint,
    COALESCE((SELECT reltuples FROM pg_class WHERE oid = to_regclass(v.index)), 0),
    (SELECT reltuples FROM pg_class WHERE oid = 'vault_chunk'::regclass),
    stored.kind, EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'),
    v.stays AND EXISTS (
        SELECT 1 FROM vault_job WHERE key = 'embed:' || v.id AND state IN ('queued', 'running')
    )
FROM (
    SELECT vault.id, vault.slug, vault.name, m.id AS model_id,
        vault.next_embedding_model_id IS NULL AS stays, known.space, known.index,
        concat_ws(' ', m.xmin, m.ctid, p.xmin, p.ctid) AS version
    FROM unnest(%(vaults)s::bigint[]) AS asked(id)
    JOIN vault_vault vault ON vault.id = asked.id
    LEFT JOIN providers_embeddingmodel m
        ON m.id = COALESCE(%(serving)s::bigint, vault.embedding_model_id)
    LEFT JOIN providers_provider p ON p.id = m.provider_id
    LEFT JOIN unnest(%(models)s::bigint[], %(spaces)s::text[], %(indexes)s::text[])
        AS known(model_id, space, index) ON known.model_id = m.id
) AS v
CROSS JOIN LATERAL (
    WITH RECURSIVE step(config) AS (
        (SELECT text_config FROM vault_chunk WHERE vault_id = v.id ORDER BY text_config LIMIT 1)
        UNION ALL
        SELECT (SELECT c.text_config FROM vault_chunk c
            WHERE c.vault_id = v.id AND c.text_config > step.config
            ORDER BY c.text_config LIMIT 1)
        FROM step WHERE step.config IS NOT NULL
    )
    SELECT array_agg(config::text) FILTER (WHERE config IS NOT NULL) AS configs FROM step
) AS present
CROSS JOIN LATERAL (
    SELECT count(*) AS chunks
    FROM (SELECT 1 FROM vault_chunk WHERE vault_id = v.id LIMIT %(limit)s) AS seen
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) AS found FROM (
        SELECT 1 FROM vault_chunkvector
        WHERE embedding_model_id = v.model_id AND vault_id = v.id AND fingerprint = v.space
        LIMIT %(limit)s
    ) AS seen
) AS vectors
CROSS JOIN LATERAL (
    SELECT count(*) AS found
    FROM (SELECT 1 FROM vault_chunk WHERE vault_id = v.id AND is_code LIMIT %(limit)s) AS seen
) AS code
CROSS JOIN (
    SELECT format_type(atttypid, NULL) AS kind FROM pg_attribute
    WHERE attrelid = 'vault_chunkvector'::regclass AND attname = 'vector'
) AS stored
ORDER BY v.id
"""


def _lack(vault: VaultFacts) -> Lack | None:
    if not vault.chunks:
        return Lack.TEXT
    if vault.model is None:
        return Lack.MODEL
    if not vault.vectors:
        return Lack.VECTORS
    return Lack.SOME_VECTORS if vault.vectors < vault.chunks or vault.is_embedding else None


def _gap(lack: Lack, vaults: Sequence[str]) -> str:
    n = len(vaults)
    sentence = {
        Lack.TEXT: ngettext(
            "%(vaults)s holds no searchable text yet.",
            "%(vaults)s hold no searchable text yet.",
            n,
        ),
        Lack.MODEL: ngettext(
            "%(vaults)s is searched by keyword only: it has no embedding model.",
            "%(vaults)s are searched by keyword only: they have no embedding model.",
            n,
        ),
        Lack.VECTORS: ngettext(
            "%(vaults)s has no vectors yet: it is searched by keyword only.",
            "%(vaults)s have no vectors yet: they are searched by keyword only.",
            n,
        ),
        Lack.SOME_VECTORS: ngettext(
            "Some of %(vaults)s has no vectors yet: that is found by keyword only.",
            "Some of %(vaults)s have no vectors yet: that is found by keyword only.",
            n,
        ),
    }[lack]
    return sentence % {"vaults": get_text_list(list(vaults), _("and"))}
