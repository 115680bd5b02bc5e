"""How models begin when they say that they have no answer, in the languages the index knows."""

from __future__ import annotations

import regex

from chat.core.citations import sentence_spans

_SUBJECT = (
    r"(?:the (?:provided |given |available )?(?:notes?|passages?|sources?|documents?|context)"
    r"|(?:these|your|my) notes?|there is|there are|none of the|no (?:notes?|passages?|sources?))"
)
_REFUSALS = (
    r"(?:i['’]?m |i am )?(?:very )?sorry[,.!:;]|(?:i['’]m |i am )?(?:very )?sorry,? (?:but )?i\b"
    r"|i(?: am|['’]m) (?:unable|not able|not sure)\b|i (?:cannot|can['’]?t|could not|couldn['’]t)\b"
    r"|i (?:do not|don['’]t|did not|didn['’]t) (?:know|have|find|see)\b|i have no\b"
    r"|(?:cannot|can['’]t|unable to) answer(?: (?:this|that|the|your)\b|[.!]|$)|as an ai\b"
    rf"|{_SUBJECT}\b[^.!?\n]{{0,60}}\b(?:no|not|nothing|none|[a-z]+n['’]t)\b"
    r"|(?:es )?tut mir leid|leider\b"
    r"|ich (?:kann|weiß|konnte|finde)\b[^.!?\n]{0,60}\b(?:nicht|kein\w*)\b"
    r"|(?:die|den|in den) (?:notizen|passagen|quellen)\b[^.!?\n]{0,60}\b(?:nicht|kein\w*|nichts)\b"
    r"|je (?:suis désolé|ne (?:peux|sais|trouve)|n['’]ai)\b|désolée?\b|les (?:notes|passages) ne\b"
    r"|lo siento|no (?:puedo|sé)\b|las notas no\b"
    r"|(?:к сожалению|извините|простите|я не (?:могу|знаю|нашла?))\b"
    r"|(?:в )?заметк(?:и|ах)\b[^.!?\n]{0,60}\b(?:не|нет|ничего)\b"
    r"|(?:на жаль|вибачте|пробачте|я не (?:можу|знаю|знайшов|знайшла))\b"
    r"|(?:у |в )?нотатк(?:и|ах)\b[^.!?\n]{0,60}\b(?:не|немає|нічого)\b"
    r"|抱歉|对不起|我(?:无法|不能|不知道)|笔记中?(?:没有|未)|申し訳|わかりません|ノートには"
)
_REFUSAL = regex.compile(rf"[\s*_#>\"'“”«»-]*(?:{_REFUSALS})", regex.IGNORECASE)
# A figure, a colon or a turn of the sentence: it says something after all.
_GOES_ON = regex.compile(
    r"[:\d]|\b(?:but|however|although|though|aber|jedoch|doch|obwohl|mais|cependant|pero|aunque"
    r"|но|однако|хотя|але|проте|хоча)\b|但|不过|しかし|が、",
    regex.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether `text` begins as what says that there is no answer."""
    return _REFUSAL.match(text) is not None


def is_refusal_alone(text: str) -> bool:
    """Whether `text` is one sentence that says so, and nothing besides."""
    plain = text.strip()
    sentences = sentence_spans(plain)
    return len(sentences) == 1 and is_refusal(plain) and not _GOES_ON.search(plain)
