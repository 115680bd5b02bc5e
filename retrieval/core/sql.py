"""The text of the search statement, one constant a part.

`{name}` is filled in by `fill` with text of our own; `%(name)s` is a bound value, the only
way for what users typed. Why each part has its form: the comments; measured figures:
docs/retrieval.md.
"""

from __future__ import annotations

# BM25 as in Lucene; k1 and b of Robertson and Zaragoza (2009).
K1, B = 1.2, 0.75
# Candidates of the lexical arm: this share of the chunks, within these bounds. A row costs two
# to four microseconds. What it misses of exact BM25: docs/retrieval.md.
POOL_SHARE, LEAST_ROWS, MOST_ROWS = 0.15, 1_500, 8_000
# Rows of the rarest word alone, where words that stand together bring too few.
FILLING = 1_000
# A typo takes its nearest word from this similarity on (pg_trgm).
NEAR = 0.5


def fill(template: str, **parts: object) -> str:
    """`template` with its `{name}`s replaced; never for anything a user typed."""
    return template.format(**parts)


def quoted(column: str) -> str:
    """SQL of a tsquery's text for the one lexeme in `column`, as its input form wants it."""
    return rf"""('''' || replace(replace({column}, '\', '\\'), '''', '''''') || '''')"""


def scaled(column: str) -> str:
    """SQL of min-max scaling over window `w`, from half of the best on at the latest.

    In a list of near equals the least would be worth nothing and the best everything.
    """
    most = f"max({column}) OVER w"
    least = f"LEAST(min({column}) OVER w, {most} / 2)"
    share = f"({column} - {least}) / ({most} - {least})"
    return f"CASE WHEN {most} <= {least} THEN 1.0 ELSE {share} END"


# Notes with an excluded word: all lexemes of the word under one configuration.
BARRED = """
barred_words AS MATERIALIZED (
    SELECT string_agg({quoted_lexeme}, ' & ')::tsquery AS query
    FROM unnest(%(excluded)s::text[]) WITH ORDINALITY AS word(text, number)
    CROSS JOIN unnest(%(configs)s::text[]) AS chosen(config)
    CROSS JOIN LATERAL unnest(to_tsvector(chosen.config::regconfig, word.text)) AS parts
    GROUP BY word.number, chosen.config
    UNION ALL
    SELECT string_agg({quoted_lexeme}, ' & ')::tsquery
    FROM unnest(%(excluded_made)s::text[]) WITH ORDINALITY AS word(text, number)
    CROSS JOIN LATERAL unnest(to_tsvector('simple', word.text)) AS parts
    GROUP BY word.number
),
barred AS MATERIALIZED (
    SELECT DISTINCT c.note_id FROM barred_words JOIN vault_chunk c ON c.tsv @@ barred_words.query
    WHERE c.vault_id = ANY(%(vaults)s)
)"""

# Notes that the query's filters let through.
ALLOWED = """
allowed AS MATERIALIZED (
    SELECT n.id FROM vault_note n WHERE n.vault_id = ANY(%(vaults)s) AND {condition}
)"""
ALLOWED_CHUNKS = "c.note_id IN (SELECT id FROM allowed)"
ALLOWED_NOTES = "n.id IN (SELECT id FROM allowed)"

# A path is a prefix; a tag means the tags nested in it too. Case does not matter.
UNDER_PATH = "starts_with(lower(n.path), %({name})s)"
HAS_TAG = """EXISTS (SELECT 1 FROM unnest(n.tags) AS tag(name)
    WHERE lower(tag.name) = %({name})s OR starts_with(lower(tag.name), %({name})s || '/'))"""
IN_FOLDER = "starts_with(lower(n.path), %({name})s || '/')"
OF_KIND = "n.kind = %({name})s"
IN_VAULT = "n.vault_id IN (SELECT v.id FROM vault_vault v WHERE lower(v.slug) = %({name})s)"
# Names of properties in any case, as Obsidian has them; of a list any item; a link without
# its brackets. An empty value asks only whether the note has the property.
HAS_PROPERTY = """EXISTS (
    SELECT 1 FROM jsonb_each(n.properties) AS property(name, value)
    CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(property.value)
        WHEN 'array' THEN property.value ELSE jsonb_build_array(property.value) END) AS item(value)
    WHERE lower(property.name) = split_part(%({name})s, '=', 1)
        AND (split_part(%({name})s, '=', 2) = ''
            OR lower(btrim(item.value #>> '{{}}', ' []'))
                = btrim(substr(%({name})s, strpos(%({name})s, '=') + 1), ' []'))
)"""
# The date that the note itself gives, else the day its file changed. ISO dates compare as
# text, so that 2026-02-31 in a note breaks nothing.
NOTE_DATE = r"""((CASE WHEN n.properties->>'date' ~ '^\d{4}-\d{2}-\d{2}'
    THEN left(n.properties->>'date', 10)
    ELSE to_char(n.file_modified AT TIME ZONE %(zone)s, 'YYYY-MM-DD') END) COLLATE "C")"""

# Filters alone: the notes they let through, newest first.
LISTED = """
SELECT n.id, (
    SELECT c.id FROM vault_chunk c
    WHERE c.vault_id = n.vault_id AND c.note_id = n.id ORDER BY c.ordinal LIMIT 1
)
FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND {condition}
ORDER BY {date} DESC, n.path, n.id
LIMIT %(limit)s"""

# forms: lexemes of the query under every configuration of the scope, and plain (`simple`),
#   each with the place of its word. The parser is the same, so places are.
# words: the plain word at each place; one that some configuration drops is a stop word
#   there. Made tokens of identifiers (`is_valid`) hold such words too, and rarely: taken as
#   search terms they would outweigh the question, so they count only when nothing else is
#   left of it.
# asked: what is looked for.
# counted: document frequency in the scope, so that nothing of other vaults shows in an
#   order or a score; a lexeme that the background count has not seen yet is counted here, so
#   that search is right from the first minute.
# corpus: its average length only once it was counted; until then the pool's is taken.
# terms: those that exist, and the nearest word for those that do not.
ASKED = """
forms AS MATERIALIZED (
    SELECT chosen.config, parts.lexeme, place.position
    FROM (SELECT unnest(%(configs)s::text[]) UNION SELECT 'simple') AS chosen(config)
    CROSS JOIN LATERAL unnest(to_tsvector(chosen.config::regconfig, %(text)s)) AS parts
    CROSS JOIN LATERAL unnest(parts.positions) AS place(position)
),
words AS MATERIALIZED (
    SELECT position, min(lexeme) FILTER (WHERE config = 'simple') AS word,
        count(DISTINCT config) < (
            SELECT count(DISTINCT config) FROM unnest(%(configs)s::text[] || 'simple'::text)
            AS every(config)
        ) AS is_stop
    FROM forms GROUP BY position
),
plain AS MATERIALIZED (
    SELECT lexeme FROM forms WHERE config = 'simple'
    UNION SELECT parts.lexeme FROM unnest(to_tsvector('simple', %(made)s)) AS parts
),
meant AS MATERIALIZED (
    SELECT lexeme FROM forms WHERE config <> 'simple'
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
terms AS MATERIALIZED (
    SELECT lexeme, df, row_number() OVER (ORDER BY df, lexeme) AS rarity,
        weight * ln(1 + (corpus.chunks - df + 0.5) / (df + 0.5)) AS idf
    FROM (
        SELECT lexeme, df, 1.0 AS weight FROM counted WHERE df > 0
        UNION ALL SELECT lexeme, df, likeness FROM mended
    ) AS present CROSS JOIN corpus
)"""

# From the counts of the vaults; where one was never counted, by looking. A vault that was
# has all its words in the table: they are added when a note is written.
COUNTED = """COALESCE(
    (SELECT sum(f.chunks) FROM vault_lexemefrequency f
     WHERE f.lexeme = asked.lexeme AND f.vault_id = ANY(%(vaults)s)),
    CASE WHEN (SELECT count(DISTINCT vault_id) FROM vault_lexicalcorpus
        WHERE vault_id = ANY(%(vaults)s)) >= %(filled)s THEN 0
    ELSE (SELECT count(*) FROM vault_chunk c
        WHERE c.tsv @@ {quoted}::tsquery AND c.vault_id = ANY(%(vaults)s)) END)"""
# Of somebody who may read some folders alone: nothing of the others may show.
COUNTED_IN_FOLDERS = """(SELECT count(*) FROM vault_chunk c
    WHERE c.tsv @@ {quoted}::tsquery AND c.vault_id = ANY(%(vaults)s) AND {chunks})"""
HELD_IN_FOLDERS = """EXISTS (SELECT 1 FROM vault_chunk c
    WHERE c.tsv @@ {quoted}::tsquery AND c.vault_id = ANY(%(vaults)s) AND {chunks})"""

# A word of five letters or more that nothing holds in any form takes the nearest word that
# the scope has: the vocabulary of other vaults must not show. One slip changes the length by
# one letter at most, and a word of another language is no slip of this one: German `Notizen`
# is not `notice`, whose stem is `notic`.
MENDED = """
    SELECT DISTINCT ON (unknown.position) unknown.word AS typed, near.lexeme, near.df,
        near.likeness
    FROM (
        SELECT words.position, words.word
        FROM words JOIN forms USING (position) LEFT JOIN counted USING (lexeme)
        WHERE NOT words.is_stop AND length(words.word) >= 5
            AND words.word ~ '^[[:alpha:]]+$'
        GROUP BY words.position, words.word HAVING COALESCE(max(counted.df), 0) = 0
    ) AS unknown
    JOIN forms USING (position)
    CROSS JOIN LATERAL (
        SELECT word.lexeme, sum(f.chunks)::float AS df,
            similarity(word.lexeme, forms.lexeme) AS likeness
        FROM vault_lexeme word
        JOIN vault_lexemefrequency f
            ON f.lexeme = word.lexeme AND f.vault_id = ANY(%(vaults)s)
            AND f.text_config <> ALL(%(foreign)s)
        WHERE word.lexeme %% forms.lexeme AND similarity(word.lexeme, forms.lexeme) >= {near}
            AND abs(length(word.lexeme) - length(forms.lexeme)) <= 1 AND {held}
        GROUP BY word.lexeme ORDER BY likeness DESC, df DESC, word.lexeme LIMIT 1
    ) AS near
    ORDER BY unknown.position, near.likeness DESC, near.lexeme"""

NOT_MENDED = (
    "SELECT NULL::text AS typed, NULL::text AS lexeme, 0::float AS df, 0::float AS likeness "
    "WHERE FALSE"
)

# ordered: by rarity, how many rows the words up to here bring together (`any`), how many hold
#   the rarest beside one of the others (`pair`) and how many hold every one (`all`), if words
#   knew nothing of each other.
# chosen: what the candidates must hold: words by rarity as long as they bring no more than
#   `most` rows. Where the rarest alone brings more, it beside one of the others; where that
#   is still too much, the next ones as well.
# pool: the best of these by ts_rank, among no more rows than that, in the order they lie in.
#   Where words that stand together bring few, the first rows of the rarest fill up.
# scored: the pool by exact BM25. ts_rank of a single word is the sum of 1/n^2 up to its
#   frequency, over pi^2/6: that gives the frequency back, exactly, up to the 255 positions
#   that a tsvector keeps. strip() takes two bytes a position away: that gives the length.
#   Both together cost a fifth of unnest().
# unpacked: a vector that lies packed outside of its row would be fetched again by each call.
# trust: best score over what a passage with every word of the question once would have; 1
#   for questions with identifiers, whose parts no single passage needs to hold.
LEXICAL = """
bounds AS MATERIALIZED (
    SELECT corpus.chunks, min(terms.df) AS least,
        LEAST({most}, GREATEST({least}, {share} * corpus.chunks)) AS most
    FROM corpus CROSS JOIN terms GROUP BY corpus.chunks
),
ordered AS MATERIALIZED (
    SELECT {quoted_lexeme} AS word, rarity, df / chunks AS share, chunks, least, most,
        sum(df) OVER so_far AS any_rows,
        sum(CASE WHEN rarity > 1 THEN least * df / chunks ELSE 0 END) OVER so_far AS pair_rows,
        chunks * exp(sum(ln(LEAST(1, df / chunks))) OVER so_far) AS all_rows
    FROM terms CROSS JOIN bounds WINDOW so_far AS (ORDER BY rarity)
),
picked AS MATERIALIZED (
    SELECT bool_or(least > most) AS is_narrow,
        min(word) FILTER (WHERE rarity = 1) AS rarest,
        string_agg(word, ' | ') AS words,
        string_agg(word, ' | ') FILTER (WHERE {every} OR any_rows <= most) AS rare,
        string_agg(word, ' | ') FILTER (WHERE rarity > 1 AND pair_rows <= most) AS beside,
        string_agg(word, ' & ') FILTER (WHERE rarity > 1 AND all_rows / share > most) AS next
    FROM ordered
),
chosen AS MATERIALIZED (
    SELECT rarest::tsquery,
        is_narrow AND COALESCE(beside, next) IS NOT NULL AS may_be_few,
        (CASE WHEN is_narrow THEN words ELSE COALESCE(rare, rarest) END)::tsquery AS ranking,
        (CASE WHEN is_narrow THEN concat_ws(' & ', rarest, COALESCE('(' || beside || ')', next))
            ELSE COALESCE(rare, rarest) END)::tsquery AS query
    FROM picked
),
pool AS MATERIALIZED (
    SELECT id, tsv FROM (
        (SELECT c.id, c.tsv FROM vault_chunk c
        WHERE c.tsv @@ (SELECT query FROM chosen) AND c.vault_id = ANY(%(vaults)s) AND {filters}
        LIMIT {most})
        UNION ALL
        SELECT id, tsv FROM (
            SELECT c.id, c.tsv FROM vault_chunk c
            WHERE (SELECT may_be_few FROM chosen) AND c.tsv @@ (SELECT rarest FROM chosen)
                AND c.vault_id = ANY(%(vaults)s) AND {filters}
            LIMIT {filling}
        ) AS filling WHERE NOT tsv @@ (SELECT query FROM chosen)
    ) AS candidates
    ORDER BY ts_rank(tsv, (SELECT ranking FROM chosen), 1) DESC, id LIMIT {pool}
),
unpacked AS MATERIALIZED (
    SELECT id, tsv || ''::tsvector AS tsv FROM pool
),
sized AS MATERIALIZED (
    SELECT id, tsv,
        (octet_length(tsvectorsend(tsv)) - octet_length(tsvectorsend(strip(tsv)))) / 2.0 AS length
    FROM unpacked
),
average AS MATERIALIZED (
    SELECT COALESCE(min(corpus.average_length), avg(sized.length), 1)::float AS length
    FROM corpus LEFT JOIN sized ON TRUE
),
scored AS MATERIALIZED (
    SELECT sized.id, sum(terms.idf * found.times * ({k1} + 1) / (
        found.times + {k1} * (1 - {b} + {b} * sized.length / average.length))) AS score
    FROM sized CROSS JOIN average CROSS JOIN (
        SELECT idf, {quoted_lexeme}::tsquery AS word FROM terms
    ) AS terms CROSS JOIN LATERAL (
        SELECT round(1 / (pi() ^ 2 / 6 * (1 - ts_rank('{{1,1,1,1}}', sized.tsv, terms.word)))
            - 0.5) AS times
    ) AS found
    WHERE found.times > 0
    GROUP BY sized.id ORDER BY score DESC, sized.id LIMIT {depth}
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
    FROM words CROSS JOIN corpus LEFT JOIN LATERAL (
        SELECT max(terms.idf) AS idf FROM forms JOIN terms USING (lexeme)
        WHERE forms.position = words.position
    ) AS known ON TRUE
    WHERE NOT words.is_stop
        AND words.word NOT IN (SELECT typed FROM mended WHERE typed IS NOT NULL)
)"""

NO_LEXICAL = """
mended AS ({mended}),
terms AS (SELECT NULL::text AS lexeme WHERE FALSE),
trust AS (SELECT 1 AS share),
lexical AS (
    SELECT NULL::bigint AS chunk_id, NULL::float AS score, NULL::bigint AS rank,
        NULL::float AS scaled WHERE FALSE
)"""

# Nothing but the distance in ORDER BY, the condition and the cast of the index: anything
# else loses it. `{exactly}` hides it on purpose. Materialised: under old statistics the
# planner may put the join with chunks outside and scan the index once a chunk.
NEAREST = """
near_{number} AS MATERIALIZED (
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunkvector v
    WHERE {condition} AND v.vault_id = ANY(%(vaults_{number})s) AND {filters}
    ORDER BY {distance}{exactly}
    LIMIT {depth}
)"""
# The vector of a text that was rewritten since (another hash), or of another make of the
# model, is dropped.
CURRENT = """
SELECT {number} AS list, near.chunk_id, 1 - near.distance AS cosine
FROM near_{number} AS near
JOIN vault_chunk c ON c.id = near.chunk_id AND c.embed_hash = near.embed_hash
WHERE near.fingerprint = %(space_{number})s"""

FILTERED_VECTORS = "EXISTS (SELECT 1 FROM vault_chunk c WHERE c.id = v.chunk_id AND {filters})"

FOUND_IN_MEMORY = """
SELECT {number} AS list, c.id AS chunk_id, near.cosine
FROM unnest(%(ids_{number})s::bigint[], %(cosines_{number})s::float[]) AS near(id, cosine)
JOIN vault_chunk c ON c.id = near.id
WHERE c.vault_id = ANY(%(vaults_{number})s) AND {filters}
ORDER BY near.cosine DESC, c.id LIMIT {depth}"""

NOTHING_NEAR = "SELECT 0 AS list, NULL::bigint AS chunk_id, NULL::float AS cosine WHERE FALSE"

# Each model's list is scaled by itself: cosines of two models do not compare.
MEANING = """
nearest AS MATERIALIZED ({lists}),
meaning AS MATERIALIZED (
    SELECT chunk_id, cosine, scaled,
        row_number() OVER (ORDER BY scaled DESC, cosine DESC, chunk_id) AS rank
    FROM (
        SELECT chunk_id, cosine, {scaled} AS scaled
        FROM nearest WINDOW w AS (PARTITION BY list)
    ) AS each
)"""

# Notes that the query names, with their first chunk.
TITLES = """
titled AS MATERIALIZED (
    SELECT n.id AS note_id, (
        SELECT c.id FROM vault_chunk c
        WHERE c.vault_id = n.vault_id AND c.note_id = n.id ORDER BY c.ordinal LIMIT 1
    ) AS chunk_id
    FROM vault_note n
    WHERE n.vault_id = ANY(%(vaults)s) AND n.lookup_keys && %(keys)s::text[] AND {condition}
    ORDER BY n.path, n.id LIMIT {most}
)"""

BARRED_NOTES = "n.id NOT IN (SELECT note_id FROM barred)"

# Min-max gives the best keyword hit full marks even when it holds one word of six: its half
# counts as much as the words of the question were found (`trust`), at least half of it. A
# chunk in another language cannot hold them: what its meaning promises stands in, so that
# it is level with the hits in the language of the question where there are any.
CONVEX = """
    0.5 * GREATEST(0.5, COALESCE((SELECT share FROM trust), 1)) * GREATEST(
        COALESCE(fused.lexical_scaled, 0),
        CASE WHEN {foreign} THEN COALESCE(fused.meaning_scaled, 0) ELSE 0 END
    ) + 0.5 * COALESCE(fused.meaning_scaled, 0)"""
FOREIGN = """EXISTS (SELECT 1 FROM lexical) AND (c.text_config::text = ANY(%(foreign)s) OR (
    c.text_config::text = 'simple' AND {by_script}))"""
HAS_SCRIPT = "c.content ~ %(script)s"
LACKS_SCRIPT = "c.content !~ %(script)s"
RRF = """COALESCE(1.0 / ({k} + fused.lexical_rank), 0)
    + COALESCE(1.0 / ({k} + fused.vector_rank), 0)"""

# A note that says of itself that it no longer holds counts for less, and stays: it may be
# the only one, and its reader is told.
STANDING = r"""(CASE WHEN COALESCE(n.properties->>'superseded_by', '') NOT IN ('', '[]')
    OR lower(n.properties->>'status') = ANY(%(outdated)s)
    OR (n.properties->>'valid_until' ~ '^\d{4}-\d{2}-\d{2}'
        AND (left(n.properties->>'valid_until', 10) COLLATE "C") < %(today)s)
    THEN 0.6 ELSE 1 END)"""
# The day of a note: what it says, else what its path says, else when its file changed.
WRITTEN = r"""((CASE WHEN n.properties->>'date' ~ '^\d{4}-\d{2}-\d{2}'
    THEN left(n.properties->>'date', 10)
    WHEN n.path ~ '(^|\D)\d{4}-\d{2}-\d{2}(\D|$)'
    THEN substring(n.path FROM '\d{4}-\d{2}-\d{2}')
    ELSE to_char(n.file_modified AT TIME ZONE %(zone)s, 'YYYY-MM-DD') END) COLLATE "C")"""
ON_DAYS = "{written} BETWEEN %(first_{number})s AND %(last_{number})s"
DATED = "(CASE WHEN {condition} THEN {bonus} ELSE 0 END)"

FUSED = """
fused AS MATERIALIZED (
    SELECT COALESCE(lexical.chunk_id, meaning.chunk_id) AS chunk_id,
        lexical.rank AS lexical_rank, meaning.rank AS vector_rank,
        lexical.scaled AS lexical_scaled, meaning.scaled AS meaning_scaled,
        lexical.score AS bm25, meaning.cosine
    FROM lexical FULL JOIN meaning ON meaning.chunk_id = lexical.chunk_id
),
placed AS MATERIALIZED (
    SELECT fused.*, ({score}) * {standing} + {dated} AS score, c.note_id,
        c.note_id IN (SELECT note_id FROM titled) AS exact
    FROM fused JOIN vault_chunk c ON c.id = fused.chunk_id JOIN vault_note n ON n.id = c.note_id
    WHERE c.vault_id = ANY(%(vaults)s)
)
SELECT chunk_id, note_id, score, lexical_rank, vector_rank, exact, bm25, cosine,
    (SELECT array_agg(typed || ' → ' || lexeme ORDER BY typed) FROM mended),
    (SELECT array_agg(lexeme ORDER BY lexeme) FROM terms), (SELECT share FROM trust)
FROM placed
UNION ALL
SELECT chunk_id, note_id, 0, NULL, NULL, TRUE, NULL, NULL,
    (SELECT array_agg(typed || ' → ' || lexeme ORDER BY typed) FROM mended),
    (SELECT array_agg(lexeme ORDER BY lexeme) FROM terms), (SELECT share FROM trust)
FROM titled WHERE note_id NOT IN (SELECT note_id FROM placed)
ORDER BY exact DESC, score DESC, chunk_id"""

ANYWHERE = "(n.title ILIKE %(like)s OR n.path ILIKE %(like)s OR n.body ILIKE %(like)s)"
WHOLE_WORD = "(n.title ~* %(pattern)s OR n.path ~* %(pattern)s OR n.body ~* %(pattern)s)"

# Names first, then the word as typed, then without case, then as a part of words.
IN_TEXT = """
SELECT n.id, (
    SELECT c.id FROM vault_chunk c WHERE c.vault_id = n.vault_id AND c.note_id = n.id
    ORDER BY c.content ~ %(pattern)s DESC, c.content ~* %(pattern)s DESC,
        c.content ILIKE %(like)s DESC, c.ordinal
    LIMIT 1
)
FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND {condition}
ORDER BY n.title ~* %(pattern)s DESC, n.title ILIKE %(like)s DESC, n.body ~ %(pattern)s DESC,
    n.body ~* %(pattern)s DESC, n.path, n.id
LIMIT %(limit)s"""
