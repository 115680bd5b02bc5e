"""Words that carry a question and say nothing of its subject."""

from __future__ import annotations

import unicodedata

from providers.core.language import COMMON_WORDS, language_of

_ASKING = {
    "en": "about any could do does did done give has have happen happens i it its me my our "
    "please should show so tell than their them then there these they this those us use "
    "used using was were while will would you your",
    "de": "als am auch aus dann dass dein denn diese dieser es gibt haben hat hier hatte ihr ihre "
    "kein keine man mein mir mich muss nach nur ob passiert sein sich soll so unser über um "
    "vom was werde wurde zur",
    "ru": "а без бы был была были было быть в вам вас ваш все всё вы где да для до его ее если "
    "есть еще же за зачем и из или им их к как какая какие какого какой какую когда кто "
    "куда ли мне мы на над надо наш не него нет ни но ну о об он она они оно от откуда по "
    "под покажи почему при про расскажи с сколько со так такое такой там то того тоже "
    "только том ты у уже чего чем что чтобы эта эти это этого этот я",
    "uk": "а без бути був була було в вам вас все ви де до для його її є з за і й із як яка яке "
    "які який коли ми на над не ні про при по скільки та так там те ти то тому у хто це цей "
    "ця чи чому що щоб я",
    "fr": "a ai as ce ces comment est-ce eux fait faire il je leur lui ma me mes mon ne nos notre "
    "ou par se ses si son ta te tes ton tu un vos votre y",
    "es": "a al como cual cuando donde eso esa ese ha hay he hacer me mi muy nos o otra otro "
    "puede puedo que quien si sin sobre son sus te tu tus unos unas yo",
}
_ALWAYS = ("en",)
_CYRILLIC = ("ru", "uk")


def function_words(question: str) -> frozenset[str]:
    """Function words of the question's language, and of English, as `folded` writes them."""
    language = language_of(question)
    languages = {*_ALWAYS, language, *(_CYRILLIC if language in {"bg", "sr", "ru", "uk"} else ())}
    return frozenset().union(*(_OF.get(it, frozenset()) for it in languages))


def folded(text: str) -> str:
    """A text in lower case and without accents, the form in which words are compared."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", kept)


_OF = {
    language: frozenset(
        folded(f"{COMMON_WORDS.get(language, '')} {_ASKING.get(language, '')}").split()
    )
    for language in {*COMMON_WORDS, *_ASKING}
}
