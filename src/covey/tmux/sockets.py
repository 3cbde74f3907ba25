"""Every tmux server of the user on a machine, by its socket."""

from __future__ import annotations

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
"""Flags, type and state in /proc/net/unix: a stream socket that accepts connections."""
SERVER = b"tmux: server\n"
"""How a tmux server calls its process."""
# tmux itself looks in $TMUX_TMPDIR, else in /tmp. Nothing but the shell runs here: it is asked every few seconds.
_FIND = ': "${covey_uid:=$(id -u)}"; for s in "${TMUX_TMPDIR:-/tmp}/tmux-$covey_uid"/*; do [ -S "$s" ] && printf "%s\\n" "$s"; done'


def usual(environment: Mapping[str, str]) -> str:
    """The pattern of the sockets that tmux makes for `-L` and by default."""
    return f"{glob.escape(environment.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}/*"  # noqa: S108 - where tmux puts them; owner and mode are checked below


class Sockets:
    """The live sockets among paths and patterns, and where the system tells (Linux) also those of tmux servers elsewhere, if `anywhere` is set.

    Cheap to ask again: folders that have not changed are not read, no process is started, and no server that the system lists is connected to.
    """

    def __init__(self, patterns: Iterable[str], *, anywhere: bool = False) -> None:
        self._patterns = [str(Path(pattern).expanduser()) for pattern in patterns]
        self._anywhere = anywhere
        self._read: dict[str, tuple[int, list[str]]] = {}
        self._listed: dict[bytes, str] = {}
        self._servers: set[str] = set()

    def live(self, executor: Executor) -> list[str]:
        """The sockets at which somebody listens, sorted. Only those of this user: nobody else's server is talked to."""
        listening = self._listening()
        found = {path for pattern in self._patterns for path in self._matches(pattern)} | self._servers
        return sorted(path for path in found if _own_socket(path) and (path in listening or executor.listening(path)))

    def _listening(self) -> set[str]:
        """The paths at which somebody listens, as the system lists them; empty where it does not."""
        before, self._listed = self._listed, _listening_sockets()
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
        if pattern not in self._read or self._read[pattern][0] != changed:
            self._read[pattern] = changed, glob.glob(pattern)  # noqa: PTH207 - as above
        return self._read[pattern][1]


def _listening_sockets() -> dict[bytes, str]:
    """The paths at which processes listen, by the inode of the socket. A relative path, or one that was removed since, may be among them."""
    try:
        table = Path("/proc/net/unix").read_bytes()
    except OSError:
        return {}
    found = (line.split(None, 7) for line in table.splitlines() if LISTENING in line)
    return {fields[6]: os.fsdecode(fields[7]) for fields in found if len(fields) == 8 and fields[7].startswith(b"/")}  # noqa: PLR2004 - columns of the table


def _sockets_of_servers() -> set[bytes]:
    """The inodes of all sockets that tmux servers of this user have open."""
    found: set[bytes] = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if (process / "comm").read_bytes() != SERVER:
                continue
            links = [os.readlink(entry) for entry in os.scandir(process / "fd")]  # noqa: PTH115 - no path, but the name of a socket
        except OSError:  # it has ended, or is somebody else's
            continue
        found.update(link[len("socket:[") : -1].encode() for link in links if link.startswith("socket:["))
    return found


async def remote(shell: Shell) -> list[str]:
    """The sockets in the usual folder of another machine; whether a server still listens at each shows when it is watched."""
    told = await shell.run(_FIND, deadline_s=FIND_S, first_s=CONNECT_S)
    return sorted(path for path in told.decode(errors="replace").splitlines() if path.startswith("/"))


def _own_socket(path: str) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - asked for every socket at every rescan
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
