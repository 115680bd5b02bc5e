"""What of an archive is unpacked, and what makes all of it refused."""

from __future__ import annotations

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.archives import ArchivePlan, ArchiveRefused, Entry, Limits, plan_archive

SUFFIXES = (".md", ".png")
LIMITS = Limits(files=5, size=10_000_000)


def plan(*entries: Entry | str) -> ArchivePlan:
    listed = [Entry(e, 100, 50) if isinstance(e, str) else e for e in entries]
    return plan_archive(listed, suffixes=SUFFIXES, limits=LIMITS)


def paths(*entries: Entry | str) -> list[str]:
    return [path for _name, path in plan(*entries).files]


def test_notes_and_pictures_are_unpacked_and_the_rest_is_counted() -> None:
    found = plan("a.md", "b/", "b/c.PNG", "b/tool.exe", ".brainignore", "b/._c.md")
    assert [path for _name, path in found.files] == ["a.md", "b/c.PNG", ".brainignore"]
    assert found.left_out == 2
    assert found.not_read == {}


def test_files_that_may_hold_text_are_told_by_their_kind() -> None:
    found = plan("a.md", "x.docx", "b/y.DOCX", "b/z.rst", "Makefile", "film.mp4", ".git/config.txt")
    assert found.left_out == 6
    assert found.not_read == {".docx": 2, ".rst": 1, "other": 1}


def test_a_folder_around_everything_is_taken_off() -> None:
    assert paths("Notes/a.md", "Notes/b/c.md", "__MACOSX/Notes/._a.md") == ["a.md", "b/c.md"]
    assert paths("Notes/a.md", "c.md") == ["Notes/a.md", "c.md"]
    assert paths("Notes/a.md", "Other/c.md") == ["Notes/a.md", "Other/c.md"]


def test_names_are_of_one_form() -> None:
    assert paths("Notes\\cafe\u0301.md", "./Notes//b.md") == ["caf\u00e9.md", "b.md"]


@pytest.mark.parametrize(
    "name", ["../a.md", "x/../../a.md", "/etc/a.md", "C:\\a.md", "..\\a.md", "a\0.md", "c:/a.md"]
)
def test_a_path_that_leads_out_refuses_the_archive(name: str) -> None:
    with pytest.raises(ArchiveRefused, match=r"leads out of the vault.*Nothing was unpacked"):
        plan("ok.md", name)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_a_device_refuses_the_archive(kind: int) -> None:
    with pytest.raises(ArchiveRefused, match=r"“x/evil\.md” is a link"):
        plan("ok.md", Entry("x/evil.md", 9, 9, mode=kind | 0o777))


def test_an_encrypted_file_says_what_to_do() -> None:
    with pytest.raises(ArchiveRefused, match="without a password"):
        plan(Entry("a.md", 9, 9, is_encrypted=True))


def test_too_many_too_large_and_too_well_packed_archives_are_refused() -> None:
    with pytest.raises(ArchiveRefused, match="holds 6 files; 5 are the most"):
        plan(*(f"{n}.md" for n in range(6)))
    with pytest.raises(ArchiveRefused, match="has 11 MB; 10 MB are the most"):
        plan(Entry("a.md", 6_000_000, 3_000_000), Entry("b.md", 5_000_000, 3_000_000))
    with pytest.raises(ArchiveRefused, match=r"“b.md” unpacks to far more"):
        plan("a.md", Entry("b.md", 5_000_000, 5_000))


def test_two_files_of_one_name_and_a_file_that_is_a_folder_are_refused() -> None:
    with pytest.raises(ArchiveRefused, match="is there twice"):
        plan("caf\u00e9.md", "cafe\u0301.md")
    with pytest.raises(ArchiveRefused, match=r"“x.md” is a file and a folder"):
        plan("x.md/a.md", "x.md")


def test_paths_that_no_disk_holds_are_refused() -> None:
    for name in ("d/" * 70 + "a.md", "n" * 300 + ".md", "d/" * 10 + "e" * 600 + "/a.md"):
        with pytest.raises(ArchiveRefused, match="too long or too deep"):
            plan(name, "ok.md")


def test_an_archive_without_notes_is_refused_and_many_names_are_counted() -> None:
    with pytest.raises(ArchiveRefused, match="no note in the archive"):
        plan("a.exe", "b/")
    with pytest.raises(ArchiveRefused, match="and 2 more"):
        plan(*(f"../{n}.md" for n in range(5)))


NAMES = st.lists(
    st.sampled_from(["a", "..", ".", "", "b.md", "/", "\\", "C:", "é.md", "x.png", "~"]),
    min_size=1,
    max_size=6,
).map("/".join)


@given(st.lists(NAMES, max_size=5))
def test_whatever_is_planned_lies_inside_and_apart(names: list[str]) -> None:
    try:
        found = paths(*names)
    except ArchiveRefused:
        return
    assert len(set(found)) == len(found)
    for path in found:
        parts = path.split("/")
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(parts)


def test_a_vaults_own_settings_files_come_along() -> None:
    own = ("V/secondbrain.json", "V/.claude/agents/a.md", "V/.claude/other.json", "V/sub/x.json")
    assert paths("V/note.md", *own) == ["note.md", "secondbrain.json", ".claude/agents/a.md"]
