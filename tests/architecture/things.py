"""The owner's things, by which everybody's rights are tried."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from chat.core.sharing import ShareWish
from chat.models import (
    Conversation,
    Folder,
    Message,
    PromptPreset,
    Run,
    ShareLink,
    Step,
    UnansweredQuestion,
)
from chat.sharing import make_link
from retrieval.core.types import Knobs
from retrieval.evaluation import add_question, start_run
from retrieval.models import EvalRun
from tests.cast import Cast
from tests.catalogue import load_some_presets
from vault.models import Note, SizeTrial, SyncRun, VaultMember


@dataclass(frozen=True)
class World:
    """The owner's things, by which everybody's rights are tried."""

    cast: Cast
    note: Note
    mate: VaultMember
    reading: SyncRun
    conversation: Conversation
    question: Message
    answer: Message
    eval_run: EvalRun
    size_trial: SizeTrial
    question_id: int
    folder: Folder
    link: ShareLink
    preset: PromptPreset
    unanswered: UnansweredQuestion


def make_world(cast: Cast) -> World:
    load_some_presets()
    note = Note.objects.create(
        vault=cast.vault,
        path="Birds/Heron.md",
        title="Heron",
        body="# Heron\n\nThe heron is called Ottokar.\n",
        headings=[{"level": 1, "text": "Heron", "start": 0, "line": 1}],
        content_hash="0" * 64,
        file_modified=timezone.now(),
    )
    talk = Conversation.objects.create(owner=cast.owner, title="About Ottokar")
    question = Message.objects.create(conversation=talk, role="user", text="Who is Ottokar?")
    answer = Message.objects.create(
        conversation=talk, parent=question, role="assistant", text="A heron."
    )
    Step.objects.create(message=answer, number=1, tool="search", state="done")
    Run.objects.create(
        conversation=talk,
        message=answer,
        state=Run.State.ENDED,
        owner_process="ended",
        lease_until=timezone.now(),
    )
    mate = VaultMember.objects.get(vault=cast.vault, user=cast.mate)
    golden = add_question(cast.vault, "Who is Ottokar?", expected=[note])
    run = start_run(cast.vault, knobs=Knobs(), user=cast.owner, label="Ottokar")
    trial = SizeTrial.objects.create(
        vault=cast.vault,
        state=SizeTrial.State.FAILED,
        error="Ottokar was away.",
        before_tokens=400,
        before_overlap=60,
        before_minimum=60,
        after_tokens=200,
        after_overlap=60,
        after_minimum=60,
    )
    folder = Folder.objects.create(owner=cast.owner, name="Ottokar and the Heron")
    wish = ShareWish(audience="named", names=(cast.mate.email,))
    link = make_link(cast.owner, talk.pk, wish)
    reading = SyncRun.objects.create(vault=cast.vault, counts={"created": 1})
    preset = PromptPreset.objects.create(name="nest", text="Who nests?", owner=cast.owner)
    missing = UnansweredQuestion.objects.create(
        vault=cast.vault,
        question="Where is Ottokar?",
        cause=UnansweredQuestion.Cause.NOTHING_FOUND,
        last_asked=timezone.now(),
    )
    things = (run, trial, golden.pk, folder, link, preset, missing)
    return World(cast, note, mate, reading, talk, question, answer, *things)
