"""Where a process comes from: its ancestors, its terminal, and the program that made the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.processes.process import environment_of, terminal_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.hosts.processes import Process, ProcessTable

MOST_ANCESTORS, MOST_TERMINALS = 64, 8
SCRIPT_OPTIONS = frozenset(["-I", "-S", "-E", "-s", "-u", "-B", "-P"])
"""Options of Python in front of a script. Behind any other, such as -c, there may be a text that looks like one."""
INTERPRETERS = ("python", "perl", "ruby")
PSEUDO_TERMINALS = range(136, 144)
"""The major device numbers of pseudo-terminals on Linux. A terminal of another kind is a console."""
EMULATORS = frozenset(
    {
        *("Alacritty", "Ghostty", "Hyper", "iTerm2", "iTermServer", "Tabby", "Terminal", "alacritty", "blackbox"),
        *("contour", "cool-retro-term", "deepin-terminal", "foot", "footserver", "ghostty", "gnome-terminal-server"),
        *("guake", "hyper", "kgx", "kitty", "konsole", "lxterminal", "mate-terminal", "ptyxis", "ptyxis-agent"),
        *("qterminal", "rio", "roxterm", "rxvt", "sakura", "st", "stterm", "tabby", "terminator", "terminology"),
        *("termit", "tilda", "tilix", "urxvt", "urxvtd", "uxterm", "wezterm", "wezterm-gui", "wezterm-mux-server"),
        *("xfce4-terminal", "xterm", "yakuake"),
        *("login", "sshd", "sshd-session", "dropbear", "mosh-server", "etterminal", "ttyd", "Relay"),
    }
)
"""Programs that make a terminal for a person who sits in front of it, here or at the other end of a connection. Editors
and terminals in which an agent of their own types are not among them: they make terminals for that agent, too."""
SSH_SERVERS = frozenset({"sshd", "sshd-session", "dropbear"})
TMUX = "tmux"
STARTERS = frozenset(
    {
        *(
            TMUX,
            "screen",
            "SCREEN",
            "zellij",
            "dtach",
            "abduco",
            "cron",
            "crond",
            "anacron",
            "atd",
            "systemd",
            "launchd",
        ),
        *("dbus-daemon", "dbus-broker", "emacs", "supervisord", "inetd", "xinetd", "runsv", "s6-supervise"),
        *SSH_SERVERS,
    }
)
"""Programs that start others for whoever asks them: an old one may have an agent's program below it."""


class Terminal(NamedTuple):
    """A terminal: the first process in it, and the process that made it."""

    leader: int
    maker: int
    """0 if it was made outside of what this process sees, as by `docker exec -it`."""


class Lineage(NamedTuple):
    """A process, its ancestors, and those of each terminal that it has or that is around its terminal."""

    line: tuple[int, ...]
    """Nearest first."""
    terminals: tuple[Terminal, ...]
    """The innermost first; empty if the process has none."""
    excused: frozenset[str]
    """Environment variables that come from a tmux server, which anybody may have started."""


def lineage_of(pid: int, table: ProcessTable) -> Lineage:
    """Return where a process comes from. A process that has ended has no terminal."""
    line: dict[int, None] = {}
    terminals: list[Terminal] = []
    excused: set[str] = set()
    current = pid
    for _ in range(MOST_TERMINALS):
        line.update(dict.fromkeys(ancestors(current, table)))
        process = table.get(current)
        if process is None or process.foreground <= 0 or (leader := _session_of(current, table)) is None:
            break
        line.update(dict.fromkeys(ancestors(leader.pid, table)))
        terminals.append(Terminal(leader.pid, leader.parent))
        if program_of(leader.parent, table) == TMUX:
            excused |= environment_of(leader.pid).keys()
        current = leader.parent
    return Lineage(tuple(line), tuple(terminals), frozenset(excused))


def ancestors(pid: int, table: ProcessTable) -> Iterator[int]:
    """Yield a process and those above it, up to the first process of the machine, which is left out."""
    for _ in range(MOST_ANCESTORS):
        process = table.get(pid)
        if process is None or pid <= 1:
            return
        yield pid
        pid = process.parent


def is_older(lineage: Lineage, table: ProcessTable, limit: int) -> bool:
    """Return whether the outermost ancestor of a process was started before a moment, and starts nothing for others.

    So nothing that began later can have made the process, nor any process between the two.
    """
    line = [process for pid in lineage.line if (process := table.get(pid)) is not None]
    tops = [process for process in line if process.parent <= 1 or table.get(process.parent) is None]
    whole = len(line) == len(lineage.line) < MOST_ANCESTORS and bool(tops)
    served = any(program_of(process.pid, table) in STARTERS for process in line)
    return whole and not served and all(process.parent <= 1 and process.started < limit for process in tops)


def program_of(pid: int, table: ProcessTable) -> str:
    """Return the name of the program that a process runs, for a script that of the script; empty without a process.

    A process can choose what it is called, and cannot choose what its executable is called.
    """
    process = table.get(pid)
    if process is None:
        return ""
    if (
        sys.platform != "linux"
    ):  # `ps` does not tell where a path with spaces ends; iTermServer has its version behind it
        return "iTermServer" if process.name.startswith("iTermServer") else process.name
    described = table.describe(process)
    # Of a process of another user, only the name can be read: sshd, login, and Relay(123) of WSL.
    name = Path(described.exe).name or process.name.partition("(")[0]
    if name.startswith(INTERPRETERS):
        return _script_of(described) or name
    return name


def _script_of(process: Process) -> str:
    """Return the name of the script that an interpreter runs: what follows options that take no value."""
    script = next((word for word in process.argv[1:] if word not in SCRIPT_OPTIONS), "")
    return "" if script.startswith("-") else Path(script).name


def is_console(pid: int) -> bool:
    """Return whether the terminal of a process is a real one, such as tty1, which no program has made. Linux only."""
    number = terminal_of(pid)
    return number != 0 and (number >> 8) & 0xFFF not in PSEUDO_TERMINALS


def _session_of(pid: int, table: ProcessTable) -> Process | None:
    """Return the process that leads the session of a process, and was the first in its terminal; None if it ended."""
    try:
        leader = os.getsid(pid)
    except OSError:
        return None
    return table.get(leader)
