"""Calls leave the product through the doors that look at addresses, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("secondbrain", "chat", "retrieval", "vault", "providers")
CLIENTS = frozenset(
    {"aiohttp", "anthropic", "ftplib", "httpcore", "httpx", "httpx2", "openai", "pycurl"}
    | {"requests", "smtplib", "telnetlib", "urllib3", "websocket", "websockets", "xmlrpc"}
)
STANDARD = frozenset({"http.client", "urllib.request"})
# Who may import a client, and why.
ALLOWED = {
    "providers/egress.py": "the guarded client itself",
    "providers/backends/": "SDKs, which are given the guarded client",
    "vault/git/": "git over HTTP, with addresses checked in http.py",
    "secondbrain/management/commands/up.py": "asks this machine's own server whether it is up",
}
SDK_CLIENTS = frozenset({"AsyncOpenAI", "OpenAI", "AsyncAnthropic", "Anthropic"})


def sources() -> Iterator[tuple[str, ast.Module]]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_client(name: str) -> bool:
    return name.partition(".")[0] in CLIENTS or any(
        name == it or name.startswith(f"{it}.") for it in STANDARD
    )


def test_only_the_doors_import_a_client() -> None:
    strangers = {
        path: sorted(set(filter(is_client, imported(tree))))
        for path, tree in sources()
        if not path.startswith(tuple(ALLOWED)) and any(map(is_client, imported(tree)))
    }
    assert strangers == {}


def test_every_door_is_still_there() -> None:
    paths = [path for path, tree in sources() if any(map(is_client, imported(tree)))]
    for door in ALLOWED:
        assert any(path.startswith(door) for path in paths), f"{door} imports no client any more"


def test_an_sdk_is_only_used_with_the_guarded_client() -> None:
    made = 0
    for path, tree in sources():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in SDK_CLIENTS:
                made += 1
                given = {keyword.arg for keyword in node.keywords}
                assert "http_client" in given, f"{path}:{node.lineno}"
            assert (
                name not in {"AsyncClient", "Client"}
                or path == "providers/egress.py"
                or ("httpx" not in ast.unparse(node.func))
            ), f"{path}:{node.lineno}"
    assert made >= 2
