"""`covey service`: the plan, installation, removal and status of a service manager's file.

A file that we wrote begins with a mark that holds a digest of the rest, so that a file that somebody else wrote, or has
changed since, is recognised and left alone.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

from covey.kernel.atomic_file import write_file
from covey.kernel.processes.probe import run_program
from covey.kernel.processes.service_units import OF_NODE, DaemonWords, launchd_agent, systemd_unit
from covey.kernel.quoting import quoted
from murli import AgentError, conflict, not_found, permission_denied, tool_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.home import Home
    from covey.kernel.processes.probe import Run
    from covey.kernel.seat import Seat

System = Literal["systemd", "launchd"]
Change = Literal["created", "replaced", "unchanged", "removed", "absent"]
MARK = "Written by `covey service install`, removed by `covey service uninstall`"
_DEADLINE_S = 20.0
_FILE_MODE = 0o644


class Plan(NamedTuple):
    """What `install` would do: write a file, and run the commands that make the manager load it."""

    system: System
    name: str
    path: str
    text: str
    change: Change
    commands: list[list[str]]


class Outcome(NamedTuple):
    """The commands that were run, and those that are left for a person to run."""

    path: str
    change: Change
    ran: list[str]
    todo: list[str]
    notes: list[str]

    @property
    def changed(self) -> bool:
        return self.change in ("created", "replaced", "removed")


class Status(NamedTuple):
    """The status of the service. `active` is the manager's own word, or `unknown` if it cannot be asked."""

    installed: bool
    path: str
    active: str
    notes: list[str]


class Service:
    """The service of one daemon of a home: of the node, or of that in `seat`.

    `run` runs the manager's program; a test may pass its own.
    """

    def __init__(
        self,
        home: Home,
        *,
        seat: Seat | None = None,
        words: DaemonWords = OF_NODE,
        platform: str = sys.platform,
        environ: Mapping[str, str] = os.environ,
        run: Run = run_program,
    ) -> None:
        self._home = home
        self._seat = seat or home.node
        self._words = words
        self._environ = environ
        self._run = run
        self._is_default = home.is_default(environ)
        self.system: System = "launchd" if platform == "darwin" else "systemd"
        which = "" if seat is None else f"-{seat.kind}-{seat.name}"
        self.name = f"covey{which}{'' if self._is_default else '-' + _digest(home.path)[:8]}"
        self.path = self._place()

    def plan(self, command: Sequence[str]) -> Plan:
        """Return what `install` would do. `command` starts covey, as an absolute path."""
        home = "" if self._is_default else self._home.path
        if self.system == "systemd":
            text = systemd_unit(command, home, MARK, name=self.name, words=self._words)
        else:
            log = os.path.join(self._seat.directory, "service.err")
            text = launchd_agent(command, home, MARK, self._label, log, words=self._words)
        text = _signed(text)
        current = self._current()
        change: Change = "unchanged" if current == text else "replaced"
        if current is None:
            change = "created"
        return Plan(self.system, self.name, self.path, text, change, self._commands(change))

    def install(self, command: Sequence[str], *, force: bool = False) -> Outcome:
        """Write the file and start the service; calling it again changes nothing.

        Raises `AgentError` if a file that covey did not write is there, unless `force` is set, or if it cannot be
        written.
        """
        plan = self.plan(command)
        if plan.change == "replaced" and not force:
            self._refuse_foreign()
        if plan.change != "unchanged":
            try:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
                write_file(self.path, plan.text.encode(), _FILE_MODE)
            except OSError as error:
                raise self._failed("written", error) from error
        ran, todo = self._carry_out(plan.commands)
        return Outcome(self.path, plan.change, ran, todo, self._notes())

    def uninstall(self, *, force: bool = False) -> Outcome:
        """Stop the service and remove the file that `install` wrote.

        Raises `AgentError` for a file that covey did not write, unless `force` is set, or if it cannot be removed.
        """
        if self._current() is None:
            return Outcome(self.path, "absent", [], [], [])
        if not force:
            self._refuse_foreign()
        before, after = self._farewell()
        ran, todo = self._carry_out(before)
        try:
            os.unlink(self.path)
            if os.path.islink(self._enabled_link):  # what enabling has made
                os.unlink(self._enabled_link)
        except OSError as error:
            raise self._failed("removed", error) from error
        more, left = self._carry_out(after) if not todo else ([], [_line(command) for command in after])
        return Outcome(self.path, "removed", ran + more, todo + left, [])

    def status(self) -> Status:
        """Return whether the file is installed, and the manager's status."""
        installed = self._current() is not None
        question = {
            "systemd": ["systemctl", "--user", "is-active", f"{self.name}.service"],
            "launchd": ["launchctl", "print", f"gui/{os.getuid()}/{self._label}"],
        }[self.system]
        ran = self._run(question, self._environ, _DEADLINE_S)
        word = ran.out.strip()
        if self.system == "systemd":
            active = word if word.isalpha() else "unknown"
        else:
            active = "inactive" if ran.code else "active"
            if ran.code is None:
                active = "unknown"
        notes = [
            *self._notes(),
            *(
                [f"The service manager could not be asked: {ran.problem or ran.err.strip() or word}"]
                if active == "unknown"
                else []
            ),
        ]
        return Status(installed, self.path, active, notes if installed else [])

    @property
    def _label(self) -> str:
        return f"dev.covey.{self.name}"

    @property
    def _enabled_link(self) -> str:
        return os.path.join(os.path.dirname(self.path), "default.target.wants", f"{self.name}.service")

    def _place(self) -> str:
        user = self._environ.get("HOME") or os.path.expanduser("~")
        if self.system == "launchd":
            return os.path.join(user, "Library", "LaunchAgents", f"{self._label}.plist")
        named = self._environ.get("XDG_CONFIG_HOME", "")
        return os.path.join(
            named if os.path.isabs(named) else os.path.join(user, ".config"), "systemd", "user", f"{self.name}.service"
        )

    def _commands(self, change: Change) -> list[list[str]]:
        if self.system == "systemd":
            reread = [] if change == "unchanged" else [["systemctl", "--user", "daemon-reload"]]
            again = [["systemctl", "--user", "try-restart", f"{self.name}.service"]] if change == "replaced" else []
            return [*reread, ["systemctl", "--user", "enable", "--now", f"{self.name}.service"], *again]
        forget = [["launchctl", "bootout", f"gui/{os.getuid()}/{self._label}"]] if change == "replaced" else []
        return [] if change == "unchanged" else [*forget, ["launchctl", "bootstrap", f"gui/{os.getuid()}", self.path]]

    def _farewell(self) -> tuple[list[list[str]], list[list[str]]]:
        """Return the commands before and after the removal of the file."""
        if self.system == "systemd":
            return [["systemctl", "--user", "stop", f"{self.name}.service"]], [["systemctl", "--user", "daemon-reload"]]
        return [["launchctl", "bootout", f"gui/{os.getuid()}/{self._label}"]], []

    def _carry_out(self, commands: list[list[str]]) -> tuple[list[str], list[str]]:
        """Run the commands if the manager can be reached.

        Returns the commands that were run, and those that are left to be run by hand: they were not run, or failed.
        """
        if not commands or not self._reachable():
            return [], [_line(command) for command in commands]
        ran: list[str] = []
        for number, command in enumerate(commands):
            if self._run(command, self._environ, _DEADLINE_S).code != 0:
                return ran, [_line(left) for left in commands[number:]]
            ran.append(_line(command))
        return ran, []

    def _reachable(self) -> bool:
        probe = (
            ["systemctl", "--user", "show-environment"]
            if self.system == "systemd"
            else ["launchctl", "print", f"gui/{os.getuid()}"]
        )
        return self._run(probe, self._environ, _DEADLINE_S).code == 0

    def _notes(self) -> list[str]:
        if self.system == "launchd":
            return []
        lingers = self._run(
            ["loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"], self._environ, _DEADLINE_S
        )
        return (
            []
            if lingers.out.strip() == "yes"
            else ["It stops when you log out. To keep it running: loginctl enable-linger"]
        )

    def _current(self) -> str | None:
        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed("read", error) from error

    def _refuse_foreign(self) -> None:
        marked, rest = _unmarked(self._current() or "")
        if not marked:
            raise conflict(
                f"{self.path} was not written by covey service install; it was not touched",
                f"Look at it, then move it away: mv {quoted(self.path)} {quoted(self.path + '.old')}",
            )
        if f"({_digest(rest)})" not in marked:
            raise conflict(
                f"{self.path} has been changed by hand since covey wrote it; it was not touched",
                f"Keep your changes elsewhere (systemctl --user edit {self.name}), or move it away: "
                f"mv {quoted(self.path)} {quoted(self.path + '.old')}",
            )

    def _failed(self, verb: str, error: OSError) -> AgentError:
        message = f"{self.path} could not be {verb}: {error.strerror or error}"
        if isinstance(error, PermissionError):
            return permission_denied(message, f"Look at its directory: ls -ld {quoted(os.path.dirname(self.path))}")
        return tool_error(message, f"Look at its directory: ls -ld {quoted(os.path.dirname(self.path))}")


def executable() -> list[str]:
    """Return the command that starts this installation of covey, whatever PATH a service manager has.

    Raises `AgentError` if covey is not installed as a command.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "covey")
    if os.access(beside, os.X_OK):
        return [beside]
    import shutil

    found = shutil.which("covey")
    if found is None:
        raise not_found("the covey command is not installed", "Install it: uv tool install covey")
    return [os.path.abspath(found)]


def _signed(text: str) -> str:
    """Return the text with a digest of everything but the marked line in that line."""
    return text.replace(MARK, f"{MARK} ({_digest(_unmarked(text)[1])})", 1)


def _unmarked(text: str) -> tuple[str, str]:
    """Return the marked line, and the text without it."""
    lines = text.splitlines(keepends=True)
    marked = next((line for line in lines if MARK in line), "")
    return marked, "".join(line for line in lines if line is not marked)


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]


def _line(command: Sequence[str]) -> str:
    return " ".join(quoted(word) for word in command)
