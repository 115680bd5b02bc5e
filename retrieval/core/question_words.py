"""Words that ask, in languages that write no spaces between words.

PostgreSQL drops "what" and "where" as stop words. Chinese and Japanese text is searched by
pairs of characters, Korean too, Thai by triples: there the pairs of "what is" count as the
rarest of a question, since notes state and seldom ask.
"""

from __future__ import annotations

import re

_CHINESE = (
    "为什么|為什[么麼]|為甚麼|[什甚][么麼]|怎[么麼][样樣]|怎[么麼]|怎[样樣]|如何|[为為]何|何[时時]|何地|"
    "何[处處]|哪些|哪[个個]|哪[里裡裏]|哪[儿兒]|哪位|哪[种種]|哪(?!吒)|[谁誰]|多少|是否|有[没沒]有"
)
# の before いつ and the like would be a part of another word: などの, ところどころ, よだれ.
_JAPANESE = (
    "どのよう[にな]|どうやって|どうして|(?<!な)どの|どこ(?!ろ)|(?<![けま])どれ|いくつ|なぜ|何故|"
    "(?<![幾如])何(?![时時地处處])|ですか|ますか|ましたか|でしょうか"
)
_KOREAN = (
    "(?<![가-힣])(?:무엇|어디|언제|누구|누가|어떻게|어떤|어느|얼마나)[가-힣]{0,3}(?![가-힣])"
    "|(?<![가-힣])왜(?![가-힣])"
)
_THAI = "อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|เมื่อใด|ทำไม|อย่างไร|ยังไง|เท่าไหร่|เท่าไร|เท่าใด|หรือไม่|ใคร(?!่)"
_ASKING = re.compile(
    rf"是?(?:{_CHINESE})是?|{_JAPANESE}|{_KOREAN}|{_THAI}|(?<=[\u4e00-\u9fff])[吗嗎](?=\W|$)"
)
_WORD = re.compile(r"\w")


def without_question_words(text: str) -> str:
    """`text` with a space for each word that asks, in Chinese, Japanese, Korean and Thai. A text
    of such words alone stays as it is: they are what is looked for."""
    if text.isascii():
        return text
    left = _ASKING.sub(" ", text)
    return left if _WORD.search(left) else text
