"""What a scope holds, as far as a search must know it before it can be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from providers.models import EmbeddingModel
from retrieval.core.types import EF_SEARCH, MOST_EF_SEARCH
from retrieval.database import keeping_cursor
from vault.core.types import Scope
from vault.models import Vault
from vault.staleness import fingerprint
from vault.vector_index import index_name

# The cost rule, in rows of an exact scan. An exact scan of a scope reads every vector of it and
# misses nothing. An index scan looks at a number of rows (`index_width`), and where the scope is
# a part of what the index holds, at so many that the wanted ones are among them; it misses some.
# One row by the index costs as much as 72 of an exact scan (halfvec, 384 dimensions); for missing
# nothing twice that is paid. Measured by benchmarks/retrieval_speed.py, scopes of 2,000 to
# 200,000 passages.
ROWS_A_VISIT = 2 * 72
# Vectors in an index up to which `ef_search` finds what it should; in a larger one it must look
# at as many times more: of 200,000 vectors 400 find 0.955, 800 all.
_LARGE_INDEX = 100_000
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
    vectors, to find the nearest of a scope of `chunks`: 1 or more.

    Of what it looks at only the share of the scope counts, and in a large index the way to the
    nearest is easier to miss.
    """
    share = min(1.0, max(1, chunks) / max(1, indexed))
    return max(1.0, indexed / _LARGE_INDEX) / share


def is_cheaper_exactly(chunks: int, *, indexed: int) -> bool:
    """Whether a scope of `chunks` passages is compared one by one rather than by an index
    that holds `indexed` vectors of it and of others."""
    width = min(MOST_EF_SEARCH, EF_SEARCH * index_width(chunks, indexed=indexed))
    return chunks <= ROWS_A_VISIT * max(width, _WANTED * indexed / max(1, chunks))


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
    count of words knew it; None where that was never counted.
    """

    vault_id: int
    slug: str
    name: str
    model: EmbeddingModel | None
    chunks: int
    vectors: int
    size: int | None
    code: int = 0


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """The vaults, the text configurations present, and how vectors are stored.

    `is_small`: exact search is the cheaper way (`is_cheaper_exactly`). `width`: how many times
    `ef_search` the index looks at where it is not. `is_most`: the scope is at least half of all
    there is, as far as the database knows, so that a plan made for any scope is its best one.
    `is_large`: it is worth comparing all passages by the signs of their vectors, since the index
    misses more of the nearest the more it holds, and comparing whole vectors takes longer.
    `is_sliver`: it is so small a part of all that its own rows are read, by no index over all
    vaults.
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
        return self.is_small and self.chunks <= _READABLE

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
    """Look at what `scope` holds: two queries, counting some ten thousand rows at most.

    `serving`: a model to be looked at in place of those that serve.
    """
    vaults = Vault.every.filter(pk__in=scope.vault_ids).select_related("embedding_model__provider")
    rows = list(vaults.order_by("pk"))
    for vault in rows:
        vault.embedding_model = serving or vault.embedding_model
    limit = max(_LEAST_COUNTED, _COUNTED // max(1, len(rows)))
    counted = _counted(rows, limit)
    facts = tuple(
        VaultFacts(
            vault.pk,
            vault.slug,
            vault.name,
            vault.embedding_model,
            chunks=counted[vault.pk].chunks,
            vectors=counted[vault.pk].vectors,
            size=_size(counted[vault.pk], limit),
            code=counted[vault.pk].code,
        )
        for vault in rows
    )
    sizes = [vault.size for vault in facts]
    known = [size for size in sizes if size is not None]
    indexed = max((int(row.indexed) for row in counted.values()), default=0)
    stored = max((row.stored for row in counted.values()), default=0)
    return ScopeFacts(
        vaults=facts,
        text_configs=tuple(sorted({name for row in counted.values() for name in row.configs})),
        has_halfvec=any(row.kind == "halfvec" for row in counted.values()),
        has_trigrams=any(row.has_trigrams for row in counted.values()),
        is_small=len(known) == len(sizes) and is_cheaper_exactly(sum(known), indexed=indexed),
        width=index_width(sum(known), indexed=indexed) if len(known) == len(sizes) else 1.0,
        is_large=indexed > _LARGE_INDEX and sum(known) > _EXACT_BESIDE_SIGNS,
        is_most=_KNOWN <= stored <= 2 * sum(known),
        is_sliver=len(known) == len(sizes)
        and sum(known) <= _READABLE
        and stored >= max(_KNOWN, _SLIVER * sum(known)),
    )


class _Counted(NamedTuple):
    """A row of _COUNTS."""

    configs: list[str]
    chunks: int
    vectors: int
    code: int
    last_count: int
    indexed: float
    stored: float
    kind: str
    has_trigrams: bool


def _counted(vaults: Sequence[Vault], limit: int) -> dict[int, _Counted]:
    models = [vault.embedding_model for vault in vaults]
    with keeping_cursor() as cursor:
        cursor.execute(
            _COUNTS,
            {
                "vaults": [vault.pk for vault in vaults],
                "models": [model.pk if model else 0 for model in models],
                "spaces": [fingerprint(model) if model else "" for model in models],
                "indexes": [index_name(model) if model else "" for model in models],
                "limit": limit,
            },
        )
        return {row[0]: _Counted(*row[1:]) for row in cursor.fetchall()}


def _size(row: _Counted, limit: int) -> int | None:
    if row.chunks < limit:
        return row.chunks
    return row.last_count if row.last_count >= limit else None


# For each vault: text configurations (each found by one step through their index), chunks,
# vectors of its model as it is now, chunks of code, chunks when words were last counted, vectors
# in the index of its model, chunks of all vaults, type of the column. All counts read indexes
# alone.
_COUNTS = """
SELECT v.id, COALESCE(present.configs, '{}'), counted.chunks, vectors.found, code.found,
    COALESCE((SELECT sum(chunks) FROM vault_lexicalcorpus WHERE vault_id = v.id), 0)::bigint,
    COALESCE((SELECT reltuples FROM pg_class WHERE oid = to_regclass(NULLIF(v.index, ''))), 0),
    (SELECT reltuples FROM pg_class WHERE oid = 'vault_chunk'::regclass),
    stored.kind, EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')
FROM unnest(%(vaults)s::bigint[], %(models)s::bigint[], %(spaces)s::text[], %(indexes)s::text[])
    AS v(id, model_id, space, index)
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
"""


def _lack(vault: VaultFacts) -> Lack | None:
    if not vault.chunks:
        return Lack.TEXT
    if vault.model is None:
        return Lack.MODEL
    if not vault.vectors:
        return Lack.VECTORS
    return Lack.SOME_VECTORS if vault.vectors < vault.chunks else None


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
