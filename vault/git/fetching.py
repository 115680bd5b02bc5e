"""Fetching a repository in a process of its own, under limits of memory and time.

So a pack that unpacks to a thousand times its size, or a tree of a billion paths, ends
that process and nothing else: the vault keeps what it had.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import structlog

from vault.git.clone import Bounds, Head, Remote, ask_head, fetch
from vault.git.listing import Listing, load_listing
from vault.git.trouble import GitOffline, GitUnavailable

log = structlog.get_logger(__name__)

BOUNDS = Bounds()
SERVE = "from vault.git.fetching import serve; serve()"
ROOT = Path(__file__).resolve().parent.parent.parent
# Beyond the time that the process has for itself, to start and to end.
GRACE = 10.0


@dataclass(frozen=True, slots=True)
class _Request:
    place: Path
    remote: Remote
    head: Head
    bounds: Bounds
    take_rewritten: bool
    parent: int


def update(place: Path, remote: Remote, bounds: Bounds, *, take_rewritten: bool) -> Listing:
    """Fetch the branch into the folder `place` and list its files.

    Raises GitOffline; and GitUnavailable when the branch is gone, costs more than `bounds`,
    or was rewritten and nobody said that the new history is to be taken. The list of
    before holds then.
    """
    known = load_listing(place)
    head = ask_head(remote, seconds=bounds.seconds)
    if (known.address, known.branch, known.commit) == (
        remote.address.url,
        head.branch,
        head.commit,
    ):
        return known
    _in_a_process(_Request(place, remote, head, bounds, take_rewritten, os.getpid()))
    return load_listing(place)


def _in_a_process(request: _Request) -> None:
    try:
        # The command is fixed; what it is to do goes through the pipe only.
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", SERVE],
            input=pickle.dumps(request),
            capture_output=True,
            timeout=request.bounds.seconds + GRACE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitUnavailable(_took_long(request.bounds)) from error
    if done.returncode != 0:
        log.error("git_process_ended", code=done.returncode, stderr=_tail(done.stderr))
        raise _trouble_of_exit(done.returncode, request.bounds)
    answer: dict[str, str] = json.loads(done.stdout)
    match answer["kind"]:
        case "offline":
            raise GitOffline(answer["text"])
        case "unavailable":
            raise GitUnavailable(answer["text"])


def _trouble_of_exit(code: int, bounds: Bounds) -> Exception:
    if code == -signal.SIGXCPU:
        return GitUnavailable(_took_long(bounds))
    if code == -signal.SIGKILL:
        return GitUnavailable(_took_memory(bounds))
    return GitOffline(
        f"The process that unpacks the repository ended by itself (code {code}). The server's "
        "log has the reason; the next scan tries again."
    )


def _took_long(bounds: Bounds) -> str:
    return (
        f"Unpacking the repository took longer than {bounds.seconds:.0f} s. Follow a smaller one; "
        "a larger JOB_TIMEOUT gives it more time."
    )


def _took_memory(bounds: Bounds) -> str:
    return (
        f"Unpacking the repository takes more than {bounds.memory / 10**6:,.0f} MB of memory: it "
        "is too large, or made to do harm. Follow one of notes alone."
    )


def _tail(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()[-1000:]


def serve() -> None:
    """The other side of _in_a_process: one request on stdin, what went wrong on stdout."""
    # Written by _in_a_process above, through a pipe of its own.
    request: _Request = pickle.loads(sys.stdin.buffer.read())  # noqa: S301
    limit_this_process(request.bounds)
    threading.Thread(target=_end_with, args=(request.parent,), daemon=True).start()
    kind, text = _outcome(request)
    sys.stdout.write(json.dumps({"kind": kind, "text": text}))


def limit_this_process(bounds: Bounds) -> None:
    """From here on more than the most time or memory ends the process."""
    seconds = max(1, int(bounds.seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))


def _outcome(request: _Request) -> tuple[str, str]:
    try:
        fetch(
            request.place,
            request.remote,
            request.head,
            request.bounds,
            take_rewritten=request.take_rewritten,
        )
    except GitOffline as error:
        return "offline", str(error)
    except GitUnavailable as error:
        return "unavailable", str(error)
    except MemoryError:
        return "unavailable", _took_memory(request.bounds)
    return "", ""


def _end_with(parent: int) -> None:
    """Nobody waits for the clone any more when who asked for it was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
