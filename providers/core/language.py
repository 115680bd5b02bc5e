"""The language of a text, as far as an embedder must know it: by script and common words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

ANY = ""
"""A text without letters, or in a script that is not told apart here."""

# Ranges of scripts. Han alone is Chinese; with Kana it is Japanese.
_SCRIPTS = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff",
    "ja": "\u3040-\u30ff\u31f0-\u31ff",
    "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "he": "\u0590-\u05ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hi": "\u0900-\u097f",
}
_RUN = re.compile("|".join(f"(?P<{name}>[{signs}]+)" for name, signs in _SCRIPTS.items()))
# One sign of these says about as much as three letters.
_WEIGHTS = {"han": 3, "ja": 2, "ko": 2}
# Kana among Han: even a heading of a Japanese text has one sign in ten.
_KANA_SHARE = 10
_WORD = re.compile(f"[{_SCRIPTS['latin']}]+")
_FRENCH_ELISION = re.compile(r"\b(?:l|d|qu|n|s|c|j)['’](?=\w)", re.IGNORECASE)

# Frequent words; one that several languages share counts for each by its part.
COMMON_WORDS = {
    "en": "the and of to in is that with for was this are be from which have not by it how what "
    "who when where why does do did can an at as on or if you we they has had were will",
    "de": "der die und das nicht ist ein eine mit von auf für den dem sich auch wird im zu wie was "
    "wer wann wo warum welche welcher des werden sind oder bei einer einen kann ich wir sie zum",
    "fr": "le les des est une dans pour qui que pas sur avec du au par ce cette sont et la comment "
    "quel quelle quels quand où pourquoi ou plus vous nous il elle aux être",
    "es": "el los las una por con para del que es como más pero su este esta y se al la en de qué "
    "cómo cuál cuándo dónde quién un lo no son fue",
    "it": "il gli che di una per con della sono non nel è anche dei alla più questo del la le come "
    "cosa quale quando dove chi perché un si nella delle",
    "pt": "os uma não para com em do da dos das que mais ao pela seu são também um o a e como qual "
    "quando onde quem por foi no na",
    "nl": "het een van en niet dat zijn op met voor is aan ook naar worden door bij wordt de hoe "
    "wat wie wanneer waar waarom welke in te die deze kan",
    "sv": "och att det som en är på för av med den inte till har om jag vi kan hur vad vem när var "
    "varför vilken ett de från",
    "da": "og at det er en af på til med for ikke den som der har vi kan hvordan hvad hvem hvornår "
    "hvor hvorfor et de fra blev",
    "nb": "og å det er en av på til med for ikke den som har vi kan jeg fra hvordan hva hvem når "
    "hvor hvorfor et de ble",
    "fi": "ja on ei se että hän oli ovat mutta kun tai niin joka myös ole sen miten mitä mikä kuka "
    "milloin missä miksi",
    "hu": "a az és hogy nem egy is van meg volt ez csak de már vagy mint hogyan mi ki mikor hol "
    "miért melyik",
    "ro": "și în nu este cu pe la din care sunt mai pentru un ca fi să de cum ce când unde cine o",
    "tr": "ve bir bu için ile de da olarak çok daha ne var gibi kadar olan nasıl nedir kim nerede "
    "hangi mi mı",
    "id": "yang dan di untuk dengan ini dari pada tidak dalam itu adalah ke akan bagaimana apa "
    "siapa kapan mana mengapa",
    "cs": "a je se na že v s z do pro by jsou jako ale tak jak co kdo kdy kde proč není byl jeho",
    "pl": "i w na nie się z do że jest to o jak po dla co od za przez kto kiedy gdzie są być był",
    "vi": "của và là các có được cho không những với một trong người này khi để như thế nào gì",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in COMMON_WORDS.items():
    for _common in dict.fromkeys(_words.split()):
        _LANGUAGES_OF.setdefault(_common, []).append(_language)
# Letters that few languages have.
_LATIN_LETTERS = {
    "de": "ßäöü",
    "fr": "çèêëàùœ",
    "es": "ñ¿¡óá",
    "it": "òìùàè",
    "pt": "ãõçâê",
    "sv": "åäö",
    "da": "æøå",
    "nb": "æøå",
    "fi": "äö",
    "hu": "őűáéó",
    "ro": "ățşșţâî",
    "tr": "ğışçöü",
    "cs": "řěůčšžý",
    "pl": "łąęśźżćń",
    "vi": "ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệịỉọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}
_LANGUAGES_WITH: dict[str, list[str]] = {}
for _language, _letters in _LATIN_LETTERS.items():
    for _letter in _letters:
        _LANGUAGES_WITH.setdefault(_letter, []).append(_language)
_CYRILLIC_LETTERS = (
    ("uk", re.compile("[іїєґІЇЄҐ]")),
    ("sr", re.compile("[ђћљњџјЂЋЉЊЏЈ]")),
    # A vowel in Bulgarian; in Russian it stands before е, ё, ю and я alone.
    ("bg", re.compile("[ъЪ](?![еёюяЕЁЮЯ])")),
    ("ru", re.compile("[ыэёЫЭЁ]")),
)
_PERSIAN = re.compile("[پچژگکی]")
_MOST_CHARACTERS = 4_000
LANGUAGES = frozenset(
    {*COMMON_WORDS, "ru", "uk", "bg", "sr", "zh", "ja", "ko", "th", "el", "he", "ar", "fa", "hi"}
)
"""What language_of can say."""


def language_of(text: str) -> str:
    """ISO 639-1 code of the language that most of `text` is in, or ANY.

    Of Latin text without a common word, plain ASCII counts as English: terms, names and
    code do. The first 4,000 characters decide. Deterministic: vectors depend on it.
    """
    text = unicodedata.normalize("NFC", text[:_MOST_CHARACTERS])
    counts: Counter[str] = Counter()
    for found in _RUN.finditer(text):
        script = found.lastgroup or ""
        counts[script] += (found.end() - found.start()) * _WEIGHTS.get(script, 1)
    if not counts:
        return ANY
    script = max(sorted(counts), key=counts.__getitem__)
    if script in {"han", "ja"}:
        return "ja" if counts["ja"] * _KANA_SHARE > counts["han"] else "zh"
    if script == "latin":
        return _latin(text)
    if script == "cyrillic":
        return _cyrillic(text)
    if script == "arabic":
        return "fa" if _PERSIAN.search(text) else "ar"
    return script


def _latin(text: str) -> str:
    folded = text.casefold()
    hits: Counter[str] = Counter()
    # In twelfths, so that the sum does not depend on the order of words.
    for word in _WORD.findall(folded):
        for language in _LANGUAGES_OF.get(word, ()):
            hits[language] += 12 // len(_LANGUAGES_OF[word])
    if not folded.isascii():
        for letter, languages in _LANGUAGES_WITH.items():
            for language in languages:
                hits[language] += folded.count(letter) * 6 // len(languages)
    hits["fr"] += 12 * len(_FRENCH_ELISION.findall(text))
    best = max(sorted(hits), key=hits.__getitem__)
    if hits[best]:
        return "en" if hits["en"] == hits[best] else best
    return "en" if text.isascii() else ANY


def _cyrillic(text: str) -> str:
    found = {language: len(letters.findall(text)) for language, letters in _CYRILLIC_LETTERS}
    best = max(("ru", "uk", "sr", "bg"), key=found.__getitem__)
    return best if found[best] else "ru"
