"""Questions that the notes had no answer to: collected, asked again, closed."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from chat.feedback import Thumb, give_feedback
from chat.models import ChatSettings, Message, UnansweredQuestion
from chat.providing import site_providing
from chat.tasks import check_unanswered_job
from chat.unanswered import check_open, note_unanswered, unanswered_in
from retrieval.core.types import Knobs
from retrieval.models import RetrievalRun
from retrieval.pipeline import retrieve
from tests.cast import Cast
from tests.catalogue import load_some_presets
from tests.chat.pages import add_source, add_turn, browser, make_conversation, make_note
from vault.access import scope_for
from vault.models import Job, Note
from vault.sync import sync_vault

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "How often is the zeppelin inspected?"


@pytest.fixture(autouse=True)
def models() -> None:
    load_some_presets()


def ask(cast: Cast, question: str = QUESTION, *, by: Any = None, **fields: Any) -> Message:
    """An answer that found nothing, as a run leaves it."""
    user = by or cast.mate
    search = async_to_sync(retrieve)
    found = search(question, history=(), scope=scope_for(user), knobs=Knobs(), user_id=user.pk)
    talk = make_conversation(user)
    return add_turn(talk, question, "", retrieval_run_id=found.run_id, **fields)


def test_a_question_that_found_nothing_is_kept_without_who_asked(cast: Cast) -> None:
    note_unanswered(ask(cast).pk)
    kept = UnansweredQuestion.objects.get()
    assert (kept.question, kept.vault, kept.cause) == (QUESTION, cast.vault, "nothing_found")
    assert not [field.name for field in kept._meta.fields if "user" in field.name]
    note_unanswered(ask(cast, by=cast.owner).pk)
    kept.refresh_from_db()
    assert kept.asked == 2


def test_an_answer_with_citations_is_no_unanswered_question(cast: Cast) -> None:
    answer = ask(cast, citations=[{"n": 1, "quote": "It is."}])
    add_source(answer, make_note(cast.vault))
    assert note_unanswered(answer.pk) == 0
    Message.objects.filter(pk=answer.pk).update(citations=[])
    assert note_unanswered(answer.pk) == 1
    assert UnansweredQuestion.objects.get().cause == "not_cited"


@pytest.mark.parametrize("which", ["settings", "site", "temporary", "stopped", "no search"])
def test_nothing_is_collected_that_was_not_shared(cast: Cast, which: str) -> None:
    answer = ask(cast)
    if which in {"settings", "site"}:
        user = cast.mate if which == "settings" else None
        ChatSettings.objects.create(user=user, shares_unanswered=False)
    elif which == "temporary":
        answer.conversation.temporary = True
        answer.conversation.save()
    elif which == "stopped":
        Message.objects.filter(pk=answer.pk).update(status=Message.Status.STOPPED)
    else:
        RetrievalRun.objects.all().delete()
    assert note_unanswered(answer.pk) == 0
    assert not UnansweredQuestion.objects.exists()


def test_a_reader_who_says_it_was_not_found_adds_the_question(cast: Cast) -> None:
    answer = ask(cast, citations=[{"n": 1, "quote": "x"}])
    thumb = Thumb(is_helpful=False, reason="not_found")
    give_feedback(cast.mate, answer.conversation_id, answer.pk, thumb)
    assert UnansweredQuestion.objects.get().cause == "reader"


def test_editors_see_what_is_missing_and_readers_do_not(cast: Cast) -> None:
    note_unanswered(ask(cast).pk)
    assert unanswered_in(cast.owner, cast.vault).count() == 1
    assert unanswered_in(cast.mate, cast.vault).count() == 0
    assert QUESTION in browser(cast.owner).get("/vaults/team/unanswered").content.decode()
    assert browser(cast.mate).get("/vaults/team/unanswered").status_code == 404


@pytest.fixture
def folder(cast: Cast, tmp_path: Any) -> Any:
    cast.vault.place = str(tmp_path)
    cast.vault.save()
    (tmp_path / "Balloon.md").write_text("# Balloon\n\nThe balloon is red and flies in May.\n")
    sync_vault(cast.vault.pk)
    return tmp_path


def test_a_question_resolves_itself_when_the_note_is_written(cast: Cast, folder: Any) -> None:
    note_unanswered(ask(cast).pk)
    kept = UnansweredQuestion.objects.get()
    check_open(site_providing())
    kept.refresh_from_db()
    assert kept.state == "open"
    (folder / "Zeppelin.md").write_text(
        "# Zeppelin\n\nThe zeppelin is inspected twice a year, in spring and in autumn.\n"
    )
    sync_vault(cast.vault.pk)
    check_unanswered_job(Job(kind="chat_unanswered"))
    kept.refresh_from_db()
    assert kept.state == "answered"
    assert kept.answered_by == [Note.objects.get(path="Zeppelin.md").pk]
    page = browser(cast.owner).get("/vaults/team/unanswered?state=answered").content.decode()
    assert "Zeppelin" in page


def test_closing_asks_once_more_and_can_be_taken_back(cast: Cast, folder: Any) -> None:
    note_unanswered(ask(cast).pk)
    kept = UnansweredQuestion.objects.get()
    page = browser(cast.owner)
    url = f"/vaults/team/unanswered/{kept.pk}"
    said = page.post(url, follow=True).content.decode()
    assert "still do not say" in said
    kept.refresh_from_db()
    assert (kept.state, kept.ended_by) == ("closed", cast.owner)
    page.post(url, {"reopen": "1"})
    kept.refresh_from_db()
    assert (kept.state, kept.ended_by) == ("open", None)
    rest = page.post(f"/api/vaults/team/unanswered/{kept.pk}", {}, content_type="application/json")
    assert rest.json()["state"] == "closed"
    assert page.get("/api/vaults/team/unanswered").json()["results"] == []


def test_nothing_is_asked_again_while_the_vault_is_as_it_was(cast: Cast, folder: Any) -> None:
    note_unanswered(ask(cast).pk)
    kept = UnansweredQuestion.objects.get()
    searched = RetrievalRun.objects.count()
    later = timezone.now()
    UnansweredQuestion.objects.update(checked=later)
    assert check_open(site_providing()) is False
    assert RetrievalRun.objects.count() == searched
    kept.refresh_from_db()
    assert kept.checked == later
