"""How many chunks of each vault hold each word: what BM25 weighs with and typos are mended by.

Counts are approximate between refreshes; a word is known from the moment its note is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from vault.locks import Work, only_one
from vault.models import Chunk, Lexeme, LexemeFrequency, LexicalCorpus

# Up to this many chunks a refresh costs well under a tenth of a second (ts_stat reads
# 50,000 chunks a second): always done.
ALWAYS = 2000
# Beyond it, when the number of chunks moved by this share, or after this time.
DRIFT = 0.02
LONGEST = timedelta(hours=1)

# A vault and one of its text configurations.
_Part = tuple[int, str]


def know_lexemes(note_ids: Sequence[int]) -> None:
    """Add the words of these notes that their vaults do not have in the tables yet.

    Without it, a new word would look like a typo of an old one until the next refresh.
    Call in the transaction that writes the notes.
    """
    if not note_ids:
        return
    written = Chunk.objects.filter(note_id__in=note_ids)
    notes: dict[_Part, set[int]] = defaultdict(set)
    for vault_id, config, note_id in _parts(written).values_list("vault_id", "config", "note_id"):
        notes[vault_id, config].add(note_id)
    for (vault_id, config), own in sorted(notes.items()):
        where = f"note_id IN ({','.join(str(int(pk)) for pk in sorted(own))})"
        source = _source(vault_id, config, where)
        values: dict[str, int | str] = {"vault": vault_id, "config": config, "source": source}
        with connection.cursor() as cursor:
            for statement in _KNOWN:
                cursor.execute(statement, values)
    every = ",".join(str(int(pk)) for pk in sorted(set().union(*notes.values())))
    if every:
        with connection.cursor() as cursor:
            source = f"SELECT tsv FROM vault_chunk WHERE note_id IN ({every})"  # noqa: S608
            cursor.execute(_NAMED, {"source": source})


# Words in their order and the shared table once, so that no two writers wait for each other.
_KNOWN = (
    (
        "INSERT INTO vault_lexemefrequency (vault_id, text_config, lexeme, chunks) "
        "SELECT %(vault)s, %(config)s, word, ndoc FROM ts_stat(%(source)s) ORDER BY word "
        "ON CONFLICT DO NOTHING"
    ),
    (
        "INSERT INTO vault_lexicalcorpus "
        "(vault_id, text_config, chunks, average_length, refreshed) "
        "SELECT %(vault)s, %(config)s, 1, coalesce(sum(nentry), 1), now() FROM ts_stat(%(source)s) "
        "ON CONFLICT DO NOTHING"
    ),
)
_NAMED = (
    "INSERT INTO vault_lexeme (lexeme) SELECT word FROM ts_stat(%(source)s) ORDER BY word "
    "ON CONFLICT DO NOTHING"
)


def refresh_lexemes(*, force: bool = False) -> list[tuple[int, str]]:
    """Count again where counts are out of date; returns vault id and text configuration of
    what was counted."""
    with only_one(Work.LEXEMES, 0, wait=30):
        chunks = dict(_counts())
        corpora = {
            (corpus.vault_id, corpus.text_config): corpus for corpus in LexicalCorpus.objects.all()
        }
        stale = [
            part
            for part, count in sorted(chunks.items())
            if force or _is_stale(corpora.get(part), count)
        ]
        for vault_id, config in stale:
            _refresh(vault_id, config, chunks[vault_id, config])
        for vault_id, config in set(corpora) - set(chunks):
            _forget(vault_id, config)
        _forget_words()
        return stale


def _is_stale(corpus: LexicalCorpus | None, chunks: int) -> bool:
    if corpus is None or chunks <= ALWAYS:
        return True
    drift = abs(chunks - corpus.chunks) / chunks
    return drift > DRIFT or timezone.now() - corpus.refreshed > LONGEST


def _refresh(vault_id: int, config: str, chunks: int) -> None:
    own: dict[str, int | str] = {
        "vault": vault_id,
        "config": config,
        "source": _source(vault_id, config, "true"),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE fresh_lexemes ON COMMIT DROP AS "
            "SELECT word, ndoc, nentry FROM ts_stat(%(source)s)",
            own,
        )
        cursor.execute(
            "INSERT INTO vault_lexemefrequency AS old (vault_id, text_config, lexeme, chunks) "
            "SELECT %(vault)s, %(config)s, word, ndoc FROM fresh_lexemes ORDER BY word "
            "ON CONFLICT (lexeme, vault_id, text_config) DO UPDATE SET chunks = excluded.chunks "
            "WHERE old.chunks <> excluded.chunks",
            own,
        )
        cursor.execute(
            "INSERT INTO vault_lexeme (lexeme) SELECT word FROM fresh_lexemes ORDER BY word "
            "ON CONFLICT DO NOTHING"
        )
        cursor.execute(
            "DELETE FROM vault_lexemefrequency AS old "
            "WHERE vault_id = %(vault)s AND text_config = %(config)s "
            "AND NOT EXISTS (SELECT FROM fresh_lexemes WHERE word = old.lexeme)",
            own,
        )
        cursor.execute("SELECT coalesce(sum(nentry), 0) FROM fresh_lexemes")
        row = cursor.fetchone()
        cursor.execute("DROP TABLE fresh_lexemes")
    total = float(row[0]) if row else 0.0
    LexicalCorpus.objects.update_or_create(
        vault_id=vault_id,
        text_config=config,
        defaults={"chunks": chunks, "average_length": total / max(chunks, 1)},
    )


def _forget(vault_id: int, config: str) -> None:
    """A configuration that its vault has no chunks of any more."""
    with transaction.atomic():
        LexemeFrequency.objects.filter(vault_id=vault_id, text_config=config).delete()
        LexicalCorpus.objects.filter(vault_id=vault_id, text_config=config).delete()


def _forget_words() -> None:
    """Drop words that no vault holds, those of deleted vaults included."""
    held = LexemeFrequency.objects.filter(lexeme=OuterRef("lexeme"))
    Lexeme.objects.filter(~Exists(held)).delete()


def _source(vault_id: int, config: str, where: str) -> str:
    """The query that ts_stat reads; `config` comes from the table, `where` from here."""
    quoted = config.replace("'", "''")
    return (
        f"SELECT tsv FROM vault_chunk WHERE vault_id = {int(vault_id)} "  # noqa: S608
        f"AND text_config = '{quoted}'::regconfig AND {where}"
    )


def _parts(chunks: QuerySet[Chunk]) -> Any:
    return chunks.order_by().annotate(config=Cast("text_config", TextField()))


def _counts() -> list[tuple[_Part, int]]:
    """How many chunks each part has. Read from an index alone: with the configuration as text,
    or a count of another column, every row of a table of gigabytes is read."""
    rows = Chunk.objects.order_by().values_list("vault_id", "text_config")
    return [
        ((vault_id, str(config)), chunks)
        for vault_id, config, chunks in rows.annotate(chunks=Count("*"))
    ]
