"""Progress of commands: on stderr, and only when somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Show(Protocol):
    """Shows how far something is; `total` 0 means that nobody knows yet."""

    def __call__(self, text: str, done: int, total: int) -> None: ...


@contextmanager
def progress_bar(title: str) -> Iterator[Show]:
    """A bar on a terminal, silence elsewhere: stdout is for data."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)

        def show(text: str, done: int, total: int) -> None:
            bar.update(task, description=f"{title}: {text}", completed=done, total=total or None)

        yield show


def _silent(text: str, done: int, total: int) -> None:
    """Nobody watches."""
