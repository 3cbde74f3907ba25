"""Whether somebody has just typed into a tmux pane at a terminal that shows it, as tmux itself records."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.processes.process import environment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from covey.hosts.processes import ProcessTable

TYPED_S = 10.0
"""How long ago the last key may have been typed."""
LIMIT_S = 2.0
MOST_SOCKETS = 16
PANES = "pane #{pid} #{pane_pid} #{session_id} #{window_active} #{pane_active}"
CLIENTS = "client #{client_pid} #{session_id} #{client_activity} #{client_readonly} #{client_control_mode}"


class Typist(NamedTuple):
    """A tmux client at which a key was typed while it showed the pane, with the pane active."""

    client: int
    idle_s: float


def typists(leader: int, server: int, table: ProcessTable) -> list[Typist]:
    """Return the clients that show the pane whose first process is `leader`, and at which a key was typed recently.

    A key that is older than the pane was not typed into it. A client in control mode tells tmux what to type in its
    own commands, as every program can, so it counts for nothing. Without an answer of tmux the list is empty.
    """
    process = table.get(leader)
    if process is None:
        return []
    lines = _listed(leader, server, table)
    shown = {
        words[3]
        for words in lines
        if words[0] == "pane" and words[1:3] == [str(server), str(leader)] and words[4:6] == ["1", "1"]
    }
    now, found = time.time(), list[Typist]()
    for words in lines:
        if words[0] == "client" and words[2] in shown and words[4:6] == ["0", "0"]:
            idle = now - int(words[3])
            if idle <= TYPED_S and idle < table.age(process):
                found.append(Typist(int(words[1]), idle))
    return found


def _listed(leader: int, server: int, table: ProcessTable) -> list[list[str]]:
    """Return the words of the lines that the server prints for PANES and CLIENTS; empty if it cannot be asked."""
    process = table.get(server)
    program = table.describe(process).exe if process is not None else ""
    program = program if program.startswith("/") and os.access(program, os.X_OK) else "tmux"
    for socket in _sockets(leader):
        lines = _asked([program, "-S", socket, "list-panes", "-a", "-F", PANES, ";", "list-clients", "-F", CLIENTS])
        if any(words[:2] == ["pane", str(server)] for words in lines):
            return lines
    return []


def _sockets(leader: int) -> Iterable[str]:
    """Return where the server of a pane may listen: as it told the pane, or all usual places where that is hidden."""
    told = environment_of(leader).get("TMUX", "").rpartition(",")[0].rpartition(",")[0]
    if sys.platform != "linux" and not told:
        folder = Path(os.environ.get("TMUX_TMPDIR") or "/private/tmp") / f"tmux-{os.getuid()}"
        return [str(one) for one in sorted(folder.glob("*"))[:MOST_SOCKETS]]
    return [told] if told else []


def _asked(words: Sequence[str]) -> list[list[str]]:
    try:
        ended = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)  # noqa: S603 - the program of the server, with constants
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    lines = [line.split(" ") for line in ended.stdout.splitlines()]
    return [words for words in lines if len(words) == 6]  # noqa: PLR2004 - as in PANES and CLIENTS
