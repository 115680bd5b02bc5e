"""How near passages are to questions that have nothing to do with them, under one model.

Each embedding model has a scale of its own: what is far for one is near for another. A fixed
list of everyday questions in a dozen languages, about what teams write no notes on, says where
chance ends: the cosine of each to its nearest of a few hundred passages. Some vault may be
about just that, so a low quantile counts, and never more than chance itself explains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

QUESTIONS = (
    "How long should a soft-boiled egg cook?",
    "Which team won the football world cup in 1966?",
    "What is the best way to train a puppy not to bite?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How far is the moon from the earth?",
    "Which chords does a beginner on the guitar learn first?",
    "How often does a cactus need water?",
    "What do wild hedgehogs eat in winter?",
    "Wie lange muss ein Hefeteig gehen?",
    "Welche Farbe haben die Blüten des Löwenzahns?",
    "Wer schrieb die Oper Die Zauberflöte?",
    "Wie hoch ist der höchste Berg der Alpen?",
    "Was hilft gegen Schluckauf?",
    "Wie strickt man eine einfache Mütze?",
    "Quelle est la recette de la pâte à crêpes ?",
    "Combien de cordes a un violon ?",
    "Quel fleuve traverse la ville de Budapest ?",
    "Comment enlever une tache de vin rouge ?",
    "À quelle vitesse court un guépard ?",
    "¿Cuántos jugadores tiene un equipo de baloncesto?",
    "¿Cómo se prepara una tortilla de patatas?",
    "¿En qué año se hundió el Titanic?",
    "¿Qué planeta tiene los anillos más grandes?",
    "¿Cuánto vive una tortuga marina?",
    "Как правильно варить гречневую кашу?",
    "Кто первым полетел в космос?",
    "Сколько струн у балалайки?",
    "Когда цветёт сирень?",
    "Как научить попугая говорить?",
    "Какая самая длинная река в Африке?",
    "Скільки часу варити кукурудзу?",
    "Хто написав «Лісову пісню»?",
    "Quanto tempo cuoce un risotto allo zafferano?",
    "In che città si trova la torre pendente?",
    "红烧肉怎么做才好吃？",
    "长城有多长？",
    "大熊猫一天吃多少竹子？",
    "二胡有几根弦？",
    "味噌汁の作り方を教えてください。",
    "富士山の高さは何メートルですか？",
    "桜はいつ咲きますか？",
    "आम का अचार कैसे बनाया जाता है?",
    "ताजमहल किस शहर में है?",
    "كم عدد أضلاع المسدس؟",
    "كيف أعتني بنبتة الصبار؟",
    "Quantas pernas tem uma aranha?",
    "Jak upiec chleb na zakwasie?",
    "Ile trwa mecz piłki ręcznej?",
)
"""Whoever changes one measures every model anew."""

LEAST_PASSAGES, MOST_PASSAGES = 100, 400
# Of the questions, those whose nearest passage is no nearer. With the bundled model, questions
# wholly centred, 0.45 lands at the bar that was measured by hand, 0.33 (median of nine sets of
# notes), 0.25 at 0.30, which lost no answered question that 0.33 keeps.
_QUANTILE = 0.25
# In deviations of all cosines above their mean. Chance reaches 2 to 3 among 400 passages.
_MOST_DEVIATIONS = 3.0
# Stored vectors are exact to 0.001: a scale this narrow cannot be told from rounding.
_LEAST_SPREAD = 0.01


@dataclass(frozen=True, slots=True)
class Noise:
    """`bar`: the cosine under which nothing is near a question; None where that cannot be told.
    `spread`: the deviation of all cosines that were compared, `passages` how many were."""

    bar: float | None
    spread: float
    passages: int


def noise_of(questions: Vectors, passages: Vectors) -> Noise:
    """What unit vectors of QUESTIONS, float32 (n, d), and of some passages (m, d) tell."""
    count = len(passages)
    if count < LEAST_PASSAGES or not len(questions):
        return Noise(None, 0.0, count)
    cosines = questions @ passages.T
    spread = float(cosines.std())
    if not spread >= _LEAST_SPREAD:
        return Noise(None, spread, count)
    nearest = float(np.quantile(cosines.max(axis=1), _QUANTILE))
    most = float(cosines.mean()) + _MOST_DEVIATIONS * spread
    return Noise(min(nearest, most), spread, count)
