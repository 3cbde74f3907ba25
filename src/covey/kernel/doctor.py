"""`covey doctor`: what is here, what is missing, what is wrong, and the command that mends it.

Every look has a deadline and a thread of its own: one that hangs is reported as hanging, and none waits for another.
"""

from __future__ import annotations

import os
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

from covey.kernel.clock import SystemClock
from covey.kernel.doctor_home import HomeDoctor
from covey.kernel.doctor_programs import AGENTS, Programs
from covey.kernel.doctor_targets import targets
from covey.kernel.finding import FAIL, OK, WARN, Finding
from covey.kernel.probe import run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from covey.kernel.clock import Clock
    from covey.kernel.home import Home
    from covey.kernel.probe import Run
    from covey.kernel.settings import Settings

    Look = Callable[[], Finding | Iterable[Finding]]

DEADLINE_S = 3.0
_GRACE_S = 0.5
_OLDEST_PYTHON = (3, 11)
_WIDTH = 78
_MARKS = {FAIL: ("✗", "\x1b[31m"), WARN: ("▲", "\x1b[33m"), OK: ("✓", "")}


def examine(
    home: Home,
    settings: Settings,
    *,
    environ: Mapping[str, str] = os.environ,
    run: Run = run_program,
    clock: Clock | None = None,
    deadline: float = DEADLINE_S,
) -> list[Finding]:
    """Everything there is to know about this installation, in a few seconds at most. It changes nothing."""
    at_home = HomeDoctor(home, settings, clock or SystemClock(), deadline)
    programs = Programs(environ, run, deadline)
    looks: list[tuple[str, str, Look]] = [
        ("system", "python", _python),
        ("system", "clock", at_home.clock),
        ("system", "disk", at_home.disk),
        ("tools", "tmux", programs.tmux),
        ("tools", "ssh", programs.ssh),
        ("tools", "notify", lambda: programs.notifier(at_home.given("attention.notify"))),
        ("home", "directory", at_home.directory),
        ("home", "files", at_home.files),
        ("home", "config", at_home.config),
        ("home", "socket", at_home.socket),
        ("home", "database", at_home.database),
        ("home", "targets", lambda: targets(home, deadline)),
        *(("agents", name, lambda name=name: programs.agent(name)) for name in AGENTS),
    ]
    found = _side_by_side(looks, deadline)
    if not any(one.section == "agents" and one.detail != "not installed" for one in found):
        found.append(
            Finding(
                "agents",
                "agents",
                WARN,
                "none found on PATH, so that there is nothing to look after",
                AGENTS["claude"][1],
            )
        )
    return found


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


def _side_by_side(looks: list[tuple[str, str, Look]], deadline: float) -> list[Finding]:
    results: dict[int, list[Finding]] = {}

    def work(number: int, section: str, name: str, look: Look) -> None:
        try:
            found = look()
        except Exception as error:  # noqa: BLE001 - a look that fails is itself a finding
            found = Finding(section, name, WARN, f"could not be looked at: {type(error).__name__}: {error}")
        results[number] = [found] if isinstance(found, Finding) else list(found)

    threads = [threading.Thread(target=work, args=(number, *look), daemon=True) for number, look in enumerate(looks)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + deadline + _GRACE_S
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    late = {
        number: [Finding(section, name, WARN, f"did not answer within {deadline:g} s")]
        for number, (section, name, _) in enumerate(looks)
    }
    return [one for number in late for one in results.get(number, late[number])]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return Finding("system", "python", FAIL, f"{version}; Covey needs 3.11 or newer", "uv python install 3.13")
    return Finding("system", "python", OK, version)
