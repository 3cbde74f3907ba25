"""`covey doctor`: what is here, what is missing, what is wrong, and the command that mends it.

Every check has a deadline and a thread of its own: one that hangs is reported as hanging, and none waits for another.
"""

from __future__ import annotations

import os
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.contract.kernel import OPERATIONS
from covey.kernel.client import Client
from covey.kernel.clock import SystemClock
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.loop_watch import OFTEN, Blocked
from covey.kernel.processes.probe import run_program
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.config.settings import Settings
    from covey.kernel.processes.probe import Run
    from covey.kernel.seat import Seat
    from covey.kernel.subsystem import Subsystem

DEADLINE_S = 3.0
_GRACE_S = 0.5
_ANSWER_S = 2.0
"""How long a daemon is asked for its status; less than the deadline, so that the check can say that it is silent."""
_OLDEST_PYTHON = (3, 11)
_WIDTH = 78
_SECTIONS = ("system", "tools", "home", "daemon")
_MARKS = {FAIL: ("✗", "\x1b[31m"), WARN: ("▲", "\x1b[33m"), OK: ("✓", "")}
_STATUS = next(operation for operation in OPERATIONS if operation.name == "status")


class Check(NamedTuple):
    """One thing that is examined: where it is listed, and the function that examines it."""

    section: str
    name: str
    examine: Callable[[], Finding | Iterable[Finding]]


class Examination:
    """What checks may use: the seat, its configuration, the caller's environment, and how long a check may take."""

    def __init__(
        self,
        seat: Seat,
        settings: Settings,
        *,
        environ: Mapping[str, str] = os.environ,
        run: Run = run_program,
        deadline: float = DEADLINE_S,
    ) -> None:
        self.seat = seat
        self.settings = settings
        self.environ = environ
        self.run = run
        self.deadline = deadline

    def client(self) -> Client:
        """Return a client of the daemon that is examined; it gives up before the deadline."""
        return Client(self.seat.socket, timeout=min(self.deadline * 0.8, _ANSWER_S), seat=self.seat)

    def status(self) -> dict[str, Any] | None:
        """Return the status of the daemon, or None if it does not answer."""
        try:
            found: dict[str, Any] = self.client().call(_STATUS, {})
        except AgentError:  # the check of the socket says why
            return None
        return found


def examine(
    seat: Seat,
    settings: Settings,
    subsystems: Sequence[Subsystem],
    *,
    environ: Mapping[str, str] = os.environ,
    run: Run = run_program,
    clock: Clock | None = None,
    deadline: float = DEADLINE_S,
) -> list[Finding]:
    """Return everything there is to know about this installation, in a few seconds at most. It changes nothing."""
    examination = Examination(seat, settings, environ=environ, run=run, deadline=deadline)
    own = SeatDoctor(seat, settings, clock or SystemClock(), deadline)
    checks = [
        Check("system", "python", _python),
        Check("system", "clock", own.clock),
        Check("system", "disk", own.disk),
        Check("home", "directory", own.directory),
        Check("home", "files", own.files),
        Check("home", "config", own.config),
        Check("home", "socket", own.socket),
        Check("home", "database", own.database),
        Check("daemon", "status", lambda: _of_daemon(examination, subsystems)),
        *(check for subsystem in subsystems for check in subsystem.checks(examination)),
    ]
    return sorted(_side_by_side(checks, deadline), key=lambda one: _rank(one.section))


def _rank(section: str) -> int:
    """Return the place of a section in the list; those of subsystems come last, in their own order."""
    return _SECTIONS.index(section) if section in _SECTIONS else len(_SECTIONS)


def _of_daemon(examination: Examination, subsystems: Sequence[Subsystem]) -> Iterable[Finding]:
    """Return what a running daemon says is broken; nothing if none answers."""
    status = examination.status()
    return [] if status is None else findings_of(status, subsystems, examination.seat)


def findings_of(status: dict[str, Any], subsystems: Sequence[Subsystem], seat: Seat | None = None) -> Iterator[Finding]:
    """Yield what a daemon and each of its subsystems say is broken in the answer of the operation `status`.

    Without a seat it is the node's.
    """
    down, up, again = (f"covey {verb}" if seat is None else seat.command(verb) for verb in ("down", "up", "reload"))
    for problem in status["problems"]:
        yield Finding("daemon", "files", FAIL, problem)
    blocked = Blocked(**status.get("loop", {}))  # which a daemon of an earlier release does not tell
    if blocked.blocked >= OFTEN:
        hint = "covey logs" if seat is None else seat.command("logs")
        yield Finding("daemon", "event loop", WARN, f"{blocked}: what ran is in its log (event loop was blocked)", hint)
    waiting = status["config"]["needs_restart"]
    if waiting:
        verb = "has" if len(waiting) == 1 else "have"
        detail = f"{', '.join(waiting)} {verb} been changed and will be in force after a restart"
        yield Finding("daemon", "config", WARN, detail, f"{down} && {up}")
    for problem in status["config"]["problems"]:
        yield Finding("daemon", "config", FAIL, f"not in force: {problem}", again)
    for subsystem in subsystems:
        part = status.get(subsystem.name)
        if part:
            yield from subsystem.findings(part)


def readable(findings: list[Finding], *, colour: bool = False) -> str:
    """For people: the answer, then what needs them and how to mend it, then the rest in a few lines."""
    troubles = sorted((one for one in findings if one.status != OK), key=lambda one: one.status != FAIL)
    count = len(troubles)
    lines = ["All good" if not count else "1 thing needs you" if count == 1 else f"{count} things need you"]
    for one in troubles:
        mark, code = _MARKS[one.status]
        painted = f"{code}{mark}\x1b[0m" if colour else mark
        first, *more = [part for line in f"{one.name}: {one.detail}".splitlines() for part in _broken(line)]
        lines += ["", f"{painted} {first}", *(f"    {line}" for line in more)]
        if one.fix:
            lines.append(f"    {one.fix}")
    rest = [one for one in findings if one.status == OK]
    lines += [""] if rest else []
    for section in dict.fromkeys(one.section for one in rest):
        shown = [f"{one.name} {one.detail}" for one in rest if one.section == section and one.detail != "not installed"]
        absent = [one.name for one in rest if one.section == section and one.detail == "not installed"]
        lines += _wrapped(section, shown + ([f"not installed: {', '.join(absent)}"] if absent else []))
    return "\n".join(lines)


def _broken(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)


def _wrapped(section: str, items: list[str]) -> list[str]:
    lines, line = [], f"  {section:<7}"
    for number, item in enumerate(items):
        if number and len(line) + len(item) + 3 > _WIDTH:
            lines.append(line)
            line = " " * 9
        line += f" {item}" if line.endswith(" ") or number == 0 else f" · {item}"
    return [*lines, line]


def _side_by_side(checks: list[Check], deadline: float) -> list[Finding]:
    results: dict[int, list[Finding]] = {}

    def work(number: int, check: Check) -> None:
        try:
            examined = check.examine()
            found = [examined] if isinstance(examined, Finding) else list(examined)
        except Exception as error:  # noqa: BLE001 - a check that fails is itself a finding
            detail = f"could not be looked at: {type(error).__name__}: {error}"
            found = [Finding(check.section, check.name, WARN, detail)]
        results[number] = found

    threads = [threading.Thread(target=work, args=(number, check), daemon=True) for number, check in enumerate(checks)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + deadline + _GRACE_S
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    late = {
        number: [Finding(check.section, check.name, WARN, f"did not answer within {deadline:g} s")]
        for number, check in enumerate(checks)
    }
    return [one for number in late for one in results.get(number, late[number])]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Finding("system", "python", FAIL, f"{version}; Covey needs 3.11 or newer", "uv python install 3.13")
    return Finding("system", "python", OK, version)
