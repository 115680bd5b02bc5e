"""Documentation is under test: every variable, command and word of the product is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("secondbrain", "chat", "retrieval", "vault", "providers")
READS_VARIABLE = re.compile(r"""(?:env\.\w+|secret)\(\s*"([A-Z][A-Z0-9_]+)\"""")
WIKILINK = re.compile(r"\[\[([^\]|#]+)")


def variables() -> set[str]:
    found: set[str] = set()
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            found.update(READS_VARIABLE.findall(path.read_text()))
    presets = (ROOT / "providers" / "presets.json").read_text()
    found.update(re.findall(r'"(?:key_variable|base_url_variable)": "([A-Z0-9_]+)"', presets))
    return found


def commands() -> set[str]:
    return {
        path.stem
        for app in APPS
        for path in (ROOT / app / "management" / "commands").glob("[!_]*.py")
    }


@pytest.mark.parametrize("document", [".env.example", "docs/configuration.md"])
def test_every_variable_is_documented(document: str) -> None:
    text = (ROOT / document).read_text()
    missing = {name for name in variables() if not re.search(rf"\b{name}\b", text)}
    assert variables()
    assert missing == set()


def test_no_variable_is_documented_that_nothing_reads() -> None:
    named = set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.M))
    assert named - variables() == set()


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    assert {name for name in commands() if f"`{name}" not in text} == set()


def test_the_glossary_holds_the_words_of_the_tables() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text().lower()
    words = ["vault", "note", "chunk", "passage", "citation", "source", "scope", "arm", "run"]
    words += ["heading path", "embedding model", "provider", "persona", "job", "condense", "fuse"]
    assert [word for word in words if f"**{word}**" not in text] == []


def test_every_package_is_accounted_for() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text().lower()
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            package = re.match(r"[A-Za-z0-9_.-]+", line)
            if package and not line.startswith(("#", "-")):
                assert package.group().lower() in text, package.group()


def test_every_link_between_the_documents_leads_somewhere() -> None:
    documents = {path.stem.lower() for path in (ROOT / "docs").rglob("*.md")}
    for path in (ROOT / "docs").rglob("*.md"):
        prose = re.sub(r"`[^`]*`", "", path.read_text())
        for target in WIKILINK.findall(prose):
            assert target.strip().lower() in documents, f"{path.name}: [[{target}]]"


def test_every_file_that_the_readme_links_is_there() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text())
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_documents_name_no_path_of_a_developers_machine() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        assert not re.search(r"(?<![\w.])/(home|root|work|tmp)/", path.read_text()), path.name
