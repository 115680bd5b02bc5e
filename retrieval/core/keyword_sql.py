"""The keyword arm of the search statement: what is looked for, and BM25.

As in retrieval/core/sql.py, `{name}` is filled in with text of our own, and `%(name)s` is a
bound value. Measured figures: docs/retrieval.md.
"""

from __future__ import annotations

from dataclasses import dataclass

# BM25 as in Lucene; k1 and b of Robertson and Zaragoza (2009).
K1, B = 1.2, 0.75
# Chunks that may hold an identifier that decides a search: so many, or this share of them.
FEW, RARE_SHARE = 20, 0.005
# What a word in a title, heading or alias counts more, as a share of its idf.
HEADING = 0.5
# Candidates of the lexical arm: this share of the chunks, within these bounds. A row costs two
# to four microseconds. What it misses of exact BM25: docs/retrieval.md.
POOL_SHARE, LEAST_ROWS, MOST_ROWS = 0.05, 800, 3_000
# Of these, what words may bring alone; the others bring the rows in which two of them stand.
ALONE = 0.6
# Rows that ts_rank lets through to exact BM25, at two microseconds each.
POOL = 1_000
BEST = "ORDER BY ts_rank(tsv, (SELECT ranking FROM chosen), 1) DESC, id LIMIT {pool}"
# Rows of the rarest word alone, where words that stand together bring too few.
FILLING = 1_000
# A typo takes its nearest word from this similarity on (pg_trgm), one that differs at its end
# from the next; a single letter may make more of a short word, and is looked for down to the
# third. What one letter makes of a word is as likely as that.
NEAR, NEAR_BUT_END, NEAR_BY_A_LETTER, SLIP = 0.5, 0.7, 0.4, 0.9
# Letters of a stem that a typo can be told in.
SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Reach:
    """How many rows the lexical arm reads (`share` of the scope, from `least` to `most`), and
    which of them it ranks (`best`: SQL after the rows)."""

    share: float
    least: int
    most: int
    alone: float
    filling: int
    best: str


def reach(depth: int, *, chunks: int) -> Reach:
    """For a list of `depth` in a scope of `chunks`.

    Where that is small, words bring no more rows than are ranked anyway: choosing among them
    would cost as much as ranking all.
    """
    pool = max(POOL, int(depth))
    best = "" if POOL_SHARE * chunks <= pool else BEST.format(pool=pool)
    return Reach(POOL_SHARE, LEAST_ROWS, MOST_ROWS, ALONE, FILLING, best)


# forms: lexemes of the query under every configuration of the scope, plain (`simple`) and
#   under that of its own language (`simple` where that is uncertain), each with the place of
#   its word. The parser is the same, so places are. The same text in its other spelling gives
#   each word another form.
# words: the plain word at each place. One that the configuration of the question's language
#   drops is a stop word, whatever others make of it: `its` and `does` are no German stop words,
#   and the few German notes that hold them would outweigh the question. Where the language is
#   uncertain, one that any configuration drops.
# asked: what is looked for. Stop words count only when nothing else is left of the question:
#   made tokens of identifiers (`is_valid`) hold them too, and rarely.
# counted: document frequency in the scope, so that nothing of other vaults shows in an
#   order or a score; a lexeme that the background count has not seen yet is counted here, so
#   that search is right from the first minute.
# corpus: its average length only once it was counted; until then the pool's is taken.
# kin: the lexemes of one word (`remov`, `remove`) share its place and are as frequent as the
#   most frequent of them: the plain form alone stands in identifiers only, and would be rare.
# terms: those that exist, and the nearest word for those that do not.
ASKED = """
forms AS MATERIALIZED (
    SELECT chosen.config, parts.lexeme, place.position, said.number = 1 AS is_typed
    FROM (
        SELECT DISTINCT unnest(%(configs)s::text[] || ARRAY['simple', %(own)s::text])
    ) AS chosen(config)
    CROSS JOIN unnest(ARRAY[%(text)s, %(respelled)s]) WITH ORDINALITY AS said(text, number)
    CROSS JOIN LATERAL unnest(to_tsvector(chosen.config::regconfig, said.text)) AS parts
    CROSS JOIN LATERAL unnest(parts.positions) AS place(position)
),
words AS MATERIALIZED (
    SELECT position, min(lexeme) FILTER (WHERE config = 'simple' AND is_typed) AS word,
        CASE WHEN %(own)s <> 'simple' THEN NOT bool_or(config = %(own)s)
        ELSE count(DISTINCT config) < (
            SELECT count(DISTINCT config) FROM unnest(%(configs)s::text[] || 'simple'::text)
            AS every(config)
        ) END AS is_stop
    FROM forms GROUP BY position
),
plain AS MATERIALIZED (
    SELECT lexeme FROM forms WHERE config = 'simple'
    UNION SELECT parts.lexeme FROM unnest(to_tsvector('simple', %(made)s)) AS parts
),
meant AS MATERIALIZED (
    SELECT lexeme FROM forms JOIN words USING (position)
    WHERE config <> 'simple' AND NOT (is_stop AND %(own)s <> 'simple')
    UNION SELECT lexeme FROM plain
    WHERE lexeme NOT IN (SELECT word FROM words WHERE is_stop AND word IS NOT NULL)
),
asked AS MATERIALIZED (
    SELECT lexeme FROM meant
    UNION SELECT lexeme FROM plain WHERE NOT EXISTS (SELECT 1 FROM meant)
),
counted AS MATERIALIZED (
    SELECT asked.lexeme, ({counted})::float AS df FROM asked
),
mended AS MATERIALIZED ({mended}),
corpus AS MATERIALIZED (
    SELECT GREATEST(COALESCE(sum(chunks), 0), %(scope_chunks)s,
            (SELECT COALESCE(max(df), 0) FROM counted), 1)::float AS chunks,
        CASE WHEN sum(chunks) * 2 >= %(scope_chunks)s
            THEN sum(chunks * average_length) / NULLIF(sum(chunks), 0) END AS average_length
    FROM vault_lexicalcorpus WHERE vault_id = ANY(%(vaults)s)
),
kin AS MATERIALIZED (
    SELECT counted.lexeme, counted.df, min(forms.position) AS place,
        GREATEST(counted.df, max(other.df)) AS word_df
    FROM counted LEFT JOIN forms ON forms.lexeme = counted.lexeme
    LEFT JOIN forms AS beside ON beside.position = forms.position
    LEFT JOIN counted AS other ON other.lexeme = beside.lexeme
    WHERE counted.df > 0 GROUP BY counted.lexeme, counted.df
),
terms AS MATERIALIZED (
    SELECT lexeme, df, row_number() OVER by_df AS rarity,
        df <= GREATEST({few}, {rare_share} * corpus.chunks) AS is_rare,
        COALESCE(place, -row_number() OVER by_df) AS place,
        weight * ln(1 + (corpus.chunks - word_df + 0.5) / (word_df + 0.5)) AS idf
    FROM (
        SELECT lexeme, df, word_df, place, 1.0 AS weight FROM kin
        UNION ALL SELECT lexeme, df, df, NULL, likeness FROM mended
    ) AS present CROSS JOIN corpus WINDOW by_df AS (ORDER BY df, lexeme)
)"""

# From the counts of the vaults; where one was never counted, by looking. A vault that was
# has all its words in the table: they are added when a note is written.
COUNTED = """COALESCE(
    (SELECT sum(f.chunks) FROM vault_lexemefrequency f
     WHERE f.lexeme = asked.lexeme AND f.vault_id = ANY(%(whole_vaults)s)),
    CASE WHEN (SELECT count(DISTINCT vault_id) FROM vault_lexicalcorpus
        WHERE vault_id = ANY(%(whole_vaults)s)) >= %(filled)s THEN 0
    ELSE (SELECT count(*) FROM vault_chunk c
        WHERE c.tsv @@ {quoted}::tsquery AND c.vault_id = ANY(%(whole_vaults)s)) END)"""
# Of vaults of which somebody may read some folders alone: nothing of the others may show.
COUNTED_IN_FOLDERS = f"""({COUNTED} + (SELECT count(*) FROM vault_chunk c
    WHERE c.tsv @@ {{quoted}}::tsquery AND c.vault_id = ANY(%(part_vaults)s) AND {{chunks}}))"""  # noqa: S608
HELD_IN_FOLDERS = """EXISTS (SELECT 1 FROM vault_chunk c
    WHERE c.tsv @@ {quoted}::tsquery AND c.vault_id = ANY(%(vaults)s) AND {chunks})"""

# A word of five letters or more that nothing holds in any form takes the nearest word that
# the scope has: the vocabulary of other vaults must not show. A word of another language is no
# slip of this one: German `Notizen` is not `notice`, whose stem is `notic`.
# unknown: those words, and how each is written without one of its letters, or with two of them
#   the other way round: trigrams see little of what such a slip leaves.
# word: looked up before anything else (OFFSET 0), else all words of the scope were compared.
# alike: by trigrams, where as many letters stand in it but for one; all but the end of a long
#   word; a letter more, less or another (`slip`); in languages without a stemmer another ending.
MENDED = """
    SELECT DISTINCT ON (unknown.position) unknown.word AS typed, near.lexeme, near.df,
        near.likeness
    FROM (
        SELECT words.position, words.word, (
            SELECT array_agg(DISTINCT slip) FROM generate_series(1, length(words.word)) AS at
            CROSS JOIN LATERAL unnest(ARRAY[
                overlay(words.word PLACING '' FROM at FOR 1),
                left(words.word, at - 1) || substr(words.word, at + 1, 1)
                    || substr(words.word, at, 1) || substr(words.word, at + 2)
            ]) AS slip WHERE slip <> words.word
        ) AS slips
        FROM words JOIN forms USING (position) LEFT JOIN counted USING (lexeme)
        WHERE NOT words.is_stop AND length(words.word) >= 5
            AND words.word ~ '^[[:alpha:]]+$' AND words.word <> ALL(%(everyday)s)
        GROUP BY words.position, words.word HAVING COALESCE(max(counted.df), 0) = 0
    ) AS unknown
    CROSS JOIN LATERAL (
        SELECT word.lexeme, sum(f.chunks)::float AS df, {slip} AS likeness
        FROM (
            SELECT DISTINCT parts.lexeme FROM unnest(unknown.slips) AS slip
            CROSS JOIN (SELECT DISTINCT config FROM forms) AS chosen
            CROSS JOIN LATERAL unnest(to_tsvector(chosen.config::regconfig, slip)) AS parts
        ) AS meant
        CROSS JOIN LATERAL (
            SELECT lexeme FROM vault_lexeme WHERE vault_lexeme.lexeme = meant.lexeme OFFSET 0
        ) AS word
        JOIN vault_lexemefrequency f
            ON f.lexeme = word.lexeme AND f.vault_id = ANY(%(vaults)s)
            AND f.text_config <> ALL(%(foreign)s)
        WHERE length(word.lexeme) >= {shortest} AND {held}
        GROUP BY word.lexeme
        UNION ALL
        SELECT word.lexeme, sum(f.chunks)::float AS df,
            CASE WHEN bool_or(word.lexeme ~ form.slip) THEN {slip}
            ELSE max(similarity(word.lexeme, form.lexeme)) END AS likeness
        FROM (
            SELECT lexeme, length(lexeme) AS letters, (
                SELECT '^(' || string_agg(
                    left(lexeme, at) || '.?' || substr(lexeme, at + 2) || '|'
                    || left(lexeme, at) || '.' || substr(lexeme, at + 1), '|') || ')$'
                FROM generate_series(1, length(lexeme)) AS at
            ) AS slip
            FROM (SELECT DISTINCT lexeme FROM forms WHERE position = unknown.position) AS of_word
            WHERE length(lexeme) >= {shortest}
        ) AS form
        CROSS JOIN LATERAL (
            SELECT lexeme FROM vault_lexeme WHERE vault_lexeme.lexeme %% form.lexeme OFFSET 0
        ) AS word
        JOIN vault_lexemefrequency f
            ON f.lexeme = word.lexeme AND f.vault_id = ANY(%(vaults)s)
            AND f.text_config <> ALL(%(foreign)s)
        WHERE length(word.lexeme) >= {shortest} AND {held} AND (
            abs(length(word.lexeme) - letters) <= 1
                AND similarity(word.lexeme, form.lexeme) >= {near}
            OR abs(length(word.lexeme) - letters) <= 3
                AND similarity(word.lexeme, form.lexeme) >= {near_but_end}
            OR word.lexeme ~ form.slip
            OR f.text_config = 'simple' AND abs(length(word.lexeme) - letters) <= 2
                AND starts_with(word.lexeme, left(form.lexeme, greatest({shortest}, letters - 2)))
        )
        GROUP BY word.lexeme
        ORDER BY likeness DESC, df DESC, lexeme LIMIT 1
    ) AS near
    ORDER BY unknown.position, near.likeness DESC, near.lexeme"""

NOT_MENDED = (
    "SELECT NULL::text AS typed, NULL::text AS lexeme, 0::float AS df, 0::float AS likeness "
    "WHERE FALSE"
)

# ordered: by rarity, whether a word brings its rows alone: the rarer ones, as long as these are
#   few; and how many rows hold every word up to here (`all`), if words knew nothing of each
#   other.
# beside, paired: every other word beside one of those that are rarer, as long as the rows that
#   hold two of them are few too. A passage that holds but one frequent word is among the best of
#   few questions; one that holds two of them is among those of many.
# chosen: what the candidates must hold. Where no two words stand together in few rows, the
#   rarest and the next ones with it.
# pool: these, or the best of them by ts_rank, no more rows than that, in the order they lie in.
#   Where words that stand together bring few, the first rows of the rarest fill up. `{by_row}`
#   hides the index of words where the scope is a sliver of what that holds. A vector that lies
#   packed outside of its row would be fetched again by each call; setweight() of no word at all
#   is the cheapest copy.
# sized: ts_rank of a single word is the sum of 1/n^2 up to its frequency, over pi^2/6:
#   that gives the frequency back, exactly, up to the 255 positions that a tsvector keeps.
#   Divided by the length of the vector (2) it gives the length. Both cost a tenth of unnest();
#   OFFSET 0 has each asked once.
# named: sections whose heading is a name that is asked for; less where only another case is.
# scored: the pool by exact BM25, of a word the best of its lexemes; one in a title, heading or
#   alias counts HEADING more. Sections that are meant by their name stay in it.
# trust: best score over what a passage with every word of the question once would have, a word
#   that is typed over and over counted once; 1
#   for questions with identifiers, whose parts no single passage needs to hold.
LEXICAL = """
bounds AS MATERIALIZED (
    SELECT corpus.chunks, min(terms.df) AS least,
        LEAST({most}, GREATEST({least}, {share} * corpus.chunks)) AS most
    FROM corpus CROSS JOIN terms GROUP BY corpus.chunks
),
ordered AS MATERIALIZED (
    SELECT {quoted_lexeme} AS word, rarity, df, df / chunks AS share, least, most,
        {every} OR df <= most AND (rarity = 1 OR sum(df) OVER so_far <= {alone} * most
            OR sum(df) OVER () <= most) AS is_alone,
        chunks * exp(sum(ln(LEAST(1, df / chunks))) OVER so_far) AS all_rows
    FROM terms CROSS JOIN bounds WINDOW so_far AS (ORDER BY rarity)
),
beside AS MATERIALIZED (
    SELECT word, rarity, string_agg(word, ' | ') OVER rarer AS others,
        df * sum(share) OVER rarer AS pair_rows
    FROM ordered WHERE NOT is_alone
    WINDOW rarer AS (ORDER BY rarity ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
picked AS MATERIALIZED (
    SELECT bool_or(least > most) AS is_narrow,
        min(word) FILTER (WHERE rarity = 1) AS rarest,
        string_agg(word, ' | ') AS words,
        string_agg(word, ' | ') FILTER (WHERE is_alone) AS alone,
        string_agg(word, ' & ') FILTER (WHERE rarity > 1 AND all_rows / share > most) AS next,
        min(most) - COALESCE(sum(df) FILTER (WHERE is_alone), 0) AS room
    FROM ordered
),
paired AS MATERIALIZED (
    SELECT string_agg(word || ' & (' || others || ')', ' | ') AS pairs
    FROM (
        SELECT word, others, sum(pair_rows) OVER (ORDER BY rarity) AS so_far
        FROM beside WHERE others IS NOT NULL
    ) AS each CROSS JOIN picked WHERE each.so_far <= picked.room
),
chosen AS MATERIALIZED (
    SELECT rarest::tsquery,
        is_narrow AND COALESCE(pairs, next) IS NOT NULL AS may_be_few,
        (CASE WHEN pairs IS NULL AND NOT is_narrow THEN alone ELSE words END)::tsquery AS ranking,
        COALESCE(NULLIF(concat_ws(' | ', alone, pairs), ''),
            concat_ws(' & ', rarest, next))::tsquery AS query
    FROM picked CROSS JOIN paired
),
pool AS MATERIALIZED (
    SELECT id, setweight(tsv, 'A', '{{}}') AS tsv, heading FROM (
        SELECT id, tsv, heading FROM (
            (SELECT c.id, c.tsv, {last_heading} AS heading FROM vault_chunk c
            WHERE (c.tsv @@ (SELECT query FROM chosen)){by_row}
                AND c.vault_id = ANY(%(vaults)s) AND {filters}
            LIMIT {most})
            UNION ALL
            SELECT id, tsv, heading FROM (
                SELECT c.id, c.tsv, {last_heading} AS heading FROM vault_chunk c
                WHERE (SELECT may_be_few FROM chosen)
                    AND (c.tsv @@ (SELECT rarest FROM chosen)){by_row}
                    AND c.vault_id = ANY(%(vaults)s) AND {filters}
                LIMIT {filling}
            ) AS filling WHERE NOT tsv @@ (SELECT query FROM chosen)
        ) AS candidates {best}
    ) AS best
),
looked AS MATERIALIZED (
    SELECT idf, place, {quoted_lexeme}::tsquery AS word,
        ({quoted_lexeme} || ':A')::tsquery AS in_heading
    FROM terms
),
sized AS MATERIALIZED (
    SELECT id, place, idf, in_heading, round(rank / rank_by_length) AS length,
        round(1 / (pi() ^ 2 / 6 * (1 - rank)) - 0.5) AS times
    FROM (
        SELECT id, place, idf, tsv @@ in_heading AS in_heading,
            ts_rank('{{1,1,1,1}}', tsv, word)::float AS rank,
            ts_rank('{{1,1,1,1}}', tsv, word, 2)::float AS rank_by_length
        FROM pool JOIN looked ON tsv @@ word OFFSET 0
    ) AS held
),
average AS MATERIALIZED (
    SELECT COALESCE(average_length, (
        SELECT avg(length) FROM (SELECT min(length) AS length FROM sized GROUP BY id) AS each
    ), 1)::float AS length FROM corpus
),
named AS MATERIALIZED ({named}),
scored AS MATERIALIZED (
    SELECT id, sum(score) AS score FROM (
        SELECT sized.id, max(idf * (
            CASE WHEN in_heading THEN {heading}::float ELSE 0::float END
            + times * ({k1} + 1) / (
                times + {k1} * (1 - {b} + {b} * sized.length / average.length))
        )) AS score
        FROM sized CROSS JOIN average
        GROUP BY sized.id, place
    ) AS by_word
    GROUP BY id ORDER BY id IN (SELECT chunk_id FROM named) DESC, score DESC, id LIMIT {depth}
),
lexical AS MATERIALIZED (
    SELECT id AS chunk_id, score, row_number() OVER (ORDER BY score DESC, id) AS rank,
        {scaled} AS scaled
    FROM scored WINDOW w AS ()
),
trust AS MATERIALIZED (
    SELECT CASE
        WHEN bool_and(words.word ~ '^[[:alpha:]]+$')
        THEN LEAST(1, COALESCE((SELECT max(score) FROM lexical), 0)
            / NULLIF(sum(COALESCE(known.idf, ln(1 + (corpus.chunks + 0.5) / 0.5))), 0))
        ELSE 1 END AS share
    FROM (
        SELECT word, is_stop, min(position) AS position FROM words GROUP BY word, is_stop
    ) AS words CROSS JOIN corpus LEFT JOIN LATERAL (
        SELECT max(terms.idf) AS idf FROM forms JOIN terms USING (lexeme)
        WHERE forms.position = words.position
    ) AS known ON TRUE
    WHERE NOT words.is_stop
        AND words.word NOT IN (SELECT typed FROM mended WHERE typed IS NOT NULL)
)"""

# Of a passage under `c`, where a name is asked for that a heading may have.
LAST_HEADING = """CASE WHEN cardinality(%(sections)s::text[]) > 0
                THEN right(c.heading_path[cardinality(c.heading_path)], 200) END"""
NAMED = """
    SELECT id AS chunk_id, CASE WHEN heading ~ ANY(%(sections)s::text[]) THEN 1.0 ELSE 0.5 END
        AS share
    FROM pool
    WHERE cardinality(%(sections)s::text[]) > 0 AND heading ~* ANY(%(sections)s::text[])"""
NONE_NAMED = "SELECT NULL::bigint AS chunk_id, 0.0 AS share WHERE FALSE"

NO_LEXICAL = """
mended AS ({mended}),
terms AS (SELECT NULL::text AS lexeme, FALSE AS is_rare WHERE FALSE),
named AS ({named}),
trust AS (SELECT 1 AS share),
lexical AS (
    SELECT NULL::bigint AS chunk_id, NULL::float AS score, NULL::bigint AS rank,
        NULL::float AS scaled WHERE FALSE
)"""
