"""Everything the chat page shows: the list, the thread, what may be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.choosable import Choosable
from chat.core.asking import LONGEST_QUESTION
from chat.forms import ChatSettingsForm
from chat.models import AnswerMode, Conversation, Persona
from chat.offers import site_catalogue
from chat.options import chat_options
from chat.presenters.answers import Turn, turns_of
from chat.presenters.conversations import (
    ConversationList,
    conversation_list,
    place_of,
)
from chat.presenters.suggestions import suggested_questions
from vault.status import counts_in

MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class VaultChoice:
    """A readable vault; `is_chosen`: the next question is asked of it.

    `notes` of its `all_notes` are found by search.
    """

    slug: str
    name: str
    notes: int
    all_notes: int
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """What the next answer may be written with, and what is chosen now."""

    vaults: tuple[VaultChoice, ...]
    models: tuple[tuple[str, tuple[dict[str, Any], ...]], ...]
    model_id: int
    personas: tuple[tuple[str, tuple[Persona, ...]], ...]
    persona_id: int | None
    modes: tuple[tuple[str, str], ...]
    mode: str
    tool_uses: tuple[tuple[str, str], ...]
    tool_use: str
    notices: tuple[str, ...]
    limit: dict[str, Any] | None

    @property
    def are_vaults_offered(self) -> bool:
        """Whether there is a choice: among several, or of the one that is not searched."""
        return len(self.vaults) > 1 or any(not vault.is_chosen for vault in self.vaults)

    @property
    def vaults_named(self) -> str:
        """The vaults to search, in few words; chat/static/chat/composer.js says the same."""
        chosen = [vault.name for vault in self.vaults if vault.is_chosen]
        if not chosen:
            return _("No vault")
        if len(chosen) <= MOST_NAMED:
            return ", ".join(chosen)
        if len(chosen) == len(self.vaults):
            return _("All vaults")
        return _("{count} vaults").format(count=len(chosen))


@dataclass(frozen=True)
class ChatPage:
    choices: Choices
    listed: ConversationList
    settings_form: ChatSettingsForm
    conversation: Conversation | None = None
    turns: list[Turn] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    draft: str = ""
    is_temporary: bool = False
    opens_settings: bool = False

    @property
    def conversation_id(self) -> str:
        return str(self.conversation.pk) if self.conversation else ""

    @property
    def title(self) -> str:
        return str(self.conversation) if self.conversation else ""

    @property
    def is_running(self) -> bool:
        return any(turn.answer and turn.answer.is_running for turn in self.turns)

    @property
    def site_counts(self) -> tuple[int, int]:
        """Vaults and notes that the reader may read."""
        return len(self.choices.vaults), sum(vault.notes for vault in self.choices.vaults)

    @property
    def words(self) -> dict[str, Any]:
        """What the scripts say, in the reader's language."""
        return words(len(self.choices.vaults))


def home_page(
    user: User,
    *,
    listed: ConversationList | None = None,
    draft: str = "",
    chosen: Sequence[str] = (),
    is_temporary: bool = False,
    opens_settings: bool = False,
) -> ChatPage:
    """A new question: what the vaults hold and what one could ask.

    `chosen` are slugs of the vaults to ask; none: all of them.
    """
    known = Choosable(user)
    return ChatPage(
        choices=choices_of(known, chosen=chosen),
        listed=listed or conversation_list(user),
        settings_form=ChatSettingsForm.of(known),
        suggestions=suggested_questions(known.scope),
        draft=draft,
        is_temporary=is_temporary,
        opens_settings=opens_settings,
    )


def conversation_page(
    user: User, conversation: Conversation, *, at: UUID | None = None, draft: str = ""
) -> ChatPage:
    """A conversation of `user`, as far as it is written.

    `at` names a message to show, `draft` stands in the field.
    """
    known = Choosable(user)
    return ChatPage(
        choices=choices_of(known, conversation),
        listed=conversation_list(user, place=place_of(conversation)),
        settings_form=ChatSettingsForm.of(known),
        conversation=conversation,
        is_temporary=conversation.temporary,
        turns=turns_of(conversation, user, at=at),
        draft=draft,
    )


def choices_of(
    known: Choosable, conversation: Conversation | None = None, *, chosen: Sequence[str] = ()
) -> Choices:
    """What a user may choose from; a conversation keeps the vaults it began with."""
    kept = conversation.vaults if conversation else chosen
    # A conversation that began with no vault asks none; a new question then asks all.
    asked = kept if conversation else kept or None
    catalogue = replace(site_catalogue(), available=lambda: known.site_models)
    options = chat_options(known, catalogue, vaults=asked)
    return Choices(
        vaults=tuple(_vaults(known, conversation, chosen=chosen)),
        models=_by_provider(options["models"]),
        model_id=options["model"],
        personas=personas_by_place(known.personas),
        persona_id=options["persona"],
        modes=tuple((value, str(label).capitalize()) for value, label in AnswerMode.choices),
        mode=options["mode"],
        tool_uses=tuple((it["value"], it["label"].capitalize()) for it in options["tool_uses"]),
        tool_use=options["tool_use"],
        notices=tuple(options["notices"]),
        limit=options["limit"],
    )


def words(vaults: int) -> dict[str, Any]:
    """The sentences of the scripts, for a reader of that many vaults."""
    searching = ngettext("Searching %(count)d vault…", "Searching %(count)d vaults…", vaults)
    return {
        "searching": searching % {"count": vaults},
        "writing": _("Writing…"),
        "passages": _("{passages} passages from {notes} notes in {vaults}"),
        "read": _("Read"),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "link_copied": _("Link copied"),
        "undo": _("Undo"),
        "failed": _("That did not work. Nothing was changed; load the page anew and try again."),
        "saved": _("Settings saved"),
        "done": _("The answer is finished."),
        "stopped": _("The answer was stopped."),
        "error": _("The answer could not be written."),
        "lost": _("No connection. What you typed is kept; trying again…"),
        "signed-out": _("You are signed out. What you typed is kept: sign in and come back."),
        "unsure": _(
            "The connection broke while this was being sent. "
            "If it stands neither above nor in the list, press Enter to send it."
        ),
        "most": LONGEST_QUESTION,
        "too_long": _(
            "This has more than %(most)s characters, the most a question may have. "
            "Shorten it, or put the long text into a note."
        )
        % {"most": f"{LONGEST_QUESTION:,}"},
        "all_vaults": _("All vaults"),
        "some_vaults": _("{count} vaults"),
        "unnarrow": _("Search without {token}"),
        "presets_url": reverse("presets"),
        "search_url": reverse("search"),
        "commands": [
            {"name": "/new", "detail": _("a new question")},
            {"name": "/search", "detail": _("the search page")},
            {"name": "/presets", "detail": _("your presets")},
            {"name": "/settings", "detail": _("the chat settings")},
            {"name": "/notes-only", "detail": _("answers from the notes alone")},
            {"name": "/notes-first", "detail": _("answers from the notes, and beyond")},
            {"name": "/no-notes", "detail": _("answers without the notes")},
        ],
    }


def _vaults(
    known: Choosable, conversation: Conversation | None, *, chosen: Sequence[str]
) -> list[VaultChoice]:
    counts = counts_in(known.scope)
    slugs = {vault.slug for vault in known.vaults}
    if conversation and conversation.vaults is not None:
        # It may keep vaults that are not here: then none is ticked, and none is searched.
        wanted = slugs.intersection(conversation.vaults)
    else:
        wanted = slugs if conversation else slugs.intersection(chosen) or slugs
    return [
        VaultChoice(
            slug=vault.slug,
            name=vault.name,
            notes=counts.get(vault.pk, (0, 0))[1],
            all_notes=counts.get(vault.pk, (0, 0))[0],
            url=reverse("vault", args=[vault.slug]),
            is_chosen=vault.slug in wanted,
        )
        for vault in known.vaults
    ]


def _by_provider(
    models: Sequence[dict[str, Any]],
) -> tuple[tuple[str, tuple[dict[str, Any], ...]], ...]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for model in models:
        groups.setdefault(model["provider"], []).append(model)
    return tuple((provider, tuple(group)) for provider, group in groups.items())


def personas_by_place(
    personas: Sequence[Persona],
) -> tuple[tuple[str, tuple[Persona, ...]], ...]:
    """The personas grouped: the site's under no heading, then each vault's under its name."""
    return tuple(
        (place, tuple(group)) for place, group in groupby(personas, key=lambda each: each.place)
    )
