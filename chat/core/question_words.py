"""Words by language for questions about notes, and headings that make none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language asks. `title` and `section` have the gaps {title} and {heading}.

    A heading that begins with one of `clauses` is half a question: `clause` makes it one,
    with the gap {rest}.
    """

    title: str
    section: str
    clause: str
    clauses: tuple[str, ...]


WORDINGS = {
    "en": Wording(
        "What should I know about {title}?",
        "What should I know about {heading} in {title}?",
        "Can you explain {rest}?",
        ("how", "what", "where", "which", "who", "why", "whether"),
    ),
    "de": Wording(
        "Was sollte ich über „{title}“ wissen?",
        "Was sollte ich zum Thema „{heading}“ aus „{title}“ wissen?",
        "Kannst du erklären, {rest}?",
        ("wie", "warum", "weshalb", "wieso", "was", "wann", "wo", "wer", "wem", "welche", "ob"),
    ),
    "ru": Wording(
        "Что нужно знать о теме «{title}»?",
        "Что нужно знать о теме «{heading}» из заметки «{title}»?",
        "{rest}?",
        ("как", "почему", "зачем", "когда", "где", "куда", "кто", "кому", "сколько"),
    ),
    "uk": Wording(
        "Що варто знати про тему «{title}»?",
        "Що варто знати про тему «{heading}» з нотатки «{title}»?",
        "{rest}?",
        ("як", "чому", "навіщо", "коли", "де", "куди", "хто", "кому", "скільки"),
    ),
    "zh": Wording(
        "关于“{title}”有哪些要点？", "《{title}》里的“{heading}”有哪些要点？", "{rest}？", ()
    ),
    "ja": Wording(
        "「{title}」の要点は何ですか？",
        "「{title}」の「{heading}」の要点は何ですか？",
        "{rest}？",
        (),
    ),
    "fr": Wording(
        "Que faut-il savoir sur « {title} » ?",
        "Que faut-il savoir sur « {heading} » dans « {title} » ?",
        "{rest} ?",
        ("comment", "pourquoi", "quand", "où", "qui", "combien", "quel", "quelle", "quels"),
    ),
    "es": Wording(
        "¿Qué hay que saber sobre «{title}»?",
        "¿Qué hay que saber sobre «{heading}» en «{title}»?",
        "¿{rest}?",
        ("cómo", "por qué", "cuándo", "dónde", "quién", "cuánto", "cuál"),
    ),
    "it": Wording(
        "Che cosa bisogna sapere su «{title}»?",
        "Che cosa bisogna sapere su «{heading}» in «{title}»?",
        "{rest}?",
        ("come", "perché", "quando", "dove", "chi", "quanto", "quale"),
    ),
    "pt": Wording(
        "O que é preciso saber sobre “{title}”?",
        "O que é preciso saber sobre “{heading}” em “{title}”?",
        "{rest}?",
        ("como", "por que", "quando", "onde", "quem", "quanto", "qual"),
    ),
    "nl": Wording(
        "Wat moet ik weten over “{title}”?",
        "Wat moet ik weten over “{heading}” in “{title}”?",
        "Kun je uitleggen {rest}?",
        ("hoe", "waarom", "wat", "wanneer", "waar", "wie", "welke", "of"),
    ),
    "pl": Wording(
        "Co warto wiedzieć o „{title}”?",
        "Co warto wiedzieć o „{heading}” w „{title}”?",
        "{rest}?",
        ("jak", "dlaczego", "kiedy", "gdzie", "kto", "ile"),
    ),
}
ENGLISH_OPENINGS = (
    ("how to ", "How do I {rest}?"),
    ("what to ", "What should I {rest}?"),
    ("when to ", "When should I {rest}?"),
    ("where to ", "Where should I {rest}?"),
    ("when ", "What happens when {rest}?"),
    ("if ", "What happens if {rest}?"),
    ("without ", "What happens without {rest}?"),
)
_OBJECTS = "a an the to with from your our after into up in on by for"
_LEANS = """
for from over under with in on at by of to into inside outside about between through across via
like as after before during while until once and or but also more other others this that these
those it its them their welcome
"""
_VERBS = """
is are was were has have may can must should will does did happens happened comes goes makes needs
costs takes holds counts belongs changes stays
"""
_SMALL = "the a an our your my all every each no new old"
# Behind a word in -ing they make it something that is done: "Streaming an answer".
ENGLISH_OBJECTS = frozenset(_OBJECTS.split())
# A heading that begins or ends with one of them needs the text around it to say what it is about.
ENGLISH_LEANS = frozenset(_LEANS.split())
# Behind "what", "who" or "which files" they make a question of it as it stands.
ENGLISH_VERBS = frozenset(_VERBS.split())
# Half a question in fewer words leans on its note: "What you see".
ENGLISH_CLAUSE_WORDS = 4
# English words that begin a heading in lower case inside a sentence.
ENGLISH_SMALL = frozenset(_SMALL.split())

# Headings that many notes have and that say nothing of the one they stand in.
_GENERIC = """
readme|index|home|untitled|inbox|changelog|todo|to do|to-do|welcome|overview|notes|note|see also|
summary|introduction|intro|background|details|misc|miscellaneous|general|other|others|references|
reference|links|resources|related|related notes|appendix|contents|table of contents|toc|conclusion|
conclusions|faq|tasks|questions|open questions|next steps|action items|agenda|attendees|
participants|log|history|about|description|purpose|context|goals|goal|example|examples|usage|tips|
warning|warnings|problems|issues|status|ideas|comments|template|metadata|tags|sources|source|
further reading|more|more information|the list|the rest|list|information|info|preface|abstract|tldr|
tl;dr|definition|definitions|glossary|results|discussion|remarks|updates|news|start|basics|advanced|
getting started|archive|backlinks|properties|footnotes|connect|modes|data|errors|scripts|commands|
filters|settings|options|measured|setup|installation|requirements|features|rules|events|tools|
übersicht|überblick|notizen|notiz|siehe auch|zusammenfassung|einleitung|einführung|hintergrund|
details|sonstiges|allgemeines|allgemein|verweise|quellen|links|anhang|inhalt|inhaltsverzeichnis|
fazit|aufgaben|fragen|offene fragen|nächste schritte|teilnehmer|tagesordnung|verlauf|beschreibung|
zweck|kontext|ziele|ziel|beispiel|beispiele|tipps|hinweise|hinweis|probleme|stand|ideen|weiteres|
weiterführendes|ergebnisse|grundlagen|literatur|
обзор|заметки|заметка|см. также|смотри также|кратко|итог|итоги|введение|вступление|подробности|
детали|разное|общее|прочее|ссылки|источники|приложение|содержание|оглавление|заключение|вывод|
выводы|задачи|вопросы|открытые вопросы|дальнейшие шаги|следующие шаги|повестка|участники|история|
описание|цель|цели|контекст|пример|примеры|советы|примечания|примечание|проблемы|статус|идеи|
комментарии|ещё|еще|дополнительно|результаты|основы|литература|
огляд|нотатки|нотатка|див. також|підсумок|підсумки|вступ|подробиці|деталі|різне|загальне|інше|
посилання|джерела|додаток|зміст|висновок|висновки|завдання|питання|наступні кроки|учасники|історія|
опис|мета|контекст|приклад|приклади|поради|примітки|проблеми|стан|ідеї|результати|
概述|概览|概要|笔记|备注|另见|参见|相关|相关笔记|总结|小结|摘要|介绍|简介|引言|前言|背景|详情|细节|其他|杂项|
参考|参考资料|链接|资源|附录|目录|结论|任务|待办|问题|下一步|议程|参与者|日志|历史|说明|描述|目的|目标|示例|
例子|用法|提示|注意|状态|想法|评论|来源|更多|结果|基础|
概論|はじめに|まとめ|参考文献|関連|目次|メモ|背景|目的|例|注意|課題|
aperçu|résumé|voir aussi|notes|liens|conclusion|exemples|références|détails|divers|contexte|
objectif|resumen|véase también|ver también|notas|enlaces|conclusión|conclusiones|ejemplos|
referencias|detalles|varios|contexto|objetivo|introducción|
panoramica|riassunto|vedi anche|note|collegamenti|conclusione|esempi|riferimenti|dettagli|contesto|
visão geral|resumo|veja também|ligações|conclusão|exemplos|referências|detalhes|
overzicht|samenvatting|zie ook|notities|koppelingen|conclusie|voorbeelden|verwijzingen|
przegląd|podsumowanie|zobacz też|notatki|odnośniki|wnioski|przykłady|szczegóły
"""
GENERIC = frozenset(_GENERIC.replace("\n", "").split("|"))

# Words of which a heading that is only a date, or only a count, is made.
_CALENDAR = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
today yesterday tomorrow week day month quarter year the of st nd rd th
step part chapter section page version item phase
januar februar märz mai juni juli oktober dezember mär okt dez
montag dienstag mittwoch donnerstag freitag samstag sonntag heute gestern morgen
woche kw tag monat quartal jahr schritt teil kapitel abschnitt seite
январь января февраль февраля март марта апрель апреля май мая июнь июня июль июля август августа
сентябрь сентября октябрь октября ноябрь ноября декабрь декабря
понедельник вторник среда четверг пятница суббота воскресенье сегодня вчера завтра
неделя день месяц квартал год года г шаг часть глава раздел
січень січня лютий лютого березень березня квітень квітня травень травня червень червня липень липня
серпень серпня вересень вересня жовтень жовтня листопад листопада грудень грудня
понеділок вівторок середа четвер п'ятниця субота неділя тиждень рік крок частина розділ
janvier février mars avril juin juillet août septembre octobre novembre décembre
lundi mardi mercredi jeudi vendredi samedi dimanche semaine étape partie chapitre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
lunes martes miércoles jueves viernes sábado domingo semana paso parte capítulo de
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
年 月 日 号 第 周 星期 季度 步 章 节 部分
"""
CALENDAR = frozenset(_CALENDAR.split())
