"""A git repository served over smart HTTP on this machine, which tests commit to."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo
from dulwich.server import BackendRepo, DictBackend
from dulwich.web import make_wsgi_chain

_clock = itertools.count(1_700_000_000, 60)
REGULAR, SYMBOLIC_LINK, SUBMODULE = 0o100644, 0o120000, 0o160000


@dataclass
class GitServer:
    """`commit` makes the branch hold exactly `files` (besides links and submodules)."""

    repo: Repo
    url: str = ""
    password: str = ""
    is_down: bool = False
    redirects_to: str = ""
    asked: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)

    def commit(
        self,
        files: Mapping[str, str | bytes],
        *,
        branch: str = "main",
        others: Mapping[str, tuple[int, bytes]] | None = None,
        is_rewritten: bool = False,
    ) -> str:
        entries = {path: (REGULAR, self._blob(content)) for path, content in files.items()}
        for path, (mode, content) in (others or {}).items():
            sha = ObjectID(content) if mode == SUBMODULE else self._blob(content)
            entries[path] = (mode, sha)
        made = Commit()
        made.tree = self._tree(entries)
        ref = Ref(f"refs/heads/{branch}".encode())
        made.parents = [] if is_rewritten or ref not in self.repo.refs else [self.repo.refs[ref]]
        made.author = made.committer = b"Anna <anna@example.com>"
        made.author_time = made.commit_time = next(_clock)
        made.author_timezone = made.commit_timezone = 0
        made.message = b"Write notes"
        self.repo.object_store.add_object(made)
        self.repo.refs[ref] = made.id
        return made.id.decode()

    def drop(self, branch: str) -> None:
        del self.repo.refs[Ref(f"refs/heads/{branch}".encode())]

    def _blob(self, content: str | bytes) -> ObjectID:
        blob = Blob.from_string(content.encode() if isinstance(content, str) else content)
        self.repo.object_store.add_object(blob)
        return blob.id

    def _tree(self, entries: Mapping[str, tuple[int, ObjectID]]) -> ObjectID:
        tree = Tree()
        folders: dict[str, dict[str, tuple[int, ObjectID]]] = {}
        for path, (mode, sha) in entries.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = (mode, sha)
            else:
                tree.add(name.encode("utf-8", "surrogateescape"), mode, sha)
        for name, inside in folders.items():
            tree.add(name.encode(), 0o040000, self._tree(inside))
        self.repo.object_store.add_object(tree)
        return tree.id

    def wsgi(self, inner: Callable[..., Any]) -> Callable[..., Iterable[bytes]]:
        def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            self.asked.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
            self.authorizations.append(environ.get("HTTP_AUTHORIZATION", ""))
            wanted = "Basic " + b64encode(self.password.encode()).decode()
            if self.is_down:
                start("503 Service Unavailable", [])
                return [b""]
            if self.redirects_to:
                start("301 Moved Permanently", [("Location", self.redirects_to)])
                return [b""]
            if self.password and environ.get("HTTP_AUTHORIZATION") != wanted:
                start("401 Unauthorized", [("WWW-Authenticate", "Basic")])
                return [b""]
            answer: Iterable[bytes] = inner(environ, start)
            return answer

        return application


class _Quiet(WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def git_server(place: Path) -> Iterator[GitServer]:
    """An empty repository, served until the block ends."""
    repo = Repo.init_bare(str(place), mkdir=True)
    repo.refs.set_symbolic_ref(Ref(b"HEAD"), Ref(b"refs/heads/main"))
    server = GitServer(repo)
    served: dict[str, BackendRepo] = {"/notes.git": repo}
    chain = make_wsgi_chain(DictBackend(served))
    httpd = make_server("127.0.0.1", 0, server.wsgi(chain), handler_class=_Quiet)
    server.url = f"http://127.0.0.1:{httpd.server_port}/notes.git"
    thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
        repo.close()
