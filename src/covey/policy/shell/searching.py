"""Which words of a command name folders below which a program may read or write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from covey.policy.shell.verdict import program_name
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey.policy.shell.words import Word

# fmt: off
_STAYS = frozenset(
    [
        "cd", "pushd", "popd", "chdir", "ls", "stat", "test", "[", ":", "true", "false", "echo", "printf", "pwd",
        "mkdir", "rmdir", "touch", "basename", "dirname", "realpath", "readlink", "file", "df", "export", "which",
        "type", "cat", "tac", "rev", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "nl", "fold", "column",
        "paste", "join", "comm", "cmp", "od", "xxd", "hexdump", "strings", "base64", "md5sum", "sha1sum",
        "sha256sum", "cksum", "sed", "awk", "gawk", "mawk", "jq", "yq", "tee", "cp", "chmod", "chown", "grep",
        "egrep", "fgrep", "zgrep", "less", "more", "read", "set", "kill", "sleep", "exit", "return", "id", "date",
        "find",
    ]
)
# fmt: on
"""Programs that do nothing below a folder that they are given, or only write the names of what is there."""
_UNLESS = {
    "ls": re.compile(r"-\w*R|--r"),
    "cp": re.compile(r"-\w*[rRa]|--[ra]"),
    "chmod": re.compile(r"-\w*R|--r"),
    "chown": re.compile(r"-\w*R|--r"),
    "find": re.compile(r"-(?:exec|ok|delete|fprint|fls|files0)"),
    "grep": re.compile(r"-\w*[rRd]|--[rd]"),
}
"""By these options they do. Compared with the beginning of words."""
_UNLESS.update(dict.fromkeys(("egrep", "fgrep", "zgrep"), _UNLESS["grep"]))
_HERE = frozenset(["ls", "grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "tree", "du"])
"""Programs that search the folder in which they run if they are told no other."""
SEARCHES_TOO = frozenset(["find", "fd", "docker", "podman"])
"""Programs that go through folders, or hand them on, and run a command beside that."""
READS_ALL = frozenset(
    ["grep", "egrep", "fgrep", "zgrep", "cp", "mv", "tar", "bsdtar", "zip", "7z", "cpio", "rsync", "scp", "diff"]
)
"""Programs that go through folders for what is in all files: also for one whose name is denied in any folder."""


def searched(own: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of a command that may be folders with everything below them."""
    name = program_name(own[0].text)
    option = _UNLESS.get(name)
    if name in _STAYS and not (option and any(_is(option, word) for word in own[1:])):
        return
    yield from own[1:]
    if name in _HERE:
        yield own[0]._replace(text=".", path=".", variable="")


def _is(option: re.Pattern[str], word: Word) -> bool:
    return word.path.startswith(UNKNOWN) or option.match(word.text) is not None
