"""The sockets of the user's tmux servers on a machine."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.hosts.executor import Executor
    from covey.hosts.shell import Shell

FIND_S, CONNECT_S = 4.0, 12.0
LISTENING = b" 00010000 0001 01 "
"""Flags, type and state in /proc/net/unix of a stream socket that accepts connections."""
COLUMNS = 8
"""The columns of /proc/net/unix in the line of a socket with a path."""
SERVER = b"tmux: server\n"
"""The process name of a tmux server."""
# tmux itself looks in $TMUX_TMPDIR, else in /tmp. The script starts no process: it is run every few seconds.
_FIND = (
    ': "${covey_uid:=$(id -u)}"; '
    'for s in "${TMUX_TMPDIR:-/tmp}/tmux-$covey_uid"/*; do [ -S "$s" ] && printf "%s\\n" "$s"; done'
)


def default_pattern(environment: Mapping[str, str]) -> str:
    """Return the pattern of the sockets that tmux makes for `-L` and by default."""
    folder = environment.get("TMUX_TMPDIR") or "/tmp"  # noqa: S108 - tmux's own choice; the owner is checked below
    return f"{glob.escape(folder)}/tmux-{os.getuid()}/*"


class Sockets:
    """The live sockets among paths and patterns.

    With `anywhere` set, the sockets of tmux servers elsewhere are included where the system lists them (Linux).
    Asking again is cheap: folders that have not changed are not read, no process is started, and no server that the
    system lists is connected to.
    """

    def __init__(self, patterns: Iterable[str], *, anywhere: bool = False) -> None:
        self._patterns = [str(Path(pattern).expanduser()) for pattern in patterns]
        self._anywhere = anywhere
        self._folders: dict[str, tuple[int, list[str]]] = {}
        self._listed: dict[bytes, str] = {}
        self._servers: set[str] = set()

    def live(self, executor: Executor) -> list[str]:
        """Return the sockets at which a process listens, sorted. Only sockets of this user are included."""
        listening = self._listening()
        found = {path for pattern in self._patterns for path in self._matches(pattern)} | self._servers
        return sorted(path for path in found if _own_socket(path) and (path in listening or executor.listening(path)))

    def _listening(self) -> set[str]:
        """Return the paths at which a process listens, as the system lists them; empty where it does not."""
        before = self._listed
        self._listed = _listening_sockets()
        paths = set(self._listed.values())
        if self._anywhere and self._listed.keys() - before.keys():
            self._servers = {self._listed[inode] for inode in _sockets_of_servers() & self._listed.keys()}
        self._servers &= paths
        return paths

    def _matches(self, pattern: str) -> Sequence[str]:
        folder, name = os.path.split(pattern)
        if glob.has_magic(folder):
            return glob.glob(pattern)  # noqa: PTH207 - patterns are absolute
        if not glob.has_magic(name):
            return [pattern]
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - this is the cheap part
        except OSError:
            return []
        if pattern not in self._folders or self._folders[pattern][0] != changed:
            self._folders[pattern] = changed, glob.glob(pattern)  # noqa: PTH207 - as above
        return self._folders[pattern][1]


def _listening_sockets() -> dict[bytes, str]:
    """Return the absolute paths at which processes listen, by the inode of the socket.

    A path that was removed since may be among them.
    """
    try:
        table = Path("/proc/net/unix").read_bytes()
    except OSError:
        return {}
    found = (line.split(None, COLUMNS - 1) for line in table.splitlines() if LISTENING in line)
    return {
        fields[6]: os.fsdecode(fields[7]) for fields in found if len(fields) == COLUMNS and fields[7].startswith(b"/")
    }


def _sockets_of_servers() -> set[bytes]:
    """Return the inodes of all sockets that tmux servers of this user have open."""
    found: set[bytes] = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if (process / "comm").read_bytes() != SERVER:
                continue
            descriptors = os.listdir(process / "fd")  # noqa: PTH208 - only their names
        except OSError:  # it has ended, or belongs to another user
            continue
        for descriptor in descriptors:
            with contextlib.suppress(OSError):  # closed meanwhile; the others still count
                link = os.readlink(process / "fd" / descriptor)  # noqa: PTH115 - not always a path
                if link.startswith("socket:["):
                    found.add(link[len("socket:[") : -1].encode())
    return found


async def remote_sockets(shell: Shell) -> list[str]:
    """Return the sockets in the default folder of another machine.

    Whether a server still listens at each of them shows when it is monitored.
    """
    output = await shell.run(_FIND, deadline_s=FIND_S, first_s=CONNECT_S)
    return sorted(path for path in output.decode(errors="replace").splitlines() if path.startswith("/"))


def _own_socket(path: str) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - asked for every socket at every rescan
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
