"""The text of the search statement, one constant a part.

`{name}` is filled in by `fill` with text of our own; `%(name)s` is a bound value, the only
way for what users typed. Why each part has its form: the comments; measured figures:
docs/retrieval.md.
"""

from __future__ import annotations


def fill(template: str, **parts: object) -> str:
    """`template` with its `{name}`s replaced; never for anything a user typed."""
    return template.format(**parts)


def quoted(column: str) -> str:
    """SQL of a tsquery's text for the one lexeme in `column`, as its input form wants it."""
    return rf"""('''' || replace(replace({column}, '\', '\\'), '''', '''''') || '''')"""


# After a condition in brackets: it means the same, and no index fits it.
BY_ROW = " IS TRUE"


def scaled(column: str, *, among: str = "TRUE") -> str:
    """SQL of min-max scaling over window `w`, from half of the best on at the latest.

    In a list of near equals the least would be worth nothing and the best everything. The
    rows for which `among` holds are the list; others are worth at least nothing.
    """
    most = f"max({column}) FILTER (WHERE {among}) OVER w"
    least = f"LEAST(min({column}) FILTER (WHERE {among}) OVER w, {most} / 2)"
    share = f"GREATEST(0, ({column} - {least}) / ({most} - {least}))"
    return f"CASE WHEN {most} <= {least} THEN 1.0 ELSE {share} END"


# Notes with an excluded word: all lexemes of the word under one configuration. With an excluded
# phrase: of the chunks with its lexemes those that hold it as written; where it has none, or signs
# that the parser makes words of in its own way, all are read.
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
barred_phrases AS MATERIALIZED (
    SELECT phrase.pattern, chosen.config,
        CASE WHEN phrase.is_plain THEN (
            SELECT string_agg({quoted_lexeme}, ' & ')::tsquery
            FROM unnest(to_tsvector(chosen.config::regconfig, phrase.text)) AS parts
        ) END AS query
    FROM unnest(%(unwanted)s::text[], %(unwanted_patterns)s::text[], %(unwanted_plain)s::bool[])
        AS phrase(text, pattern, is_plain)
    CROSS JOIN unnest(%(configs)s::text[]) AS chosen(config)
),
barred AS MATERIALIZED (
    SELECT c.note_id FROM barred_words JOIN vault_chunk c ON c.tsv @@ barred_words.query
    WHERE c.vault_id = ANY(%(vaults)s)
    UNION SELECT c.note_id FROM barred_phrases JOIN vault_chunk c ON c.tsv @@ barred_phrases.query
    WHERE c.vault_id = ANY(%(vaults)s)
        AND (c.heading_text || ' ' || c.content) ~* barred_phrases.pattern
    UNION SELECT c.note_id FROM barred_phrases
    JOIN vault_chunk c ON c.text_config::text = barred_phrases.config
    WHERE barred_phrases.query IS NULL AND c.vault_id = ANY(%(vaults)s)
        AND (c.heading_text || ' ' || c.content) ~* barred_phrases.pattern
)"""

# Notes that the query's filters let through.
ALLOWED = """
allowed AS MATERIALIZED (
    SELECT n.id FROM vault_note n WHERE n.vault_id = ANY(%(vaults)s) AND {condition}
)"""
# In one value: a row for each would take longer than finding them.
ALLOWED_IDS = """
SELECT string_agg(int8send(n.id), ''::bytea) FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND {condition}"""
ALLOWED_CHUNKS = "c.note_id IN (SELECT id FROM allowed)"
# The same, looked up in a hash of all that is allowed; never made a join.
IS_ALLOWED = f"({ALLOWED_CHUNKS}) IS TRUE"
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
# The day of a note: what it says itself, else what its path says, else when its file changed
# (as note_day() in retrieval/core/note_day.py). ISO dates compare as text, so that 2026-02-31
# in a note breaks nothing.
NOTE_DAY = r"""((CASE WHEN n.properties->>'date' ~ '^\d{4}-\d{2}-\d{2}'
    THEN left(n.properties->>'date', 10)
    WHEN n.path ~ '(^|\D)\d{4}-\d{2}-\d{2}(\D|$)'
    THEN substring(n.path FROM '(?:^|\D)(\d{4}-\d{2}-\d{2})(?:\D|$)')
    ELSE to_char(n.file_modified AT TIME ZONE %(zone)s, 'YYYY-MM-DD') END) COLLATE "C")"""

# Not the notes of golden questions (vault/core/golden_notes.py): they hold every question.
SEARCHED = r"""((n.path ~* '(^|/)golden-questions(\.[^/.]*)?$'
    OR lower(btrim(n.properties->>'type')) = 'golden-questions'
    OR n.properties->'golden-questions' = 'true'::jsonb) IS NOT TRUE)"""

# Notes that are listed, not ranked: first those that arms found, then the newest.
LISTED = """
SELECT n.id, (
    SELECT c.id FROM vault_chunk c
    WHERE c.vault_id = n.vault_id AND c.note_id = n.id ORDER BY c.ordinal LIMIT 1
)
FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND {condition}
ORDER BY n.id = ANY(%(first)s::bigint[]) DESC, {date} DESC, n.path, n.id
LIMIT %(limit)s + cardinality(%(first)s::bigint[])"""

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
# it is level with the hits in the language of the question where there are any. A chunk
# without a vector (yet) cannot be near: there its words stand in for its meaning, and where the
# best of words is such a one, nothing stands in for the words of other languages.
CONVEX = """
    {keywords} * GREATEST(0.5, COALESCE((SELECT share FROM trust), 1)) * GREATEST(
        COALESCE(fused.lexical_scaled, 0),
        CASE WHEN fused.is_foreign AND (
            SELECT first.cosine IS NOT NULL FROM fused AS first WHERE first.lexical_rank = 1
        ) THEN COALESCE(fused.meaning_scaled, 0) ELSE 0 END
    ) + {meaning} * COALESCE({likeness}, CASE WHEN EXISTS (SELECT 1 FROM meaning)
        THEN fused.lexical_scaled END, 0)"""
# Source code is English, whatever language its few words look like.
FOREIGN = """(CASE WHEN c.is_code THEN 'english' = ANY(%(foreign)s)
    ELSE c.text_config::text = ANY(%(foreign)s) OR (
        c.text_config::text = 'simple' AND {by_script}) END)"""
HAS_SCRIPT = "c.content ~ %(script)s"
LACKS_SCRIPT = "c.content !~ %(script)s"
RRF = """{keywords} * 2 * COALESCE(1.0 / ({k} + fused.lexical_rank), 0)
    + {meaning} * 2 * COALESCE(1.0 / ({k} + {place}), 0)"""

# A note that says of itself that it no longer holds counts for less, and stays: it may be
# the only one, and its reader is told.
# Lists and lists in them are read by their first item, days in digits in any order; a day read
# in two ways is the earlier (retrieval/core/standing.py says the same).
STANDING = r"""(CASE
    WHEN btrim(COALESCE(n.properties->>'superseded_by', ''), '[]", ')
        NOT IN ('', 'null', 'false', 'true')
    OR lower(btrim(COALESCE(n.properties#>>'{status,0}', n.properties->>'status'), '[]" '))
        = ANY(%(outdated)s)
    OR ((SELECT CASE
        WHEN until ~ '^\d{4}-\d\d-\d\d' THEN left(until, 10)
        WHEN until ~ '^\d{4}-\d\d$' THEN until || '-31'
        WHEN until ~ '^\d{4}$' THEN until || '-12-31'
        WHEN until ~ '^\d{8}$' THEN to_char(until::numeric, 'FM0000"-"00"-"00')
        WHEN until ~ '^\d{4}/\d{1,2}/\d{1,2}$' THEN concat_ws('-', one, two, three)
        WHEN until ~ '^\d{1,2}\.\d{1,2}\.\d{4}$' THEN concat_ws('-', three, two, one)
        WHEN until ~ '^\d{1,2}/\d{1,2}/\d{4}$'
            THEN LEAST(concat_ws('-', three, two, one), concat_ws('-', three, one, two))
        END FROM (
            SELECT until,
                lpad(piece[1], greatest(2, length(piece[1])), '0') AS one,
                lpad(piece[2], 2, '0') AS two,
                lpad(piece[3], greatest(2, length(piece[3])), '0') AS three
            FROM (SELECT until, regexp_split_to_array(until, '[./]') AS piece FROM (
                SELECT btrim(COALESCE(n.properties#>>'{valid_until,0}',
                    n.properties->>'valid_until'), '[]" ') AS until
            ) AS said) AS written
        ) AS parts
    ) COLLATE "C") < %(today)s
    THEN 0.6 ELSE 1 END)"""
ON_DAYS = "{day} BETWEEN %(first_{number})s AND %(last_{number})s"
# Signs are no words: of many passages with a 100, those with the `100%` that was typed.
AS_TYPED = """(CASE WHEN (SELECT c.content FROM vault_chunk c WHERE c.id = fused.chunk_id)
    ILIKE %(as_typed)s THEN {bonus} ELSE 0 END)"""
# A name without text, as of a picture, is near to any question of a word or two: meaning alone
# is half a reason to show it.
BARE = "(CASE WHEN fused.is_bare AND fused.lexical_rank IS NULL THEN 0.5 ELSE 1 END)"
DATED = "(CASE WHEN {condition} THEN {bonus} ELSE 0 END)"

# What a passage gains as a share of the best score: one that holds the identifiers asked for,
# since the nearest vector to a number is any other number; and the section of that name.
HELD_BONUS, NAMED_BONUS = 0.3, 0.5
# Of the identifiers in the question that few chunks hold, the share that chunk `c` holds.
IDENTIFIED = """(SELECT COALESCE(avg((c.tsv @@ rare.word)::int), 0) FROM (
        SELECT {quoted_lexeme}::tsquery AS word FROM terms
        WHERE is_rare AND lexeme = ANY(%(identifiers)s)
    ) AS rare)"""
NAMED = """COALESCE((SELECT named.share FROM named WHERE named.chunk_id = fused.chunk_id), 0)"""
FUSED = """
fused AS MATERIALIZED (
    SELECT c.id AS chunk_id, c.note_id, ({foreign}) AS is_foreign, both_arms.list,
        both_arms.lexical_rank, both_arms.vector_rank, both_arms.lexical_scaled,
        both_arms.meaning_scaled, both_arms.bm25, both_arms.cosine, {identified} AS held,
        c.content = '' AND c.context = '' AND c.embedded_text = '' AS is_bare
    FROM (
        SELECT COALESCE(lexical.chunk_id, meaning.chunk_id) AS chunk_id, meaning.list,
            lexical.rank AS lexical_rank, meaning.rank AS vector_rank,
            lexical.scaled AS lexical_scaled, meaning.scaled AS meaning_scaled,
            lexical.score AS bm25, meaning.cosine
        FROM lexical FULL JOIN {meaning} AS meaning ON meaning.chunk_id = lexical.chunk_id
    ) AS both_arms
    JOIN vault_chunk c ON c.id = both_arms.chunk_id WHERE c.vault_id = ANY(%(vaults)s)
)"""
PLACED = """
placed AS MATERIALIZED (
    SELECT fused.*, ({score}) * {weight} * {bare} + {dated} + {as_typed}
            + {held_bonus} * fused.held + {named_bonus} * {named} AS score,
        fused.note_id IN (SELECT note_id FROM titled) AS exact
    FROM {table} AS fused JOIN vault_note n ON n.id = fused.note_id
)
SELECT chunk_id, note_id, score, lexical_rank, vector_rank, exact, bm25, cosine,
    {code_rank} AS code_rank, {note_rank},
    (SELECT array_agg(typed || ' → ' || lexeme ORDER BY typed) FROM mended),
    (SELECT array_agg(lexeme ORDER BY lexeme) FROM terms), (SELECT share FROM trust)
FROM placed
UNION ALL
SELECT chunk_id, note_id, 0, NULL, NULL, TRUE, NULL, NULL, NULL, NULL,
    (SELECT array_agg(typed || ' → ' || lexeme ORDER BY typed) FROM mended),
    (SELECT array_agg(lexeme ORDER BY lexeme) FROM terms), (SELECT share FROM trust)
FROM titled WHERE note_id NOT IN (SELECT note_id FROM placed)
ORDER BY exact DESC, score DESC, code_rank NULLS FIRST, chunk_id"""

HAS_PHRASE = "(n.title || ' ' || n.body) ~* %(phrase_{number})s"
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
