"""Words for times, as questions in many languages have them."""

from __future__ import annotations

from collections.abc import Iterable

_WEEKDAYS = (
    (
        "monday montag lundi lunes lunedì maandag poniedziałek pondělí понедельник понедельника "
        "понеділок понеділка 周一 週一 星期一 月曜日 월요일"
    ),
    (
        "tuesday dienstag mardi martes martedì dinsdag wtorek úterý вторник вторника вівторок "
        "вівторка 周二 週二 星期二 火曜日 화요일"
    ),
    (
        "wednesday mittwoch mercredi miércoles mercoledì woensdag środa środę środy středa среда "
        "среду среды середа середу середи 周三 週三 星期三 水曜日 수요일"
    ),
    (
        "thursday donnerstag jeudi jueves giovedì donderdag czwartek čtvrtek четверг "
        "четверга четвер 周四 週四 星期四 木曜日 목요일"
    ),
    (
        "friday freitag vendredi viernes venerdì vrijdag piątek pátek пятница пятницу пятницы "
        "п'ятниця п'ятницю п'ятниці 周五 週五 星期五 金曜日 금요일"
    ),
    (
        "saturday samstag sonnabend samedi sábado sabato zaterdag sobota sobotę soboty "
        "суббота субботу "
        "субботы субота суботу суботи 周六 週六 星期六 土曜日 토요일"
    ),
    (
        "sunday sonntag dimanche domingo domenica zondag niedziela niedzielę niedzieli neděle "
        "воскресенье воскресенья неділя неділю неділі 周日 週日 星期天 星期日 日曜日 일요일"
    ),
)
WEEKDAY_OF = {
    name.casefold(): number for number, names in enumerate(_WEEKDAYS) for name in names.split()
}
"""Monday is 0."""

_UNITS = {
    "day": "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen dni dzień "
    "den день дня дней дні днів 天 日 일",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken "
    "tydzień tygodniu tygodnia tygodnie tygodni týden týdnu týdne неделя неделю неделе недели "
    "недель тиждень тижня тижні тижнів 周 週 星期 礼拜 週間 주",
    "month": "month months monat monate monaten monats mois mes meses mese mesi mês maand maanden "
    "miesiąc miesiącu miesiąca miesiące miesięcy měsíc měsíci месяц месяца месяце месяцев "
    "місяць місяця місяці місяців 月 个月 個月 ヶ月 か月 달 개월",
    "quarter": "quarter quarters quartal trimestre kwartał kwartale kwartaal квартал квартале "
    "кварталі кварталу 季度",
    "year": "year years jahr jahre jahren année années an ans año años anno anni ano anos jaar rok "
    "roku lat lata rokem год года году лет рік року році років 年 년",
}
UNIT_OF = {name.casefold(): unit for unit, names in _UNITS.items() for name in names.split()}

_DAYS_AGO = (
    (
        "today heute hoy oggi hoje vandaag dzisiaj dziś dnes сегодня сьогодні bugün σήμερα اليوم "
        "היום วันนี้ 今天 今日 오늘 aujourd'hui aujourd’hui"
    ),
    (
        "yesterday gestern ayer ieri ontem gisteren wczoraj včera вчера вчора dün χθες χτες أمس "
        "אתמול เมื่อวาน 昨天 昨日 어제"
    ),
    (
        "vorgestern anteayer anteontem eergisteren przedwczoraj předevčírem позавчера позавчора "
        "前天 一昨日 그제 그저께"
    ),
)
DAYS_AGO = {word.casefold(): days for days, words in enumerate(_DAYS_AGO) for word in words.split()}
UNSPACED_DAYS = tuple(word for word in DAYS_AGO if word[0] >= "\u0e00")
"""Those that are written without blanks around them."""

_COUNTED = (
    "one a an ein einem einer eine une un una uno один одну одной одного одним jeden jedną 一 한",
    "two zwei deux dos due dois duas twee dwa dwie два две dva dvě дві 二 两 兩 두",
    "three drei trois tres tre três drie trzy три tři 三 세",
    "four vier quatre cuatro quattro quatro cztery четыре чотири čtyři 四 네",
    "five fünf cinq cinco cinque vijf pięć пять п'ять pět 五 다섯",
    "six sechs seis sei zes sześć шесть шість šest 六 여섯",
    "seven sieben sept siete sette sete zeven siedem семь сім sedm 七 일곱",
    "eight acht huit ocho otto oito osiem восемь вісім osm 八 여덟",
    "nine neun neuf nueve nove negen dziewięć девять дев'ять devět 九 아홉",
    "ten zehn dix diez dieci dez tien dziesięć десять deset 十 열",
)
NUMBER_OF = {
    name.casefold(): number for number, names in enumerate(_COUNTED, 1) for name in names.split()
}
_ORDINALS = (
    "first 1st erstes ersten premier primer primo primeiro первый первого первом перший 第一 i",
    "second 2nd zweites zweiten deuxième segundo secondo второй второго втором другий 第二 ii",
    (
        "third 3rd drittes dritten troisième tercer terzo terceiro третий третьего третьем третій "
        "第三 iii"
    ),
    (
        "fourth 4th viertes vierten quatrième cuarto quarto четвертый четвёртый четвертого "
        "четвёртого четвертом четвертий 第四 iv"
    ),
)
QUARTER_OF = {
    name.casefold(): number for number, names in enumerate(_ORDINALS, 1) for name in names.split()
}

LAST = (
    r"last|past|previous|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?|vorig|afgelopen|прошл\w+|"
    r"минул\w+|последн\w+|останн\w+|últim[oa]s?|passad[oa]|zeszł\w+|ubiegł\w+|minul\w+|ostatni\w*|"
    r"ultim[aoie]"
)
THIS = (
    r"this|current|diese[nmrs]?|cette|ce|est[ea]|эт\w+|текущ\w+|цьо\w+|цей|questa|questo|tym|"
    r"ten|deze|dit"
)
AFTER_UNIT = r"derni[eè]re?|pasad[oa]|passad[oa]|scors[oa]"
"""Words for the last one that stand behind its name."""

# Words around a time that say nothing about a subject.
_EMPTY_WORDS = """
    a about all and any at did do does done everything for from happened happen have i in is list
    me my new note notes of on our show something that the there these things to up us was we were
    what whats which with wrote written
    alles alle am aus das dem den der die es gab geschah gibt haben hat ich ihr im in ist los
    gemacht getan meine neu neues notizen passierte passiert über vom von war waren was wir wurde zu
    что было были есть за заметки заметка из и какие какая мы на о об произошло с случилось у я
    делали сделали делал сделал
    що були було за нотатки нотатка які ми на про сталося робили зробили в у
    ai avons de des du en est eu fait il la le les nous notes qu que quoi s sont un une y à
    de del el en es fue ha hay he hemos hicimos la las los mis nota notas pasó que qué se un una
    abbiamo che cosa di è fatto il la le nelle nota note successo
    na o que fizemos foi aconteceu nota notas
    co było robiliśmy w we notatki
    笔记 的 有 什么 什麼 有什么 做了什么 做了什麼 我们 我們 了 何をした は の 뭐 했어 무엇을
"""
EMPTY = frozenset(_EMPTY_WORDS.split())


def any_of(names: Iterable[str]) -> str:
    """A regular expression for one of `names`, the longest that fits."""
    escaped = (name.replace(".", r"\.") for name in names)
    return "|".join(sorted(escaped, key=len, reverse=True))
