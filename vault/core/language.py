"""Which PostgreSQL text search configuration fits a text, by script and common words."""

from __future__ import annotations

import re

import regex

# Words that are frequent in one language and rare in the others listed.
_COMMON_WORDS = {
    "english": "the and of to is that with for was this are be from which have not by it",
    "german": "der die und das nicht ist ein eine mit von auf für den dem sich auch wird im zu",
    "french": "le les des est une dans pour qui que pas sur avec du au par ce cette sont et",
    "spanish": "el los las una por con para del que es como más pero su este esta y se al",
    "italian": "il gli che di una per con della sono non nel è anche dei alla più questo del",
    "portuguese": "os uma não para com em do da dos das que mais ao pela seu são também um",
    "dutch": "het een van en niet dat zijn op met voor is aan ook naar worden door bij wordt",
    "swedish": "och att det som en är på för av med den inte till har om jag vi kan",
    "danish": "og at det er en af på til med for ikke den som der har vi af kan",
    "norwegian": "og å det er en av på til med for ikke den som har vi kan jeg fra",
    "finnish": "ja on ei se että hän oli ovat mutta kun tai niin joka myös ole sen",
    "hungarian": "a az és hogy nem egy is van meg volt ez csak de már vagy mint",
    "romanian": "și în nu este cu pe la din care sunt mai pentru un ca fi să de",
    "turkish": "ve bir bu için ile de da olarak çok daha ne var gibi kadar olan",
    "indonesian": "yang dan di untuk dengan ini dari pada tidak dalam itu adalah ke akan",
    "catalan": "els les amb una per és dels que més aquest aquesta seva són també",
    "lithuanian": "ir yra kad tai su bet iš kaip buvo ar nuo jau tik jo dėl",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in _COMMON_WORDS.items():
    for _word in set(_words.split()):
        _LANGUAGES_OF.setdefault(_word, []).append(_language)
_SCRIPTS = regex.compile(
    r"(?P<latin>\p{Latin}+)|(?P<cyrillic>\p{Cyrillic}+)|(?P<greek>\p{Greek}+)"
    r"|(?P<arabic>\p{Arabic}+)|(?P<armenian>\p{Armenian}+)|(?P<devanagari>\p{Devanagari}+)"
    r"|(?P<tamil>\p{Tamil}+)|(?P<simple>\p{L})"
)
_WORD = regex.compile(r"[\p{Latin}\p{M}]+")
_ASCII_WORD = re.compile(r"[a-z]+")
# Letters that Russian does not have: Ukrainian, Belarusian, Serbian, Macedonian, Kazakh, ...
_NOT_RUSSIAN = regex.compile(r"[іїєґўѓќѕђћљњџјәғқңөұүһ]", regex.IGNORECASE)
_SERBIAN = regex.compile(r"[ђћљњџј]", regex.IGNORECASE)
# Letters that Arabic does not have: Persian, Urdu, Kurdish, ...
_NOT_ARABIC = regex.compile(r"[پچژگکیٹڈڑںے]")
_NEPALI = regex.compile(r"(?<!\p{L})(छ|हो|छन्|गर्न|पनि|भएको|गरेको|रहेको)(?![\p{L}\p{M}])")
_MOST_CHARACTERS = 4000
# A text this long without a common word of English is another language or no prose.
_MOST_WORDS_WITHOUT_SIGN = 30


def text_config(text: str) -> str:
    """Name of the configuration: `english`, `russian`, ..., or `simple` when none fits.

    All names exist since PostgreSQL 14. The first 4,000 characters decide. `russian` and
    `hindi` stem Latin words as English, so a mixed text goes to them.
    """
    text = text[:_MOST_CHARACTERS]
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
        return _latin_config(words, is_ascii=True) if words else "simple"
    counts: dict[str, int] = {}
    for found in _SCRIPTS.finditer(text):
        script = found.lastgroup or ""
        counts[script] = counts.get(script, 0) + found.end() - found.start()
    if not counts:
        return "simple"
    letters = sum(counts.values())
    main = max(sorted(counts), key=counts.__getitem__)
    for script in ("cyrillic", "devanagari"):
        # Terms and code in Latin letters often outnumber the prose around them.
        if main == "latin" and counts.get(script, 0) * 8 >= letters:
            main = script
    return _config_of(main, text)


def _config_of(script: str, text: str) -> str:
    if script == "latin":
        words = [word.casefold() for word in _WORD.findall(text)]
        return _latin_config(words, is_ascii=False)
    if script == "cyrillic":
        return _cyrillic_config(text)
    if script == "arabic":
        return "simple" if _NOT_ARABIC.search(text) else "arabic"
    if script == "devanagari":
        return "nepali" if len(_NEPALI.findall(text)) > 1 else "hindi"
    return script


def _cyrillic_config(text: str) -> str:
    letters = len(regex.findall(r"\p{Cyrillic}", text))
    if len(_SERBIAN.findall(text)) * 50 > letters:
        return "serbian"
    return "simple" if len(_NOT_RUSSIAN.findall(text)) * 100 > letters else "russian"


def _latin_config(words: list[str], *, is_ascii: bool) -> str:
    hits: dict[str, float] = {}
    for word in words:
        for language in _LANGUAGES_OF.get(word, ()):
            # A word of several languages says less about each.
            hits[language] = hits.get(language, 0) + 1 / len(_LANGUAGES_OF[word])
    best = max(hits, key=lambda name: (hits[name], name == "english", name), default="")
    if best and hits[best] >= max(1, len(words) / 25):
        return best
    is_short = len(words) <= _MOST_WORDS_WITHOUT_SIGN
    # A title or a list of terms: English in most vaults, and its stemmer folds plurals.
    return "english" if is_short and best in {"", "english"} and is_ascii else "simple"


def common_words(text: str, config: str) -> int:
    """How many words of `text` are frequent in a language; 0 where none is known."""
    words = (match[0].casefold() for match in _WORD.finditer(text[:_MOST_CHARACTERS]))
    return sum(config in _LANGUAGES_OF.get(word, ()) for word in words)


def is_latin(text: str) -> bool:
    """Whether most letters of `text` are Latin ones."""
    letters = [found.lastgroup == "latin" for found in _SCRIPTS.finditer(text[:_MOST_CHARACTERS])]
    return sum(letters) * 2 > len(letters)
