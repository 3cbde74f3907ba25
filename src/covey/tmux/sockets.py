"""Every tmux server of the user on a machine, by its socket."""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.tmux.executor import Executor
    from covey.tmux.shell import Shell

FIND_S, CONNECT_S = 4.0, 12.0
# tmux itself looks in $TMUX_TMPDIR, else in /tmp. Nothing but the shell runs here: it is asked every few seconds.
_FIND = ': "${covey_uid:=$(id -u)}"; for s in "${TMUX_TMPDIR:-/tmp}/tmux-$covey_uid"/*; do [ -S "$s" ] && printf "%s\\n" "$s"; done'


def usual(environment: Mapping[str, str]) -> str:
    """The pattern of the sockets that tmux makes for `-L` and by default."""
    return f"{glob.escape(environment.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}/*"  # noqa: S108 - where tmux puts them; owner and mode are checked below


class Sockets:
    """The live sockets among paths and patterns. Cheap to ask again: folders that have not changed are not read, and no process is started."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [str(Path(pattern).expanduser()) for pattern in patterns]
        self._read: dict[str, tuple[int, list[str]]] = {}

    def live(self, executor: Executor) -> list[str]:
        """The sockets at which somebody listens, sorted. Only those of this user: nobody else's server is talked to."""
        found = {path for pattern in self._patterns for path in self._matches(pattern)}
        return sorted(path for path in found if _own_socket(path) and executor.listening(path))

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
