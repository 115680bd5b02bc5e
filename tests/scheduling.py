"""Which tests of a run go to one process of it.

Those that share what takes seconds to start. Larger groups begin first, and a process that has
done its own takes single tests, so that all of them end at about the same time.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

GROUPS = {
    "browser": (
        "tests/browser/test_conversations.py",
        "tests/browser/test_pages.py",
        "tests/browser/test_road.py",
    ),
    "scripts": ("tests/chat/test_scripts.py", "tests/chat/test_scripts_citations.py"),
    # Kill and wait: one after the other, or they take each other for hanging.
    "processes": (
        "tests/chat/test_processes.py",
        "tests/secondbrain/test_backup.py",
        "tests/secondbrain/test_mcp.py",
        "tests/secondbrain/test_up.py",
        "tests/vault/test_switch_processes.py",
        "tests/vault/test_worker.py",
    ),
    "model servers": (
        "tests/contracts/test_real_embedder.py",
        "tests/contracts/test_real_reranker.py",
        "tests/contracts/test_real_server.py",
    ),
    "crowd": (
        "tests/retrieval/test_cases_in_a_crowd.py",
        "tests/retrieval/test_statements_in_a_crowd.py",
    ),
}
_GROUP_OF = {file: name for name, files in GROUPS.items() for file in files}


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """A group goes to one process; every other test by itself to whichever is free.

    (pytest-xdist's own loadgroup writes the groups into names of tests, where pytest 9.2 does
    not look for them.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return _GROUP_OF.get(nodeid.partition("::")[0], nodeid)
