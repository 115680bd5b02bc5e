"""Which files are read as what: notes, drawings, source code."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vault.core.types import NoteKind

NOTE_SUFFIXES = (".md", ".markdown")
# Boards of Obsidian, and drawings: only the text in them is read.
DRAWING_SUFFIXES = (".canvas", ".excalidraw")
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif")
DOCUMENT_SUFFIXES = (".pdf",)
ATTACHMENT_SUFFIXES = DOCUMENT_SUFFIXES + PICTURE_SUFFIXES
# What a vault says of itself: settings and personas, which are no notes.
SETTINGS_FILE = "secondbrain.json"
PERSONAS_FOLDER = ".claude/agents"


def is_settings_file(path: str) -> bool:
    """Whether this path of a vault is one of its own settings files."""
    folder, _, name = path.rpartition("/")
    return path == SETTINGS_FILE or (folder == PERSONAS_FOLDER and name.lower().endswith(".md"))


# Languages under the names that Pygments colours them by.
_LANGUAGES = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .tsx .mts .cts",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "kotlin": ".kt .kts",
    "scala": ".scala",
    "csharp": ".cs",
    "c": ".c .h",
    "cpp": ".cpp .cc .cxx .hpp .hh .hxx",
    "swift": ".swift",
    "dart": ".dart",
    "php": ".php",
    "ruby": ".rb",
    "perl": ".pl .pm",
    "lua": ".lua",
    "r": ".r",
    "julia": ".jl",
    "elixir": ".ex .exs",
    "erlang": ".erl",
    "haskell": ".hs",
    "ocaml": ".ml .mli",
    "clojure": ".clj .cljs",
    "bash": ".sh .bash .zsh",
    "powershell": ".ps1 .psm1",
    "sql": ".sql",
    "html": ".html .htm .vue .svelte",
    "css": ".css .scss .less",
    "json": ".json",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "ini": ".ini .cfg .conf",
    "xml": ".xml",
    "terraform": ".tf",
    "protobuf": ".proto",
    "graphql": ".graphql",
    "text": ".txt .rst .org .tex .log .csv",
}
LANGUAGES = {
    suffix: language for language, suffixes in _LANGUAGES.items() for suffix in suffixes.split()
}
_SUFFIX = re.compile(r"\.[a-z0-9_+-]{1,15}")
_DATA = frozenset({"html", "css", "json", "yaml", "toml", "ini", "xml", "text"})
# Programs only: pages, settings and data of whatever lies beside notes would drown them.
DEFAULT_CODE_SUFFIXES = " ".join(
    suffix for suffix, language in LANGUAGES.items() if language not in _DATA
)
# Nobody looks for text in these.
_BINARIES = {
    "pictures": ".svg .ico .bmp .tif .tiff .heic .heif .psd .ai .eps .raw .cr2 .nef",
    "sound": ".mp3 .m4a .wav .flac .ogg .opus .aac .wma",
    "film": ".mp4 .m4v .mov .mkv .avi .webm .wmv .3gp",
    "fonts": ".ttf .otf .woff .woff2 .eot",
    "archives": ".zip .gz .tgz .tar .bz2 .xz .zst .7z .rar .jar .iso .dmg .apk .deb .rpm",
    "programs": ".exe .msi .dll .so .dylib .a .o .obj .lib .bin .class .pyc .pyo .wasm",
    "databases": ".db .sqlite .sqlite3",
}
_WITHOUT_TEXT = frozenset(suffix for kind in _BINARIES.values() for suffix in kind.split())
# Under what files without a suffix are counted, and those of rarer kinds.
OTHER_KINDS = "other"
MOST_KINDS = 20


def unread_kind(path: str) -> str:
    """Under what a file is counted that is of no kind that is read: its suffix, or OTHER_KINDS.

    Empty when nobody would look for text in it: it is hidden, or a picture, sound, program.
    """
    if path.startswith(".") or "/." in path:
        return ""
    suffix = suffix_of(path)
    if suffix in _WITHOUT_TEXT or suffix in ATTACHMENT_SUFFIXES:
        return ""
    return suffix if _SUFFIX.fullmatch(suffix) else OTHER_KINDS


def most_frequent_kinds(counts: Mapping[str, int]) -> dict[str, int]:
    """Files by kind, the most frequent first, at most MOST_KINDS; the rest is OTHER_KINDS."""
    ranked = sorted(
        (pair for pair in counts.items() if pair[0] and pair[0] != OTHER_KINDS),
        key=lambda pair: (-pair[1], pair[0]),
    )
    told = dict(ranked[:MOST_KINDS])
    others = counts.get(OTHER_KINDS, 0) + sum(count for _, count in ranked[MOST_KINDS:])
    return told | {OTHER_KINDS: others} if others else told


def suffixes_to_read(code: tuple[str, ...]) -> tuple[str, ...]:
    """Suffixes of every file that becomes a note, with those of the vault's source files."""
    return NOTE_SUFFIXES + DRAWING_SUFFIXES + ATTACHMENT_SUFFIXES + code


def is_picture(path: str) -> bool:
    """Whether a file is a picture, as far as its name tells."""
    return suffix_of(path) in PICTURE_SUFFIXES


def suffix_of(path: str) -> str:
    """The suffix of a file in lower case, with its dot; empty for `name` and `.name`."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    return dot + suffix if stem else ""


def kind_of(path: str) -> NoteKind:
    """What a file is read as. What else is listed is code: somebody asked for it."""
    suffix = suffix_of(path)
    if suffix in DRAWING_SUFFIXES:
        return NoteKind.CANVAS
    if suffix in ATTACHMENT_SUFFIXES:
        return NoteKind.ATTACHMENT
    return NoteKind.CODE if suffix and suffix not in NOTE_SUFFIXES else NoteKind.NOTE


def language_of(path: str) -> str:
    """The language of a source file; its bare suffix where none is known."""
    suffix = suffix_of(path)
    return LANGUAGES.get(suffix, suffix[1:])


def read_suffixes(text: str) -> tuple[str, ...]:
    """Suffixes as people list them (`.py js, *.TS`), each once.

    Raises ValueError that names what is no suffix, or is a note's or a drawing's.
    """
    suffixes: list[str] = []
    for word in re.split(r"[\s,;]+", text.strip()):
        suffix = "." + word.lower().removeprefix("*").removeprefix(".")
        if not word:
            continue
        if not _SUFFIX.fullmatch(suffix):
            raise ValueError(f"{word!r} is no suffix of a file. Write them like this: .py .js .sql")
        if suffix in suffixes_to_read(()):
            raise ValueError(f"{word!r} is read anyway. Leave it out here.")
        suffixes.append(suffix)
    return tuple(dict.fromkeys(suffixes))
