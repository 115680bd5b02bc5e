"""What a scope holds, as far as a search must know it before it can be written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db import connection
from django.utils.translation import gettext as _

from providers.models import EmbeddingModel
from vault.core.types import Scope
from vault.models import Vault
from vault.staleness import fingerprint

# Up to here an exact scan of the scope costs 3 to 4 ms on one core (halfvec, 384
# dimensions) and misses nothing; a filtered HNSW scan of a small scope is slower and finds
# 17 to 80 % of what it should. Measured at 150,000 chunks in all.
EXACT_UP_TO = 10_000
# Counting further than EXACT_UP_TO changes no decision. Each vault gets its share of the
# counting, but at least this many chunks.
_LEAST_COUNTED = 500


@dataclass(frozen=True, slots=True)
class VaultFacts:
    """A vault of the scope. `chunks` and `vectors` are counted up to a limit."""

    vault_id: int
    slug: str
    name: str
    model: EmbeddingModel | None
    chunks: int
    vectors: int


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """The vaults, the text configurations present, and how vectors are stored.

    `is_small`: everything was counted and exact search is the cheaper way.
    """

    vaults: tuple[VaultFacts, ...]
    text_configs: tuple[str, ...]
    has_halfvec: bool
    has_trigrams: bool
    is_small: bool

    @property
    def chunks(self) -> int:
        """Chunks counted in the scope."""
        return sum(vault.chunks for vault in self.vaults)

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
        """What search by meaning cannot see here, one sentence a vault."""
        return tuple(sentence for vault in self.vaults if (sentence := _gap(vault)))


def scope_facts(scope: Scope) -> ScopeFacts:
    """Look at what `scope` holds: two queries, counting at most EXACT_UP_TO rows or so."""
    vaults = Vault.objects.filter(pk__in=scope.vault_ids).select_related(
        "embedding_model__provider"
    )
    rows = list(vaults.order_by("pk"))
    limit = max(_LEAST_COUNTED, EXACT_UP_TO // max(1, len(rows)))
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNTS,
            {
                "vaults": [vault.pk for vault in rows],
                "models": [vault.embedding_model_id or 0 for vault in rows],
                "spaces": [
                    fingerprint(vault.embedding_model) if vault.embedding_model else ""
                    for vault in rows
                ],
                "limit": limit,
            },
        )
        counted = {row[0]: row[1:] for row in cursor.fetchall()}
    facts = tuple(
        VaultFacts(
            vault.pk,
            vault.slug,
            vault.name,
            vault.embedding_model,
            counted[vault.pk][1],
            counted[vault.pk][2],
        )
        for vault in rows
    )
    is_small = all(vault.chunks < limit for vault in facts)
    return ScopeFacts(
        vaults=facts,
        text_configs=_text_configs(counted, include_all=not is_small),
        has_halfvec=any(columns[3] == "halfvec" for columns in counted.values()),
        has_trigrams=any(columns[4] for columns in counted.values()),
        is_small=is_small,
    )


# For each vault: text configurations, chunks, vectors of its model as it is now, type of the
# column.
_COUNTS = """
SELECT v.id, counted.configs, counted.chunks, vectors.found, stored.kind,
    EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')
FROM unnest(%(vaults)s::bigint[], %(models)s::bigint[], %(spaces)s::text[])
    AS v(id, model_id, space)
CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT seen.text_config::text) AS configs, count(*) AS chunks
    FROM (SELECT text_config FROM vault_chunk WHERE vault_id = v.id LIMIT %(limit)s) AS seen
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) AS found FROM (
        SELECT 1 FROM vault_chunkvector
        WHERE embedding_model_id = v.model_id AND vault_id = v.id AND fingerprint = v.space
        LIMIT %(limit)s
    ) AS seen
) AS vectors
CROSS JOIN (
    SELECT format_type(atttypid, NULL) AS kind FROM pg_attribute
    WHERE attrelid = 'vault_chunkvector'::regclass AND attname = 'vector'
) AS stored
"""

_ALL_CONFIGS = "SELECT DISTINCT text_config FROM vault_lexicalcorpus WHERE vault_id = ANY(%s)"


def _text_configs(
    counted: dict[int, tuple[list[str] | None, int, int, str, bool]], *, include_all: bool
) -> tuple[str, ...]:
    """Configurations seen; in a scope too large to count, those of the word counts too."""
    found = {config for columns in counted.values() for config in columns[0] or ()}
    if include_all:
        with connection.cursor() as cursor:
            cursor.execute(_ALL_CONFIGS, [list(counted)])
            found |= {config for (config,) in cursor.fetchall()}
    return tuple(sorted(found))


def _gap(vault: VaultFacts) -> str:
    names = {"vault": vault.name}
    if not vault.chunks:
        return _("%(vault)s holds no searchable text yet.") % names
    if vault.model is None:
        return _("%(vault)s is searched by keyword only: it has no embedding model.") % names
    if not vault.vectors:
        return _("%(vault)s has no vectors yet: it is searched by keyword only.") % names
    if vault.vectors < vault.chunks:
        return _("Some of %(vault)s has no vectors yet: that is found by keyword only.") % names
    return ""
