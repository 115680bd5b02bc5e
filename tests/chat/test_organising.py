"""What an owner does with conversations, and the pages of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from chat.core.asking import Ask, BadAsk, Refused
from chat.history import open_turn
from chat.models import Conversation, Folder, Message, Run
from chat.organising import (
    KEPT_FOR,
    LEFT_FOR,
    MOST_FOLDERS,
    choose_branch,
    come_back,
    count_other_branches,
    delete_folder,
    keep_only_branch,
    leave,
    make_folder,
    mark,
    own_folder,
    put_away,
    rename_folder,
    restore,
    sweep_conversations,
)
from chat.tasks import LOOK_EVERY, request_early_sweep, request_sweep, sweep_job
from tests.cast import Cast
from tests.chat.pages import add_answer, add_turn, browser, make_conversation
from vault.jobs import Again
from vault.models import Job

FRAGMENT = {"HX-Request": "true"}


def post(user: User, page: str, *args: object, **data: str) -> Any:
    return browser(user).post(reverse(page, args=args), data)


def long_ago(**fields: Any) -> Conversation:
    made = Conversation.objects.create(title="old", **fields)
    then = timezone.now() - KEPT_FOR - timedelta(minutes=1)
    Conversation.objects.filter(pk=made.pk).update(updated=then)
    return made


# Branches


def test_a_chosen_branch_is_shown_from_then_on_and_the_date_stays(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "Why?", "The first version")
    assert first.parent is not None
    add_answer(first.parent, "The second version")
    was = Conversation.objects.get().updated
    response = post(cast.owner, "choose_branch", conversation.pk, message=str(first.pk))
    assert response["Location"].endswith(f"{conversation.pk}#m-{first.pk}")
    page = browser(cast.owner).get(reverse("conversation", args=[conversation.pk])).content.decode()
    assert "The first version" in page
    assert "The second version" not in page
    assert Conversation.objects.get().updated == was


@pytest.mark.parametrize("message", ["", "nonsense", "5d1ad9a4-55e5-4d3b-92b7-3a6e5d1f8c11"])
def test_a_branch_that_is_not_there_cannot_be_chosen(cast: Cast, message: str) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "Because")
    assert post(cast.owner, "choose_branch", conversation.pk, message=message).status_code == 404
    foreign = add_turn(make_conversation(cast.owner), "Why?", "Because")
    with pytest.raises(Refused):
        choose_branch(conversation, foreign.pk)


def test_keeping_only_a_branch_says_what_is_lost_and_keeps_what_is_shown(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "When?", "In March.")
    add_turn(conversation, "Why?", "Its seal.")
    add_turn(conversation, "Really?", "Yes.")
    asked = Message.objects.create(
        conversation=conversation, parent=first, role="user", text="Who?"
    )
    add_answer(asked, "Ann.")
    assert count_other_branches(conversation) == {"questions": 2, "answers": 2}
    address = reverse("keep_branch", args=[conversation.pk])
    assert "2 questions" in browser(cast.owner).get(address).content.decode()
    assert conversation.messages.count() == 8
    browser(cast.owner).post(address)
    assert [m.text for m in conversation.messages.all()] == ["When?", "In March.", "Who?", "Ann."]
    assert count_other_branches(conversation) == {"questions": 0, "answers": 0}


def test_branches_are_kept_while_an_answer_is_being_written(cast: Cast) -> None:
    turn = open_turn(cast.owner, Ask("Why?"), owner_process="here", lease_seconds=60)
    with pytest.raises(Refused, match="is being written"):
        keep_only_branch(cast.owner, turn.ids.conversation)
    response = post(cast.owner, "keep_branch", turn.ids.conversation)
    assert response.status_code == 409
    assert "is being written" in response.content.decode()


# Title and place


def test_a_new_title_is_kept_for_good(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    response = post(cast.owner, "organise", conversation.pk, title="  Pumps \n and valves\x00 ")
    assert response.status_code == 302
    conversation.refresh_from_db()
    assert conversation.title == "Pumps and valves"
    assert conversation.title_is_final


def test_a_title_that_was_left_alone_may_still_be_made_better(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    post(cast.owner, "organise", conversation.pk, title="About the pump")
    conversation.refresh_from_db()
    assert not conversation.title_is_final


@pytest.mark.parametrize("title", ["", "   ", "x" * 201])
def test_a_title_that_cannot_be_kept_is_explained(cast: Cast, title: str) -> None:
    conversation = make_conversation(cast.owner)
    response = post(cast.owner, "organise", conversation.pk, title=title)
    assert response.status_code == 422
    assert "A title has 1 to 200 characters." in response.content.decode()
    conversation.refresh_from_db()
    assert conversation.title == "About the pump"


def test_a_conversation_goes_into_a_new_folder_and_out_of_it(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    sent = {"title": "About the pump", "folder": "new", "new_folder": " Pumps  2026 "}
    post(cast.owner, "organise", conversation.pk, **sent)
    conversation.refresh_from_db()
    assert conversation.folder
    assert conversation.folder.name == "Pumps 2026"
    post(cast.owner, "organise", conversation.pk, title="About the pump", folder="")
    conversation.refresh_from_db()
    assert conversation.folder is None


def test_a_name_that_was_typed_is_the_folder_whatever_the_list_says(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    sent = {"title": "About the pump", "folder": "", "new_folder": "Pumps"}
    post(cast.owner, "organise", conversation.pk, **sent)
    conversation.refresh_from_db()
    assert conversation.folder == make_folder(cast.owner, "Pumps")


def test_nobody_files_into_a_folder_of_somebody_else(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    foreign = make_folder(cast.mate, "Mine")
    for wrong in (str(foreign.pk), "999999", "nonsense", "9" * 30):
        response = post(cast.owner, "organise", conversation.pk, title="x", folder=wrong)
        assert response.status_code == 422
        assert "There is no such folder." in response.content.decode()
    conversation.refresh_from_db()
    assert (conversation.folder, conversation.title) == (None, "About the pump")


def test_a_folder_has_one_name_whatever_its_case(cast: Cast) -> None:
    folder = make_folder(cast.owner, "Pumps")
    assert make_folder(cast.owner, "pumps") == folder
    other = make_folder(cast.owner, "Valves")
    with pytest.raises(BadAsk, match="already"):
        rename_folder(other, "PUMPS")
    rename_folder(folder, "PUMPS")
    assert own_folder(cast.owner, folder.pk).name == "PUMPS"
    with pytest.raises(BadAsk, match="1 to 80"):
        make_folder(cast.owner, " ")


def test_folders_have_an_end(cast: Cast) -> None:
    Folder.objects.bulk_create(Folder(owner=cast.owner, name=str(n)) for n in range(MOST_FOLDERS))
    with pytest.raises(BadAsk, match=str(MOST_FOLDERS)):
        make_folder(cast.owner, "One more")


def test_a_deleted_folder_leaves_its_conversations(cast: Cast) -> None:
    folder = make_folder(cast.owner, "Pumps")
    conversation = Conversation.objects.create(owner=cast.owner, folder=folder)
    delete_folder(folder)
    conversation.refresh_from_db()
    assert conversation.folder is None


def test_the_page_of_a_folder_renames_and_deletes_it(cast: Cast) -> None:
    folder = make_folder(cast.owner, "Pumps")
    assert post(cast.owner, "folder", folder.pk, name="Valves").status_code == 302
    assert own_folder(cast.owner, folder.pk).name == "Valves"
    assert post(cast.owner, "folder", folder.pk, name=" ").status_code == 422
    assert post(cast.mate, "folder", folder.pk, delete="1").status_code == 404
    assert post(cast.owner, "folder", folder.pk, delete="1").status_code == 302
    assert not Folder.objects.exists()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("pin", "pinned", True),
        ("unpin", "pinned", False),
        ("archive", "archived", True),
        ("unarchive", "archived", False),
        ("keep", "temporary", False),
    ],
)
def test_marks_change_one_thing_and_can_be_taken_back(
    cast: Cast, name: str, field: str, *, value: bool
) -> None:
    made = Conversation.objects.create(owner=cast.owner, title="x", **{field: not value})
    address = reverse("mark_conversation", args=[made.pk, name])
    said = browser(cast.owner).post(address, headers=FRAGMENT).json()
    made.refresh_from_db()
    assert getattr(made, field) is value
    if name != "keep":
        browser(cast.owner).post(said["undo"])
        made.refresh_from_db()
        assert getattr(made, field) is not value


def test_there_are_no_other_marks(cast: Cast) -> None:
    made = make_conversation(cast.owner)
    assert post(cast.owner, "mark_conversation", made.pk, "owner").status_code == 404


# The end and the return


def test_what_was_deleted_can_be_brought_back_for_a_day(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    client = browser(cast.owner)
    page = client.post(reverse("delete_conversation", args=[conversation.pk]), follow=True)
    assert "was deleted" in page.content.decode()
    undo = reverse("restore_conversation", args=[conversation.pk])
    assert f'action="{undo}"' in page.content.decode()
    address = reverse("conversation", args=[conversation.pk])
    assert client.get(address).status_code == 404
    assert client.get(f"/api/chat/conversations/{conversation.pk}").status_code == 404
    assert client.post(undo).status_code == 302
    assert client.get(address).status_code == 200
    put_away(conversation)
    Conversation.objects.update(deleted=Now() - KEPT_FOR - timedelta(minutes=1))
    assert client.post(undo).status_code == 404


def test_nobody_brings_back_what_is_not_theirs(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    put_away(conversation)
    for wrong in (conversation.pk, uuid4()):
        with pytest.raises(Refused):
            restore(cast.mate, wrong)


def test_a_running_answer_stops_when_its_conversation_is_deleted(cast: Cast) -> None:
    turn = open_turn(cast.owner, Ask("Why?"), owner_process="here", lease_seconds=60)
    put_away(Conversation.objects.get(pk=turn.ids.conversation))
    assert Run.objects.get().stop_wanted


def test_the_sweep_deletes_what_is_due_and_nothing_else(cast: Cast) -> None:
    day_ago = timezone.now() - KEPT_FOR - timedelta(minutes=1)
    long_ago(owner=cast.owner, temporary=True)
    Conversation.objects.create(owner=cast.owner, title="old", deleted=day_ago)
    Conversation.objects.create(owner=cast.owner, title="new", temporary=True)
    Conversation.objects.create(owner=cast.owner, title="gone", deleted=timezone.now())
    kept = long_ago(owner=cast.owner)
    running = open_turn(
        cast.owner, Ask("Why?", temporary=True), owner_process="here", lease_seconds=60
    )
    Conversation.objects.filter(pk=running.ids.conversation).update(updated=day_ago)
    assert sweep_conversations() == 3
    left = sorted(Conversation.objects.values_list("title", flat=True))
    assert left == ["Why?", "gone", "new", "old"]
    assert Conversation.objects.get(title="old") == kept


def test_what_was_left_is_swept_unless_somebody_came_back(cast: Cast) -> None:
    titles = ("left", "back", "used", "just left", "kept", "theirs")
    made = {
        t: Conversation.objects.create(owner=cast.owner, title=t, temporary=True) for t in titles
    }
    mark(made["kept"], "keep")
    ids = {title: conversation.pk for title, conversation in made.items()}
    assert not leave(cast.mate.pk, ids.values())
    assert not leave(cast.owner.pk, [ids["kept"]])
    assert leave(cast.owner.pk, [pk for title, pk in ids.items() if title != "theirs"])
    long_left = timezone.now() - LEFT_FOR - timedelta(minutes=1)
    Conversation.objects.exclude(left=None).exclude(title="just left").update(left=long_left)
    come_back(cast.mate.pk, ids.values())
    come_back(cast.owner.pk, [ids["back"]])
    ask = Ask("Why?", conversation=ids["used"])
    open_turn(cast.owner, ask, owner_process="here", lease_seconds=60)
    Run.objects.update(state="ended")
    assert sweep_conversations() == 4
    assert set(Conversation.objects.values_list("title", flat=True)) == set(titles) - {"left"}


def test_the_sweep_comes_back_while_something_waits(cast: Cast) -> None:
    job = request_sweep()
    assert request_sweep().pk == job.pk
    assert Job.objects.get().run_after is not None
    assert request_early_sweep().pk == job.pk
    soon = timezone.now() + LEFT_FOR + timedelta(minutes=1)
    assert Job.objects.filter(run_after__lt=soon).exists()
    Conversation.objects.create(owner=cast.owner, temporary=True)
    assert sweep_job(job) == Again(after=LOOK_EVERY)
    Conversation.objects.all().delete()
    assert sweep_job(job) is None


def test_a_temporary_chat_says_what_it_is_and_is_in_no_list(cast: Cast) -> None:
    client = browser(cast.owner)
    page = client.get(reverse("home"), {"temporary": "1"}).content.decode()
    assert "deleted ten minutes after you close it" in page
    assert "a day after its last question at the latest" in page
    assert 'name="temporary" value="1"' in page
    assert Job.objects.filter(kind="chat_sweep").exists()
    made = Conversation.objects.create(owner=cast.owner, title="Secret plan", temporary=True)
    add_turn(made, "Who is the wemrick?", "He is.")
    for query in ({}, {"q": "wemrick"}, {"q": "secret"}):
        assert "Secret plan" not in client.get(reverse("conversations"), query).content.decode()
    assert client.get(reverse("conversation", args=[made.pk])).status_code == 200


def test_dialogs_are_fragments_for_scripts_and_pages_without(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    client = browser(cast.owner)
    for name in ("organise", "keep_branch"):
        address = reverse(name, args=[conversation.pk])
        fragment = client.get(address, headers=FRAGMENT).content.decode()
        assert fragment.lstrip().startswith("<dialog")
        assert "<html" in client.get(address).content.decode()
