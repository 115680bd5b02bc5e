"""Addresses of git repositories, as people paste them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

# `git@host:team/notes.git`, the short form of ssh.
_SSH_SHORT = re.compile(r"[^\s/@]+@[^\s/:@]+:(?!//)\S+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80}
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A repository that is read over HTTP. `url` has no slash at its end."""

    url: str
    host: str
    port: int
    is_encrypted: bool

    @property
    def name(self) -> str:
        """The last part of the path, without `.git`; the host where there is none."""
        last = urlsplit(self.url).path.rpartition("/")[2].removesuffix(".git")
        return last or self.host


def looks_like_git(text: str) -> bool:
    """Whether somebody meant a repository with it, not a folder."""
    text = text.strip()
    return bool(_SCHEME.match(text) or _SSH_SHORT.fullmatch(text))


def read_git_address(text: str) -> GitAddress:
    """The address of a repository. Raises ValueError: what is wrong and how to mend it."""
    text = text.strip()
    if _SSH_SHORT.fullmatch(text):
        raise ValueError(_NO_SSH)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"It is no address of a repository ({error}).") from error
    _refuse_scheme(parts)
    if "@" in parts.netloc:
        raise ValueError(
            "Leave user and password out of the address: it is shown to members. Put the token "
            "into an environment variable such as GIT_TOKEN_NOTES and name that variable."
        )
    if not parts.hostname or parts.query or parts.fragment or _has_blanks(text):
        raise ValueError("Write it like this: https://git.example.com/team/notes.git")
    if len(text) > _LONGEST:
        raise ValueError(f"It is longer than {_LONGEST} characters.")
    scheme = parts.scheme.lower()
    url = f"{scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
    return GitAddress(
        url, parts.hostname.lower(), port or _DEFAULT_PORTS[scheme], scheme == "https"
    )


_NO_SSH = (
    "Repositories are not read over ssh: SecondBrain holds no ssh keys. Use the https address; "
    "for a private repository put a token into an environment variable such as GIT_TOKEN_NOTES."
)


def _refuse_scheme(parts: SplitResult) -> None:
    scheme = parts.scheme.lower()
    if scheme in _DEFAULT_PORTS:
        return
    if scheme in {"ssh", "git+ssh", "ssh+git"}:
        raise ValueError(_NO_SSH)
    if scheme == "file":
        raise ValueError(
            "A repository on this server is a folder: add its working folder as one, or serve "
            "it over https."
        )
    if scheme == "git":
        raise ValueError("The git protocol is neither encrypted nor signed: use https.")
    raise ValueError("Write it like this: https://git.example.com/team/notes.git")


def _has_blanks(text: str) -> bool:
    return any(char.isspace() or ord(char) < 32 for char in text)
