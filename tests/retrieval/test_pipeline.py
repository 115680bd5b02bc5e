"""From a question to passages: what is searched, what is handed over, what is kept."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from providers.core.errors import Overloaded
from providers.core.types import ChatMessage, TextDelta, Usage, Withdrawal
from providers.models import ChatModel, EmbeddingModel, Provider, UsageRecord
from providers.testing import FakeChat
from retrieval.core.types import Knobs, Mode, Retrieval
from retrieval.database import in_database
from retrieval.models import RetrievalRun
from retrieval.pipeline import retrieve
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_markdown, write_note
from vault.access import User, scope_for
from vault.core.tokens import estimate_tokens
from vault.models import Note

HISTORY = (
    ChatMessage("user", "What are the roles in billing?"),
    ChatMessage("assistant", "Owner, approver, clerk."),
)


@pytest.fixture
def model(db: None) -> EmbeddingModel:
    return make_embedding_model()


@pytest.fixture
def writer(db: None) -> Iterator[ChatModel]:
    """A chat model that plays what a test queued."""
    FakeChat.reset()
    provider = Provider.objects.create(slug="chat", name="Chat", kind="fake", needs_key=False)
    yield ChatModel.objects.create(provider=provider, name="say:nothing useful")
    FakeChat.reset()


@pytest.fixture
def library(cast: Cast, model: EmbeddingModel) -> Cast:
    write_note(
        cast.vault,
        "Ops/Pumps.md",
        "The blue pump stands in the cellar.",
        "It is serviced in May.",
        "A spare part lies in the shed.",
        properties={"status": "draft"},
    )
    write_note(cast.vault, "Roles.md", "The billing roles are owner, approver and clerk.")
    write_note(cast.vault, "Seals.md", "The section on seals is short.")
    embed(cast.vault, model)
    return cast


def ask(
    user: User,
    question: str,
    *,
    history: Sequence[ChatMessage] = (),
    model: ChatModel | None = None,
    slugs: list[str] | None = None,
    **knobs: Any,
) -> Retrieval:
    return async_to_sync(retrieve)(
        question,
        history=history,
        scope=scope_for(user, slugs),
        knobs=Knobs(**knobs),
        user_id=user.pk,
        model=model,
    )


def test_passages_are_exact_pieces_of_their_notes(library: Cast) -> None:
    found = ask(library.owner, "Where is the blue pump?")
    first = found.passages[0]
    body = Note.objects.get(path="Ops/Pumps.md").body
    assert first.text == body[first.start : first.end]
    assert first.text.startswith("The blue pump stands")
    assert (first.number, first.path, first.title) == (1, "Ops/Pumps.md", "Pumps")
    assert first.properties == {"status": "draft"}
    assert first.arms == ("keyword 1", "meaning 1")
    assert [passage.number for passage in found.passages] == [1, 2, 3]


def test_neighbours_come_along_and_stay_in_the_budget(library: Cast) -> None:
    alone = ask(library.owner, "spare part shed", neighbours=0, chunks_per_note=1).passages[0]
    assert alone.text == "A spare part lies in the shed."
    wide = ask(library.owner, "spare part shed", neighbours=1, chunks_per_note=1).passages[0]
    assert wide.text == "It is serviced in May.\n\nA spare part lies in the shed."
    tight = ask(library.owner, "spare part shed", token_budget=8, neighbours=1)
    assert sum(passage.tokens for passage in tight.passages) <= 8
    assert tight.passages[0].text.startswith("A spare part")


def test_a_passage_of_several_sections_bears_what_their_headings_share(cast: Cast) -> None:
    write_markdown(
        cast.vault,
        "ops.md",
        "# Operations\n\n## The worker\n\nIt wakes by a bell and takes the next job.\n\n"
        "## When killed\n\nNothing is lost, for every step is a transaction.\n",
    )
    wide = ask(cast.owner, "every step is a transaction", neighbours=1).passages[0]
    assert "It wakes by a bell" in wide.text
    assert wide.heading_path == ("Operations",)
    alone = ask(cast.owner, "every step is a transaction", neighbours=0).passages[0]
    assert alone.heading_path == ("Operations", "When killed")


def test_the_budget_holds_for_the_text_as_it_is(library: Cast) -> None:
    for budget in (5, 12, 20, 40):
        found = ask(library.owner, "the pump, roles and seals", token_budget=budget)
        assert found.passages
        assert sum(estimate_tokens(passage.text) for passage in found.passages) <= budget


def test_the_number_of_passages_is_a_knob(library: Cast) -> None:
    assert len(ask(library.owner, "the pump, roles and seals", passages=2).passages) == 2


def test_the_run_is_kept(library: Cast) -> None:
    found = ask(library.owner, "Where is the blue pump?")
    run = RetrievalRun.objects.get(pk=found.run_id or 0)
    assert run.user == library.owner
    assert run.question == "Where is the blue pump?"
    assert run.queries == ["Where is the blue pump?"]
    assert run.vaults == ["team"]
    assert (run.mode, run.passages) == ("hybrid", len(found.passages))
    assert {arm["name"]: arm["ran"] for arm in run.arms} == {
        "keyword": True, "meaning": True, "note": False, "code": False, "title": True
    }  # fmt: skip
    assert run.candidates[0]["chunk_id"] == found.passages[0].chunk_ids[0]
    assert set(run.timings) == {"condense", "embed", "search", "expand", "total"}


def test_an_outsider_gets_no_passage_of_the_team(library: Cast) -> None:
    found = ask(library.outsider, "Where is the blue pump?")
    assert found.passages == ()
    assert "pump" not in str(found.arms)


def test_nothing_to_read_touches_no_table(library: Cast) -> None:
    scope, narrowed = scope_for(AnonymousUser()), scope_for(library.owner, ["foreign"])
    with CaptureQueriesContext(connection) as captured:
        for question, where in (("pump?", scope), ("pump?", narrowed), ("  ", narrowed)):
            found = async_to_sync(retrieve)(question, history=(), scope=where, knobs=Knobs())
            assert (found.passages, found.run_id) == ((), None)
            assert found.notices
    assert len(captured) == 0


def test_a_follow_up_without_a_model_takes_the_question_before(library: Cast) -> None:
    found = ask(library.owner, "and the owner?", history=HISTORY)
    assert found.queries == ("What are the roles in billing? and the owner?", "and the owner?")
    assert found.passages[0].path == "Roles.md"
    assert "previous question" in found.notices[0]


def test_a_new_subject_is_searched_alone(library: Cast) -> None:
    found = ask(library.owner, "wrong, I meant the section on seals", history=HISTORY)
    assert found.queries == ("wrong, I meant the section on seals",)
    assert found.passages[0].path == "Seals.md"


def test_a_model_rewrites_a_follow_up_and_adds_alternates(library: Cast, writer: ChatModel) -> None:
    FakeChat.play(
        TextDelta('hmm {"query": "no"}'),
        Withdrawal(),
        TextDelta('{"query": "billing owner role", "alternates": ["who owns billing"]}'),
        Usage(30, 12),
    )
    found = ask(library.owner, "and the owner?", history=HISTORY, model=writer)
    assert found.queries == ("billing owner role", "who owns billing")
    assert found.passages[0].path == "Roles.md"
    assert found.notices == ()
    request = FakeChat.requests[-1]
    assert request.max_output_tokens <= 200
    assert "What are the roles in billing?" in request.messages[0].content
    usage = UsageRecord.objects.get(purpose="condense")
    assert (usage.user, usage.input_tokens, usage.output_tokens) == (library.owner, 30, 12)


def test_alternates_can_be_switched_off(library: Cast, writer: ChatModel) -> None:
    FakeChat.play(TextDelta('{"query": "billing owner", "alternates": ["x y"]}'), Usage())
    found = ask(library.owner, "and he?", history=HISTORY, model=writer, alternates=False)
    assert found.queries == ("billing owner",)


def test_a_first_question_that_is_broad_is_searched_in_other_wordings_too(
    library: Cast, writer: ChatModel
) -> None:
    FakeChat.play(
        TextDelta('{"query": "changed", "alternates": ["section about seals", "wax rings"]}'),
        Usage(20, 9),
    )
    found = ask(library.owner, "what about sealing", model=writer)
    assert found.queries == ("what about sealing", "section about seals", "wax rings")
    assert found.passages[0].path == "Seals.md"
    assert found.notices == ()
    assert FakeChat.requests[-1].messages[0].content == "what about sealing"
    assert UsageRecord.objects.get(purpose="condense").output_tokens == 9
    run = RetrievalRun.objects.get(pk=found.run_id or 0)
    assert run.queries == list(found.queries)


@pytest.mark.parametrize(
    ("question", "knobs"),
    [
        ("Where is the blue pump?", {"alternates": False}),
        ("What does Zelmira say of the pump?", {}),
        ("status of INV/2026/00037", {}),
    ],
)
def test_a_first_question_that_is_specific_is_searched_without_a_call(
    library: Cast, writer: ChatModel, question: str, knobs: dict[str, Any]
) -> None:
    found = ask(library.owner, question, model=writer, **knobs)
    assert found.queries == (question,)
    assert len(FakeChat.requests) == 0


def test_a_model_that_has_no_other_wordings_changes_nothing(
    library: Cast, writer: ChatModel
) -> None:
    FakeChat.play(Overloaded("The server is busy."))
    failed = ask(library.owner, "where is the pump", model=writer)
    assert failed.queries == ("where is the pump",)
    assert failed.notices == ("No other wordings were searched: The server is busy.",)
    FakeChat.play(TextDelta("I cannot help with that."), Usage())
    refused = ask(library.owner, "where is the pump", model=writer)
    assert (refused.queries, refused.notices) == (("where is the pump",), ())
    assert refused.passages[0].path == failed.passages[0].path == "Ops/Pumps.md"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((Overloaded("The server is busy."),), "The server is busy"),
        ((TextDelta("I cannot help with that."), Usage()), "no search query"),
    ],
)
def test_a_rewriter_that_fails_is_named_and_the_search_goes_on(
    library: Cast, writer: ChatModel, steps: tuple[Any, ...], said: str
) -> None:
    FakeChat.play(*steps)
    found = ask(library.owner, "and the owner?", history=HISTORY, model=writer)
    assert found.passages[0].path == "Roles.md"
    assert said in found.notices[0]
    FakeChat.play(*steps)
    alone = ask(library.owner, "the section on wax seals", history=HISTORY, model=writer)
    assert alone.queries == ("the section on wax seals",)


def test_the_extractive_model_is_not_asked_to_rewrite(library: Cast, writer: ChatModel) -> None:
    writer.provider.kind = "extractive"
    found = ask(library.owner, "and the owner?", history=HISTORY, model=writer)
    assert "previous question" in found.notices[0]
    assert not UsageRecord.objects.exists()


def test_a_database_that_gives_up_leaves_no_passages_and_the_reason(
    library: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(*args: object, **kwargs: object) -> None:
        raise OperationalError("canceling statement due to statement timeout\nCONTEXT: x")

    monkeypatch.setattr("retrieval.arms.run_search", give_up)
    found = ask(library.owner, "Where is the blue pump?")
    assert found.passages == ()
    assert "statement timeout" in found.notices[0]
    assert RetrievalRun.objects.get(pk=found.run_id or 0).passages == 0


def test_modes_narrow_the_arms(library: Cast) -> None:
    keyword = ask(library.owner, "blue pump", mode=Mode.KEYWORD)
    meaning = ask(library.owner, "blue pump", mode=Mode.SEMANTIC)
    assert [arm.name for arm in keyword.arms if arm.ran] == ["keyword", "title"]
    assert [arm.name for arm in meaning.arms if arm.ran] == ["meaning"]
    assert keyword.notices == meaning.notices == ()


@pytest.mark.django_db(transaction=True)
def test_cancelling_ends_the_statement_that_runs() -> None:
    began = threading.Event()
    ended: list[str] = []

    def slow() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            began.set()
            try:
                cursor.execute("SELECT pg_sleep(60)")
            except OperationalError as error:
                ended.append(str(error))
                raise

    async def scene() -> None:
        task = asyncio.ensure_future(in_database(slow))
        await asyncio.to_thread(began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, timeout=45)

    async_to_sync(scene)()
    assert "canceling statement due to user request" in ended[0]


@pytest.mark.django_db(transaction=True)
def test_what_is_cancelled_before_it_starts_never_runs() -> None:
    ran: list[int] = []

    async def scene() -> None:
        task = asyncio.ensure_future(in_database(ran.append, 1))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async_to_sync(scene)()
    assert ran == []
