"""The other spelling of a question's words: British for American, names for Greek letters.

It is looked for beside what was typed, as another form of the same word. A spelling that no
note has changes nothing, so that a rule need not know its exceptions: `laboratory` gives
`labouratory`, which stands nowhere.
"""

from __future__ import annotations

import regex

_OUR = (
    "^arm|behavi|^clam|^col|endeav|fav|^ferv|^flav|^harb|hon|^hum|^lab|neighb|^od|^parl|^ranc|"
    "^rig|^rum|^sav|^splend|tum|vap|^vig"
)
_DOUBLED = (
    "cance|channe|counse|dia|equa|fue|initia|labe|leve|marve|mode|pane|peda|quarre|riva|shove|"
    "signa|tota|trave|tunne"
)
# What is spelled in two ways, by endings and after certain beginnings: the British way first.
_RULES: tuple[tuple[regex.Pattern[str], str, str], ...] = tuple(
    (regex.compile(pattern), british, american)
    for pattern, british, american in (
        (rf"(?<={_OUR})ou?r", "our", "or"),
        (r"(?<=\w{3})i[sz](?=(?:e|ed|es|er|ers|ing|able|ations?|ational)$)", "is", "iz"),
        (r"(?<=\w{2})y[sz](?=(?:e|ed|es|er|ers|ing)$)", "ys", "yz"),
        (r"(?<=calib|cent|fib|lit|lust|met|sab|spect|theat)(?:re|er)(?=s?$)", "re", "er"),
        (rf"(?<={_DOUBLED})ll?(?=(?:ed|er|ers|ing|or|ors)$)", "ll", "l"),
        (r"(?<=[chknrsx]|pid)a?emi(?=(?:as?|c|cally)$)", "aemi", "emi"),
    )
)
# Beginnings of words, and whole words.
_WORDS = """
    haem hem  paediat pediat  orthopaed orthoped  encyclopaed encycloped  aetiolog etiolog
    anaesth anesth  oestro estro  oedema edema  foetus fetus  foetal fetal  oesoph esoph
    diarrhoea diarrhea  gynaeco gyneco  coeliac celiac  apnoea apnea  dyspnoea dyspnea
    manoeuvre maneuver  archaeo archeo  palaeo paleo  mediaev mediev  faec fec  homoeo homeo
    sulph sulf  alumini alumin  catalogue catalog  dialogue dialog  analogue analog
    licence license  defence defense  offence offense  pretence pretense  programme program
    grey gray  mould mold  plough plow  sceptic skeptic  ageing aging  judgement judgment
    acknowledgement acknowledgment  artefact artifact  jewellery jewelry
    enquir inquir  instalment installment  enrolment enrollment  fulfilment fulfillment
    skilful skillful  pyjama pajama  yoghurt yogurt  tyre tire  speciality specialty
    aeroplane airplane
"""
_PAIRS = _WORDS.split()
_BEGINNINGS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)) | dict(
    zip(_PAIRS[1::2], _PAIRS[::2], strict=True)
)
_BEGINS = regex.compile("|".join(sorted(_BEGINNINGS, key=len, reverse=True)))
# A word on its own; parts of identifiers are what they are.
_WORD = regex.compile(r"(?<![\w./@#:])\p{Latin}{4,}(?![\w/@:])")

_GREEK = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau
    phi chi psi omega
"""
_LETTERS = dict(zip("αβγδεζηθικλμνξπρστφχψω", _GREEK.split(), strict=True))
_NAMES = {name: letter for letter, name in _LETTERS.items() if len(name) > 3}
# A letter that is no part of a Greek word; a name by itself, or behind what is no small letter:
# TNF-α, TNFα, β-catenin and TNF-alpha, TNFalpha, beta-catenin.
_LETTER = regex.compile(r"(?<!\p{Greek})\p{Greek}(?!\p{Greek})")
_NAME = regex.compile(rf"(?<![a-zß-ÿ]|\p{{Greek}})(?i:{'|'.join(_NAMES)})(?!\p{{L}})")


def respelled(text: str) -> str:
    """`text` with its words in their other spelling, in the same number and order; empty where
    none has another."""
    other = _LETTER.sub(_name, text)
    if other == text:
        other = _NAME.sub(lambda found: _NAMES[found[0].lower()], text)
    other = _WORD.sub(_other_spelling, other)
    return "" if other == text else other


def _name(found: regex.Match[str]) -> str:
    letter = found[0].lower()
    return _LETTERS.get(letter, found[0])


def _other_spelling(found: regex.Match[str]) -> str:
    word = found[0].lower()
    begin = _BEGINS.match(word)
    other = _BEGINNINGS[begin[0]] + word[begin.end() :] if begin else word
    for pattern, british, american in _RULES:
        part = pattern.search(other)
        if part:
            spelled = american if part[0] == british else british
            other = other[: part.start()] + spelled + other[part.end() :]
    return found[0] if other == word else other
