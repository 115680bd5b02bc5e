"""Servers that run in a process of their own for the length of a test module."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def python_server(module: str, *options: str, log: Path) -> Iterator[int]:
    """`python -m module` with `{port}` in its options filled in; gives the port.

    The server is up once it has printed a line.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", module, *(option.format(port=port) for option in options)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"{module} did not start:\n{log.read_text()[-2000:]}"
        try:
            yield port
        finally:
            process.terminate()
            process.communicate(timeout=30)
