"""How many chunks hold each word: what BM25 weighs with and typos are mended by.

Counts are approximate between refreshes; a word is known from the moment its note is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Count, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from vault.locks import Work, only_one
from vault.models import Chunk, LexemeFrequency, LexicalCorpus

# Up to this many chunks a refresh costs well under a tenth of a second (ts_stat reads
# 50,000 chunks a second): always done.
ALWAYS = 2000
# Beyond it, when the number of chunks moved by this share, or after this time.
DRIFT = 0.02
LONGEST = timedelta(hours=1)


def know_lexemes(note_ids: Sequence[int]) -> None:
    """Add the words of these notes that are not in the table yet.

    Without it, a new word would look like a typo of an old one until the next refresh.
    Call in the transaction that writes the notes.
    """
    if not note_ids:
        return
    where = f"note_id IN ({','.join(str(int(pk)) for pk in note_ids)})"
    for config in _configs(Chunk.objects.filter(note_id__in=note_ids)):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO vault_lexemefrequency (text_config, lexeme, chunks) "
                "SELECT %s, word, ndoc FROM ts_stat(%s) ORDER BY word "
                "ON CONFLICT DO NOTHING",
                [config, _vectors(config, where)],
            )
            cursor.execute(
                "INSERT INTO vault_lexicalcorpus (text_config, chunks, average_length, refreshed) "
                "SELECT %s, 1, coalesce(sum(nentry), 1), now() FROM ts_stat(%s) "
                "ON CONFLICT DO NOTHING",
                [config, _vectors(config, where)],
            )


def refresh_lexemes(*, force: bool = False) -> list[str]:
    """Count again where counts are out of date; returns the configurations refreshed."""
    with only_one(Work.LEXEMES, 0, wait=30):
        chunks = dict(_counts())
        corpora = {corpus.text_config: corpus for corpus in LexicalCorpus.objects.all()}
        stale = [
            config
            for config, count in sorted(chunks.items())
            if force or _is_stale(corpora.get(config), count)
        ]
        for config in stale:
            _refresh(config, chunks[config])
        gone = set(corpora) - set(chunks)
        with transaction.atomic():
            LexemeFrequency.objects.filter(text_config__in=gone).delete()
            LexicalCorpus.objects.filter(text_config__in=gone).delete()
        return stale


def _is_stale(corpus: LexicalCorpus | None, chunks: int) -> bool:
    if corpus is None or chunks <= ALWAYS:
        return True
    drift = abs(chunks - corpus.chunks) / chunks
    return drift > DRIFT or timezone.now() - corpus.refreshed > LONGEST


def _refresh(config: str, chunks: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE fresh_lexemes ON COMMIT DROP AS "
            "SELECT word, ndoc, nentry FROM ts_stat(%s)",
            [_vectors(config, "true")],
        )
        cursor.execute(
            "INSERT INTO vault_lexemefrequency AS old (text_config, lexeme, chunks) "
            "SELECT %s, word, ndoc FROM fresh_lexemes ORDER BY word "
            "ON CONFLICT (text_config, lexeme) DO UPDATE SET chunks = excluded.chunks "
            "WHERE old.chunks <> excluded.chunks",
            [config],
        )
        cursor.execute(
            "DELETE FROM vault_lexemefrequency AS old WHERE text_config = %s "
            "AND NOT EXISTS (SELECT FROM fresh_lexemes WHERE word = old.lexeme)",
            [config],
        )
        cursor.execute("SELECT coalesce(sum(nentry), 0) FROM fresh_lexemes")
        row = cursor.fetchone()
        cursor.execute("DROP TABLE fresh_lexemes")
    total = float(row[0]) if row else 0.0
    LexicalCorpus.objects.update_or_create(
        text_config=config, defaults={"chunks": chunks, "average_length": total / max(chunks, 1)}
    )


def _vectors(config: str, where: str) -> str:
    """The query that ts_stat reads; `config` comes from the table, `where` from here."""
    quoted = config.replace("'", "''")
    return f"SELECT tsv FROM vault_chunk WHERE text_config = '{quoted}'::regconfig AND {where}"  # noqa: S608


def _configs(chunks: object) -> list[str]:
    rows = chunks.annotate(config=Cast("text_config", TextField()))  # type: ignore[attr-defined]
    return sorted(rows.order_by().values_list("config", flat=True).distinct())


def _counts() -> list[tuple[str, int]]:
    rows = Chunk.objects.order_by().annotate(config=Cast("text_config", TextField()))
    return list(rows.values_list("config").annotate(chunks=Count("pk")))
