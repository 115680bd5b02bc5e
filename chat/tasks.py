"""What the queue calls for the chat, and how its edges ask for it."""

from __future__ import annotations

from chat.organising import KEPT_FOR, LEFT_FOR, sweep_conversations
from chat.providing import site_providing
from chat.unanswered import check_open
from vault import jobs
from vault.jobs import Again
from vault.models import Job

# Seconds between two looks while something waits for its end.
LOOK_EVERY = 3600.0
# Seconds until notes that were just stored are likely to be found by their meaning too.
INDEXED_AGAIN = 20.0


def request_sweep() -> Job:
    """Something was deleted, or is temporary: look when its time is over."""
    return jobs.want("chat_sweep", key="chat_sweep", after=KEPT_FOR.total_seconds())


def request_early_sweep() -> Job:
    """The tab of a temporary one was closed: look when it has not come back."""
    return jobs.want("chat_sweep", key="chat_sweep", after=LEFT_FOR.total_seconds() + 1)


def sweep_job(job: Job) -> Again | None:
    """Delete what is due; look again while something waits."""
    return Again(after=LOOK_EVERY) if sweep_conversations() else None


def check_unanswered_job(job: Job) -> Again | None:
    """Ask the open questions of changed vaults again; the settings have it after a sync."""
    return Again(after=INDEXED_AGAIN) if check_open(site_providing()) else None
