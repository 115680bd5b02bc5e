"""The page of usage shows people their own calls, and staff everybody's."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from providers.models import UsageLimit
from tests.cast import Cast, make_user
from tests.providers.usage_rows import make_record

pytestmark = pytest.mark.django_db


def page(viewer: User, query: dict[str, str] | None = None, *, status: int = 200) -> str:
    client = Client()
    client.force_login(viewer)
    reply = client.get(reverse("usage"), query or {})
    assert reply.status_code == status
    return reply.content.decode()


@pytest.fixture
def staff(db: None) -> User:
    return make_user("chief", is_superuser=True)


def test_a_person_sees_their_own_calls_alone(cast: Cast) -> None:
    make_record(cast.owner, model="mine", cost=Decimal("0.25"))
    make_record(cast.mate, model="theirs", cost=Decimal("0.75"))
    own = page(cast.owner, {"user": str(cast.mate.pk)})
    table = own.partition('id="by-model"')[2]
    assert "acme/mine" in table
    assert "acme/theirs" not in table
    assert "$0.25" in own
    assert "$0.75" not in own
    assert "mate@example.com" not in own


def test_the_filters_of_a_person_offer_no_model_of_others(cast: Cast) -> None:
    make_record(cast.owner, model="mine")
    make_record(cast.mate, model="theirs")
    assert "theirs" not in page(cast.owner)


def test_staff_sees_everybody_and_may_choose_one(cast: Cast, staff: User) -> None:
    make_record(cast.owner, model="mine")
    make_record(cast.mate, model="theirs")
    make_record(None, model="vec", purpose="embed_passages")
    everybody = page(staff)
    assert "mate@example.com" in everybody
    assert "Background work" in everybody
    one = page(staff, {"user": str(cast.mate.pk)}).partition('id="by-model"')[2]
    assert "acme/theirs" in one
    assert "acme/mine" not in one
    background = page(staff, {"user": "none"}).partition('id="by-model"')[2]
    assert "acme/vec" in background
    assert "acme/theirs" not in background


def test_the_chart_is_drawn_on_the_server_with_a_table_beside_it(cast: Cast) -> None:
    make_record(cast.owner)
    html = page(cast.owner)
    assert html.count("<rect ") == 30
    assert 'role="img" aria-label="Tokens a day from' in html
    assert "The same as a table" in html
    assert " style=" not in html
    assert "<script>" not in html


def test_a_link_shows_cost_in_place_of_tokens_and_keeps_the_filters(cast: Cast) -> None:
    make_record(cast.owner)
    html = page(cast.owner, {"show": "cost", "purpose": "answer"})
    assert "Cost a day from" in html
    assert "purpose=answer&amp;" in html
    assert "show=calls" in html


def test_days_can_be_chosen(cast: Cast) -> None:
    make_record(cast.owner, days_ago=5, model="older")
    today = timezone.localdate()
    long_ago = {"first": str(today - timedelta(days=6)), "last": str(today - timedelta(days=5))}
    assert "older" in page(cast.owner, long_ago).partition('id="by-model"')[2]
    assert "No calls in these days" in page(cast.owner, {"first": str(today), "last": str(today)})


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"first": "2026-03-02", "last": "2026-03-01"}, "The first day is after the last one."),
        ({"first": "2020-01-01", "last": "2026-03-01"}, "At most 366 days"),
        ({"first": "soon"}, "Enter a valid date."),
        ({"first": "0001-01-01", "last": "0001-01-02"}, "Choose days between"),
        ({"last": "9999-12-31"}, "Choose days between"),
        ({"model": "acme/none"}, "Select a valid choice."),
        ({"purpose": "mischief"}, "Select a valid choice."),
    ],
)
def test_a_wrong_filter_is_named_and_the_last_days_are_shown(
    cast: Cast, query: dict[str, str], said: str
) -> None:
    make_record(cast.owner)
    html = page(cast.owner, query, status=400)
    assert said in html
    assert html.count("<rect ") == 30


def test_the_menu_leads_to_the_page(cast: Cast) -> None:
    assert f'href="{reverse("usage")}"' in page(cast.owner)


def test_people_see_the_limits_that_hold_for_them(cast: Cast) -> None:
    UsageLimit.objects.create(user=cast.owner, period="day", most_tokens=1_000)
    UsageLimit.objects.create(user=cast.mate, period="day", most_tokens=77_000)
    make_record(cast.owner, input_tokens=800, output_tokens=10)
    html = page(cast.owner)
    assert "Your limits" in html
    assert (
        '<progress class="nearly-spent" max="100" value="81" aria-label="owner@example.com: 810 '
        in html
    )
    assert "Begins anew on" in html
    assert "77,000" not in html
    make_record(cast.owner, input_tokens=800)
    spent = page(cast.owner)
    assert "Used up: choose the quotes without a model" in spent
    assert '<progress class="spent"' in spent
