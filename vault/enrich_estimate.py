"""What context lines would cost, before somebody switches them on."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from providers.core.types import Usage
from providers.models import ChatModel, EmbeddingModel
from providers.usage import cost_of
from vault.core.context_lines import Passage, plan_calls, prompt_tokens
from vault.enrichment import EnrichSettings, due_chunks
from vault.models import Chunk, Vault

# Tokens that a line of 30 words takes in a reply, and a summary of 20, with their JSON.
LINE = 55
SUMMARY = 38


@dataclass(frozen=True, slots=True)
class EnrichEstimate:
    """Calls to the model, tokens of both sides, and USD at the prices in the models' rows;
    then what embedding the passages anew with their lines takes. Tokens are estimated."""

    model: ChatModel
    notes: int
    passages: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    embedding_model: EmbeddingModel | None
    embedding_tokens: int
    embedding_cost: Decimal


def enrich_estimate(vault: Vault, model: ChatModel, *, summarize: bool) -> EnrichEstimate:
    """What it takes to write every line that `vault` lacks under these settings."""
    settings = EnrichSettings(vault.pk, model, summarize, None)
    due = set(due_chunks(settings).values_list("pk", flat=True))
    rows = Chunk.objects.filter(vault=vault, note_id__in=due_chunks(settings).values("note_id"))
    columns = rows.order_by("note_id", "ordinal").values_list("note_id", "pk", "ordinal", "tokens")
    notes = calls = sent = embedded = 0
    for _note_id, chunks in groupby(columns.iterator(), key=lambda row: row[0]):
        listed = list(chunks)
        passages = [Passage(ordinal + 1, "", "", tokens) for _n, _pk, ordinal, tokens in listed]
        wanted = {ordinal + 1 for _n, pk, ordinal, _tokens in listed if pk in due}
        planned = plan_calls(
            passages,
            wanted,
            context_window=model.context_window,
            most_reply_tokens=min(model.max_output_tokens, model.context_window // 2),
            summarize=summarize,
        )
        notes += 1
        calls += len(planned)
        sent += sum(prompt_tokens(call, summarize=summarize) for call in planned)
        embedded += sum(p.tokens + LINE for p in passages if p.number in wanted)
    written = len(due) * (LINE + (SUMMARY if summarize else 0))
    serving = vault.embedding_model
    return EnrichEstimate(
        model=model,
        notes=notes,
        passages=len(due),
        calls=calls,
        input_tokens=sent,
        output_tokens=written,
        cost=cost_of(model, Usage(input_tokens=sent, output_tokens=written)),
        embedding_model=serving,
        embedding_tokens=embedded if serving else 0,
        embedding_cost=cost_of(serving, Usage(input_tokens=embedded)) if serving else Decimal(0),
    )
