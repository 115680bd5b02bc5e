"""The search statement weighs a note as its reader is told it stands."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.core import sql
from retrieval.core.standing import OUTDATED, outdated_by

TODAY = date(2026, 11, 30)
DAYS = st.dates(date(2023, 1, 1), date(2028, 12, 31)) | st.integers(-3, 3).map(
    lambda days: TODAY + timedelta(days=days)
)
SPELLINGS = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT10:00:00", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y")
WRITTEN = st.builds(lambda day, how: day.strftime(how), DAYS, st.sampled_from(SPELLINGS))
EITHER_WAY = DAYS.map(lambda day: f"{day.day}/{day.month}/{day.year}")
VALUES = st.one_of(
    st.sampled_from(["", None, False, True, "New", "[[New]]", "archived", "Draft", "soon", 7]),
    WRITTEN,
    DAYS.map(lambda day: f"{day.day}.{day.month}.{day.year}"),
    EITHER_WAY,
)
PROPERTY = VALUES | VALUES.map(lambda value: [value]) | VALUES.map(lambda value: [[value]])


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.dictionaries(st.sampled_from(["superseded_by", "status", "valid_until"]), PROPERTY))
def test_a_note_counts_less_when_its_reader_is_told_that_it_no_longer_holds(
    properties: dict[str, object],
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {sql.STANDING} FROM (SELECT %(properties)s::jsonb AS properties) AS n",
            {
                "properties": json.dumps(properties),
                "outdated": list(OUTDATED),
                "today": TODAY.isoformat(),
            },
        )
        weight = float(cursor.fetchone()[0])
    assert (weight < 1) == bool(outdated_by(properties, today=TODAY)[0])
