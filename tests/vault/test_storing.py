"""Files on their way into the tables: read by a thread, one batch ahead."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from vault.core.types import FileState
from vault.reading import Reading
from vault.storing import BATCH_NOTES, ReadFile, batches_ahead


def read_file(number: int) -> ReadFile:
    state = FileState(f"{number}.md", 1, datetime(2026, 1, 1, tzinfo=UTC))
    return ReadFile(state, Reading(None))


def test_every_file_is_in_one_batch_in_its_order() -> None:
    files = [read_file(number) for number in range(2 * BATCH_NOTES + 7)]
    batches = list(batches_ahead(files))
    assert [len(batch) for batch in batches] == [BATCH_NOTES, BATCH_NOTES, 7]
    assert [file for batch in batches for file in batch] == files
    assert list(batches_ahead([])) == []


def test_the_next_batch_is_read_while_this_one_is_stored() -> None:
    read: list[str] = []
    has_read = threading.Event()

    def files() -> Iterator[ReadFile]:
        for number in range(2 * BATCH_NOTES):
            read.append(threading.current_thread().name)
            if number == BATCH_NOTES:
                has_read.set()
            yield read_file(number)

    with closing(batches_ahead(files())) as batches:
        next(batches)
        assert has_read.wait(20), "nothing was read ahead"
    assert threading.current_thread().name not in read


def test_what_reading_raises_is_raised_after_the_batches_before_it() -> None:
    def files() -> Iterator[ReadFile]:
        yield from (read_file(number) for number in range(BATCH_NOTES))
        raise RuntimeError("the disk is gone")

    batches = batches_ahead(files())
    assert len(next(batches)) == BATCH_NOTES
    with pytest.raises(RuntimeError, match="the disk is gone"):
        next(batches)


def test_a_stream_that_is_left_reads_no_further_file() -> None:
    read: list[int] = []
    main = threading.main_thread().ident or 0

    def is_left() -> bool:
        """Whether who took the batches waits for the reader to end."""
        stack = traceback.walk_stack(sys._current_frames()[main])
        return any(frame.f_code.co_name == "shutdown" for frame, _line in stack)

    def files() -> Iterator[ReadFile]:
        for number in range(2 * BATCH_NOTES):
            while number == BATCH_NOTES and not is_left():
                threading.Event().wait(0.001)
            read.append(number)
            yield read_file(number)

    with closing(batches_ahead(files())) as batches:
        next(batches)
    assert len(read) == BATCH_NOTES + 1
