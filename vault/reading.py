"""From the bytes of a file to a note in pieces: decode, scrub, parse, chunk.

Knows no database. Files over LARGE bytes, and documents of any size, are read in a process
of their own under a time and memory limit, so that no file can take the worker down.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vault.core.chunking import chunk_note
from vault.core.decoding import decode_note
from vault.core.documents import UnreadableDocument, parse_document, picture_note
from vault.core.file_kinds import DOCUMENT_SUFFIXES, suffix_of
from vault.core.golden_notes import is_golden_note
from vault.core.parsing import UnreadableText, parse_text
from vault.core.types import ChunkDraft, ChunkLimits, Finding, ParsedNote

# Measured with 0.8 MB tables and 100,000 headings: markdown-it needs up to 20 s and
# 600 MB for a hostile file of this size and below a tenth of a second for 200 kB of prose.
LARGE = 200_000
MOST_SECONDS = 60
MOST_BYTES = 1024 * 1024 * 1024

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LARGEST_POINTER = 1024
_LFS_REFUSAL = (
    "It is a Git LFS pointer: the file itself is kept elsewhere and was not fetched. Store "
    "notes in git itself, not in LFS."
)

SERVE = "from vault.reading import serve; serve()"
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds. `note` is None when it was refused, and `refusal` says why."""

    note: ParsedNote | None
    chunks: tuple[ChunkDraft, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[tuple[str, int | None], ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What of a vault's settings changes what is read."""

    limits: ChunkLimits
    scrub_emails: bool = False


def read_note(data: bytes, *, path: str, options: ReadingOptions) -> Reading:
    """Read one file by its kind. A file that takes too long or too much is refused."""
    is_document = suffix_of(path) in DOCUMENT_SUFFIXES
    if len(data) <= LARGE and not is_document:
        return parse_file(data, path=path, options=options)
    return _in_a_process(data, path, options)


def parse_file(data: bytes, *, path: str, options: ReadingOptions) -> Reading:
    """As read_note, in this process. Raises whatever the parser raises."""
    if data.startswith(_LFS_POINTER) and len(data) < _LARGEST_POINTER:
        return Reading(None, refusal=_LFS_REFUSAL)
    if suffix_of(path) in DOCUMENT_SUFFIXES:
        return _parse_document(data, path, options)
    decoded = decode_note(data)
    decode_warnings = tuple((str(warning), None) for warning in decoded.warnings)
    if decoded.text is None:
        refusal = decode_warnings[0][0] if decode_warnings else "It is not a text file."
        return Reading(None, refusal=refusal)
    try:
        parsed = parse_text(decoded.text, path=path, emails=options.scrub_emails)
    except UnreadableText as error:
        return Reading(None, refusal=str(error))
    is_golden = is_golden_note(path, parsed.note.properties)
    return Reading(
        note=parsed.note,
        chunks=() if is_golden else tuple(chunk_note(parsed.note, limits=options.limits)),
        findings=parsed.findings,
        warnings=(*decode_warnings, *parsed.note.warnings),
    )


def read_picture_name(path: str, *, options: ReadingOptions) -> Reading:
    """A picture, of which the name alone is read."""
    note = picture_note(path)
    return Reading(note, chunks=tuple(chunk_note(note, limits=options.limits)))


def _parse_document(data: bytes, path: str, options: ReadingOptions) -> Reading:
    try:
        parsed = parse_document(data, path=path, emails=options.scrub_emails)
    except UnreadableDocument as error:
        return Reading(None, refusal=str(error))
    return Reading(
        note=parsed.note,
        chunks=tuple(chunk_note(parsed.note, limits=options.limits)),
        findings=parsed.findings,
        warnings=parsed.note.warnings,
    )


def _in_a_process(data: bytes, path: str, options: ReadingOptions) -> Reading:
    request = pickle.dumps((data, path, options))
    command = [sys.executable, "-c", SERVE]
    try:
        # The command is fixed; the file's bytes go through the pipe only.
        done = subprocess.run(  # noqa: S603
            command,
            input=request,
            capture_output=True,
            timeout=MOST_SECONDS,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Reading(None, refusal=f"It took longer than {MOST_SECONDS} s to read: split it.")
    if done.returncode != 0:
        return Reading(None, refusal=_reason_of_exit(done))
    # Made by serve() below, from a file that went through our own parser.
    reading: Reading = pickle.loads(done.stdout)  # noqa: S301
    return reading


def _reason_of_exit(done: subprocess.CompletedProcess[bytes]) -> str:
    megabytes = MOST_BYTES // 2**20
    if b"MemoryError" in done.stderr or done.returncode == -signal.SIGKILL:
        return f"It took more than {megabytes} MB of memory to read: split it."
    if done.returncode == -signal.SIGXCPU:
        return f"It took longer than {MOST_SECONDS} s to read: split it."
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"It could not be read: {lines[-1] if lines else f'exit {done.returncode}'}"


def limit_this_process() -> None:
    """From here on more than the most time or memory ends the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def serve() -> None:
    """The other side of _in_a_process: one request on stdin, one Reading on stdout."""
    limit_this_process()
    # Written by _in_a_process above, through a pipe of its own.
    data, path, options = pickle.loads(sys.stdin.buffer.read())  # noqa: S301
    reading = parse_file(data, path=path, options=options)
    sys.stdout.buffer.write(pickle.dumps(reading))
