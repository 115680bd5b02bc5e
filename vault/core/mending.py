"""How to mend what is wrong with a file, by the reason it is listed with.

The reasons are written where files are read and kept with their notes; this table says
what each of them asks of the vault's owner.
"""

from __future__ import annotations

import re

# The first that is found in a reason tells; tests/vault/test_problems.py makes each of the
# reasons from a file.
_MENDS = (
    (r"[Ss]plit it", "Split it, or raise the limit in the vault's settings, and sync."),
    (r"binary", "It is no text under this name: rename it, or name it in .brainignore."),
    (r"looks generated", "Name it in .brainignore."),
    (r"symbolic link", "Put a copy in the place of the link, or name it in .brainignore."),
    (r"[Pp]ermission", "Let the account that runs this server read it, and sync."),
    (r"deeper than", "Move the folder further up, and sync."),
    (r"password|encrypted", "Save it without a password, or name it in .brainignore."),
    (r"JSON|no list of", "Open it in the program that made it, save it again, and sync."),
    (r"database refused", "Look for damaged characters, save the file, and index it again."),
    (r"could not be parsed|could not be read", "Save the file again, and index it again."),
    (r"a pipe|a device|no folder|leads out", "Take it out of the folder."),
    (r"UTF-8|Unicode form", "It is found by the name shown here; rename it to be rid of this."),
)
_OTHER = "Correct the file and sync, or name it in .brainignore if it is no note."


def mend_of(reason: str) -> str:
    """What to do about a file that is listed with `reason`."""
    return next((mend for pattern, mend in _MENDS if re.search(pattern, reason)), _OTHER)
