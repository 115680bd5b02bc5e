"""A process that syncs is killed for real, at every stage: the next run ends it well."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.vault.folders import Folder, make_folder, snapshot
from tests.vault.processes import in_a_copy
from vault import storing
from vault.connections import due_connections
from vault.models import SyncRun
from vault.run_rows import KILLED
from vault.sync import SyncProgress, sync_vault

pytestmark = pytest.mark.django_db(transaction=True)

STAGES = ("scan", "hash", "changes", "notes", "links", "embeds")
# Kills between two statements of the database, beside one at every stage.
AMONG_STATEMENTS = 10


def lived(folder: Folder) -> None:
    """A vault that was read, and then changed in every way."""
    folder.write("pump.md", "# Pump\n\nquorvex ^b1\n\n[[old name]] [[late]]")
    folder.write("old name.md", "# Old\n\nzelmira [[pump]] [[doomed]]")
    folder.write("doomed.md", "# Doomed\n\ntulmane")
    folder.write("shows.md", "Before.\n\n![[pump#^b1]] ![[doomed]]")
    folder.sync()
    folder.write("pump.md", "# Pump\n\nrolmane ^b1\n\n[[new name]] [[late]]")
    folder.move("old name.md", "new name.md")
    folder.delete("doomed.md")
    for number in range(4):
        folder.write(f"late{number}.md", f"# Late {number}\n\n[[shows]] ![[new name]]")
    folder.write("late.md", "# Late\n\npassword: Vq8#mZ2$wL9x\n\n[[shows]] ![[new name]]")


@dataclass
class Moments:
    """What a run does, one after the other: reports of progress and statements.

    At the moment numbered `fatal` the process is killed, as by the kernel.
    """

    fatal: int = -1
    seen: list[str] = field(default_factory=list)

    def progress(self, progress: SyncProgress) -> None:
        self._moment(progress.stage)

    def statement(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self._moment(sql)
        return execute(sql, *rest)

    def _moment(self, what: str) -> None:
        if len(self.seen) == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen.append(what)

    def run(self, folder: Folder) -> None:
        with connection.execute_wrapper(self.statement):
            sync_vault(folder.vault.pk, on_progress=self.progress)


def fatal_moments(seen: list[str]) -> list[int]:
    """The first moment of every stage, and some in equal distances over the rest."""
    stages = [seen.index(stage) for stage in STAGES]
    writes = [n for n in range(stages[2], len(seen)) if seen[n] not in STAGES]
    step = len(writes) / AMONG_STATEMENTS
    return sorted(
        {*stages, *(writes[int(step * n)] for n in range(AMONG_STATEMENTS)), len(seen) - 1}
    )


def test_a_run_killed_at_any_moment_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "BATCH_NOTES", 2)
    whole = make_folder(tmp_path / "whole")
    lived(whole)
    uncut = Moments()
    uncut.run(whole)
    anew = make_folder(tmp_path / "whole")
    anew.sync()
    wanted = snapshot(anew.vault)
    assert snapshot(whole.vault) == wanted
    moments = fatal_moments(uncut.seen)
    assert len(moments) > AMONG_STATEMENTS
    for number in moments:
        cut = make_folder(tmp_path / f"cut{number}")
        lived(cut)
        ended = in_a_copy(partial(Moments(fatal=number).run, cut))
        assert ended == signal.SIGKILL, uncut.seen[number]
        sync_vault(cut.vault.pk, wait=20)
        assert snapshot(cut.vault) == wanted, f"killed at: {uncut.seen[number]}"
        assert due_connections(cut.vault.pk) is None
        states = SyncRun.objects.filter(vault=cut.vault).values_list("state", "error")
        assert SyncRun.State.RUNNING not in dict(states)
        is_written = number == moments[-1]  # the lock was all that was left
        assert ((SyncRun.State.FAILED, KILLED) in states) is not is_written
