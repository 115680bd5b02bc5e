"""Who may use which address: the table.

A route that is not in it fails: whoever adds one says here who may use it. The socket's
commands have the same table in tests/chat/.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chat.sharing import token_of
from tests.architecture.things import World

SIGN_IN = 302
MATE = {"name": "mate@example.com", "role": "reader"}
PEOPLE = ("owner", "mate", "outsider", "anonymous")


@dataclass(frozen=True)
class Row:
    """An address, how it is called, and the status each of PEOPLE gets.

    None: not called here, because it would begin an answer; tests/chat/ does.
    """

    name: str
    expected: tuple[int | None, int | None, int | None, int | None]
    method: str = "get"
    kwargs: Callable[[World], dict[str, Any]] = field(default=lambda world: {})
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.name}"


def of_answer(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "message_id": world.answer.pk}


def of_unanswered(world: World) -> dict[str, Any]:
    return {**in_vault(world), "question_id": world.unanswered.pk}


def of_unanswered_api(world: World) -> dict[str, Any]:
    return {**in_vault(world), "question": world.unanswered.pk}


def preset_id(world: World) -> dict[str, Any]:
    return {"preset_id": world.preset.pk}


def in_vault(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug}


def of_note(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "path": world.note.path}


def golden_question(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "question_id": world.question_id}


def evaluation_run(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "run_id": world.eval_run.pk}


def size_trial(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "trial_id": world.size_trial.pk}


def of_run(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "run_id": world.reading.pk}


def note_id(world: World) -> dict[str, Any]:
    return {"note_id": world.note.pk}


def of_member(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "member_id": world.mate.pk}


def conversation_id(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk}


def conversation(world: World) -> dict[str, Any]:
    return {"conversation": world.conversation.pk}


def message(world: World) -> dict[str, Any]:
    return {"conversation": world.conversation.pk, "message": world.answer.pk}


def of_step_api(world: World) -> dict[str, Any]:
    return {**message(world), "step": 1}


def of_step(world: World) -> dict[str, Any]:
    return {**of_answer(world), "number": 1}


def turn(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "message_id": world.answer.pk}


def marked(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "name": "pin"}


def by_token(world: World) -> dict[str, Any]:
    return {"token": token_of(world.link)}


def of_link(world: World) -> dict[str, Any]:
    return {"link_id": world.link.pk}


def api_link(world: World) -> dict[str, Any]:
    return {"link": world.link.pk}


def api_folder(world: World) -> dict[str, Any]:
    return {"folder": world.folder.pk}


def in_folder(world: World) -> dict[str, Any]:
    return {"folder_id": world.folder.pk}


ROWS = (
    # Health and descriptions say nothing about anybody's notes.
    Row("healthz", (200, 200, 200, 200)),
    Row("readyz", (200, 200, 200, 200)),
    Row("metrics", (404, 404, 404, 404)),
    Row("schema", (200, 200, 200, 401)),
    Row("api-docs", (200, 200, 200, 401)),
    # Everybody's own first page, list and settings.
    Row("home", (200, 200, 200, SIGN_IN)),
    Row("conversations", (200, 200, 200, SIGN_IN)),
    Row("chat_settings", (302, 302, 302, SIGN_IN), "post"),
    Row("search", (200, 200, 200, SIGN_IN)),
    Row("search-why", (404, 404, 404, SIGN_IN)),
    # Search is measured and tuned by those who own a vault.
    Row("lab", (200, 404, 200, SIGN_IN)),
    Row("evaluations", (302, 200, 302, SIGN_IN)),
    Row("evaluation", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("evaluation-markdown", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("evaluation-start", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("evaluation-add", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("evaluation-remove", (302, 404, 404, SIGN_IN), "post", golden_question),
    Row("evaluation-run", (200, 404, 404, SIGN_IN), kwargs=evaluation_run),
    Row("evaluation-state", (200, 404, 404, SIGN_IN), kwargs=evaluation_run),
    Row("evaluation-cancel", (302, 404, 404, SIGN_IN), "post", evaluation_run),
    Row("sizes", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("sizes", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("size-trial", (200, 404, 404, SIGN_IN), kwargs=size_trial),
    Row("size-trial-state", (200, 404, 404, SIGN_IN), kwargs=size_trial),
    Row("size-trial-stop", (302, 404, 404, SIGN_IN), "post", size_trial),
    Row("vaults", (200, 200, 200, SIGN_IN)),
    Row("usage", (200, 200, 200, SIGN_IN)),
    Row("api-search", (200, 200, 200, 401), data={"q": "heron"}),
    Row("api-vaults", (200, 200, 200, 401)),
    Row("api-index-status", (200, 200, 200, 401)),
    Row("feedback", (302, 404, 404, SIGN_IN), "post", of_answer, {"verdict": "up"}),
    Row("follow_ups", (200, 404, 404, SIGN_IN), kwargs=of_answer),
    Row("golden", (302, 404, 404, SIGN_IN), "post", of_answer),
    Row("api-feedback", (200, 404, 404, 401), "put", message, {"is_helpful": True}),
    Row("api-golden", (409, 404, 404, 401), "post", message),
    Row("api-follow-ups", (200, 404, 404, 401), kwargs=message),
    Row("unanswered", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("end_unanswered", (302, 404, 404, SIGN_IN), "post", of_unanswered),
    Row("api-unanswered", (200, 404, 404, 401), kwargs=in_vault),
    Row("api-end-unanswered", (200, 404, 404, 401), "post", of_unanswered_api),
    Row("presets", (200, 200, 200, SIGN_IN)),
    Row("new_preset", (200, 200, 200, SIGN_IN)),
    Row("api-complete", (200, 200, 200, 401), data={"kind": "tag"}),
    Row("api-presets", (200, 200, 200, 401)),
    Row("api-preset", (200, 404, 404, 401), kwargs=lambda world: {"preset": world.preset.pk}),
    Row("edit_preset", (200, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("delete_preset", (200, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("fill_preset", (302, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("api-chat-options", (200, 200, 200, 401)),
    Row("api-chat-settings", (200, 200, 200, 401)),
    Row("api-conversations", (200, 200, 200, 401)),
    # A vault: readers read, editors sync, owners decide. Missing is forbidden.
    Row("vault", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-state", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-report", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-tree", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-sync", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-upload", (400, 403, 400, SIGN_IN), "post"),
    Row("vault-new", (200, 403, 200, SIGN_IN)),
    Row("vault-folder", (403, 403, 403, SIGN_IN), "post"),
    Row("vault-connect", (400, 403, 400, SIGN_IN), "post"),
    Row("vault-replace", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-problems", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-runs", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-run", (200, 200, 404, SIGN_IN), kwargs=of_run),
    Row("vault-reindex", (302, 404, 404, SIGN_IN), "post", in_vault, {"failed": "1"}),
    Row("vault-answer", (302, 404, 404, SIGN_IN), "post", in_vault, {"answer": "look"}),
    Row("vault-answer", (302, 404, 404, SIGN_IN), "post", in_vault, {"answer": "delete"}),
    Row("vault-settings", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-delete", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-restore", (404, 404, 404, SIGN_IN), "post", in_vault),
    Row("api-vault", (200, 404, 404, 401), kwargs=in_vault),
    Row("api-restore-vault", (404, 404, 404, 401), "post", in_vault),
    Row("api-facts", (200, 200, 404, 401), kwargs=in_vault),
    Row("api-facts", (409, 404, 404, 401), "post", in_vault, {"text": "x", "origin": "y"}),
    Row("api-fact", (404, 404, 404, 401), "delete", lambda world: in_vault(world) | {"fact_id": 1}),
    Row("vault-index", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-generations", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-model", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-switch", (302, 404, 404, SIGN_IN), "post", in_vault, {"action": "discard"}),
    Row("vault-context", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-context-state", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-context-change", (302, 404, 404, SIGN_IN), "post", in_vault, {"action": "off"}),
    Row("vault-members", (302, 404, 404, SIGN_IN), "post", in_vault, MATE),
    Row("vault-member", (302, 404, 404, SIGN_IN), "post", of_member, {"role": "editor"}),
    Row("note", (200, 200, 404, SIGN_IN), kwargs=of_note),
    Row("vault-file", (404, 404, 404, SIGN_IN), kwargs=of_note),
    Row("api-note", (200, 200, 404, 401), kwargs=note_id),
    Row("api-similar", (200, 200, 404, 401), kwargs=note_id),
    Row("api-section", (200, 200, 404, 401), kwargs=note_id, data={"path": "Heron"}),
    # A conversation belongs to one person.
    Row("conversation", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("turn", (200, 404, 404, SIGN_IN), kwargs=turn),
    Row("organise", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("mark_conversation", (302, 404, 404, SIGN_IN), "post", marked),
    Row("choose_branch", (404, 404, 404, SIGN_IN), "post", conversation_id),
    Row("keep_branch", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("folder", (200, 404, 404, SIGN_IN), kwargs=in_folder),
    Row("export_conversation", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("export_conversations", (200, 200, 200, SIGN_IN)),
    Row("conversation_files", (200, 200, 200, SIGN_IN)),
    Row("share", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    # A link opens for those it names, and to the others it is as if it were not.
    Row("shares", (200, 200, 200, SIGN_IN)),
    Row("shared", (200, 200, 404, SIGN_IN), kwargs=by_token),
    Row("continue_share", (302, 302, 404, SIGN_IN), "post", by_token),
    Row("revoke_share", (302, 404, 404, SIGN_IN), "post", of_link),
    Row("restore_share", (302, 404, 404, SIGN_IN), "post", of_link),
    Row("delete_conversation", (302, 404, 404, SIGN_IN), "post", conversation_id),
    Row("restore_conversation", (302, 404, 404, SIGN_IN), "post", conversation_id),
    Row("api-conversation", (200, 404, 404, 401), kwargs=conversation),
    Row("api-chat-search", (200, 200, 200, 401), data={"q": "Ottokar"}),
    Row("api-folders", (200, 200, 200, 401)),
    Row("api-folder", (405, 405, 405, 401), kwargs=api_folder),
    Row("api-keep-branch", (200, 404, 404, 401), "post", conversation),
    Row("api-restore", (200, 404, 404, 401), "post", conversation),
    Row("api-export", (200, 404, 404, 401), kwargs=conversation),
    Row("api-share", (201, 404, 404, 401), "post", conversation),
    Row("api-export-all", (200, 200, 200, 401)),
    Row("api-import", (415, 415, 415, 401), "post"),
    Row("api-shares", (200, 200, 200, 401)),
    Row("api-share-link", (405, 405, 405, 401), kwargs=api_link),
    Row("api-restore-share", (204, 404, 404, 401), "post", api_link),
    Row("api-shared", (200, 200, 404, 401), kwargs=by_token),
    Row("api-continue-share", (201, 201, 404, 401), "post", by_token),
    Row("api-stop", (None, 404, 404, 401), "post", message),
    Row("api-step", (409, 404, 404, 401), "post", of_step_api, {"decision": "allow"}),
    Row("stop_answer", (None, 404, 404, SIGN_IN), "post", turn),
    Row("decide_step", (302, 404, 404, SIGN_IN), "post", of_step, {"decision": "allow"}),
    Row("ask", (None, None, None, SIGN_IN), "post", data={"text": "Who?"}),
)


# Streams: asked with the asynchronous client, on committed rows.
STREAMS = (
    Row("api-events", (200, 404, 404, 401), kwargs=message),
    Row("api-ask", (None, 404, 404, 401), "post", conversation, {"text": "And now?"}),
    Row("v1-models", (200, 200, 200, 401)),
    Row("v1-model", (200, 200, 200, 401), kwargs=lambda world: {"model": "secondbrain"}),
    Row("v1-completions", (400, 400, 400, 401), "post", data={"messages": []}),
)
