"""Thumbs: whose they are, what admins see of them, and golden questions made of them."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.core.asking import Refused
from chat.feedback import Thumb, give_feedback, make_golden, withdraw_feedback
from chat.models import Feedback, Message
from retrieval.models import EvalQuestion
from tests.cast import Cast, make_user
from tests.chat.pages import add_turn, browser, make_conversation, make_note

pytestmark = pytest.mark.django_db
DOWN = Thumb(is_helpful=False, reason="wrong", comment="  Not in March.  ")


@pytest.fixture
def answer(cast: Cast) -> Message:
    note = make_note(cast.vault)
    cited = [{"n": 1, "quote": "The pump failed in March."}]
    talk = make_conversation(cast.owner)
    return add_turn(talk, "When did it fail?", "In March [1].", note=note, citations=cited)


def test_a_thumb_is_kept_changed_and_taken_back(cast: Cast, answer: Message) -> None:
    give_feedback(cast.owner, answer.conversation_id, answer.pk, DOWN)
    kept = Feedback.objects.get()
    assert (kept.is_helpful, kept.reason, kept.comment) == (False, "wrong", "Not in March.")
    give_feedback(
        cast.owner, answer.conversation_id, answer.pk, Thumb(is_helpful=True, reason="wrong")
    )
    kept.refresh_from_db()
    assert (kept.is_helpful, kept.reason) == (True, "")
    withdraw_feedback(cast.owner, answer.conversation_id, answer.pk)
    assert not Feedback.objects.exists()


def test_only_who_asked_judges(cast: Cast, answer: Message) -> None:
    with pytest.raises(Refused, match="no such"):
        give_feedback(cast.mate, answer.conversation_id, answer.pk, DOWN)


@pytest.mark.parametrize(
    "thumb", [Thumb(is_helpful=False, reason="because"), Thumb(is_helpful=True, comment="x" * 2001)]
)
def test_what_cannot_be_kept_is_refused(cast: Cast, answer: Message, thumb: Thumb) -> None:
    with pytest.raises(Refused):
        give_feedback(cast.owner, answer.conversation_id, answer.pk, thumb)
    assert not Feedback.objects.exists()


def test_an_answer_that_is_being_written_is_not_judged_yet(cast: Cast, answer: Message) -> None:
    Message.objects.filter(pk=answer.pk).update(status=Message.Status.RUNNING)
    with pytest.raises(Refused, match="still being written"):
        give_feedback(cast.owner, answer.conversation_id, answer.pk, DOWN)


def test_the_page_shows_the_thumb_and_asks_why(cast: Cast, answer: Message) -> None:
    page = browser(cast.owner)
    url = f"/c/{answer.conversation_id}/answers/{answer.pk}/feedback"
    assert page.post(url, {"verdict": "down"}).status_code == 302
    shown = page.get(f"/c/{answer.conversation_id}").content.decode()
    assert "The sources do not say that" in shown
    scripts = {"HX-Request": "true"}
    sent = {"verdict": "down", "sent": "1", "reason": "outdated", "comment": "See the new plan"}
    said = page.post(url, sent, headers=scripts).content.decode()
    assert "Thank you." in said
    assert Feedback.objects.get().reason == "outdated"
    assert page.post(url, {"verdict": "down", "reason": "?"}, headers=scripts).status_code == 200
    assert Feedback.objects.get().reason == "outdated"
    page.post(url, {"verdict": "none"})
    assert not Feedback.objects.exists()


def test_the_api_gives_changes_and_takes_back(cast: Cast, answer: Message) -> None:
    page = browser(cast.owner)
    url = f"/api/chat/conversations/{answer.conversation_id}/messages/{answer.pk}/feedback"
    sent = {"is_helpful": False, "reason": "sources", "shares_question": True}
    said = page.put(url, sent, content_type="application/json")
    assert said.json() == {**sent, "comment": ""}
    bad = page.put(url, {"is_helpful": False, "reason": "?"}, content_type="application/json")
    assert bad.status_code == 400
    assert page.delete(url).status_code == 204
    assert not Feedback.objects.exists()


def admin_page(feedback: Feedback) -> str:
    admin = Client()
    admin.force_login(
        make_user("admin", is_superuser=True),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    listed = admin.get("/admin/chat/feedback/").content.decode()
    return listed + admin.get(f"/admin/chat/feedback/{feedback.pk}/change/").content.decode()


@pytest.mark.parametrize("shares", ["yes", ""])
def test_admins_see_the_verdict_and_the_question_only_when_it_was_sent_along(
    cast: Cast, answer: Message, shares: str
) -> None:
    thumb = Thumb(
        is_helpful=False, reason="wrong", comment="Look here", shares_question=bool(shares)
    )
    feedback = give_feedback(cast.owner, answer.conversation_id, answer.pk, thumb)
    shown = admin_page(feedback)
    assert "It is wrong" in shown
    assert "Look here" in shown
    assert ("When did it fail?" in shown) is bool(shares)
    assert "In March" not in shown
    assert "Pump" not in shown


def test_a_thumb_up_becomes_a_golden_question_of_what_was_cited(
    cast: Cast, answer: Message
) -> None:
    (made,) = make_golden(cast.owner, answer.conversation_id, answer.pk)
    assert made.text == "When did it fail?"
    assert made.vault == cast.vault
    assert EvalQuestion.objects.get().origin == EvalQuestion.Origin.THUMBS


def test_who_may_not_edit_the_vault_makes_no_golden_question(cast: Cast) -> None:
    note = make_note(cast.vault)
    talk = make_conversation(cast.mate)
    answer = add_turn(talk, "When?", "In March [1].", note=note, citations=[{"n": 1, "quote": ""}])
    with pytest.raises(Refused, match="No golden question"):
        make_golden(cast.mate, talk.pk, answer.pk)
    assert not EvalQuestion.objects.exists()
