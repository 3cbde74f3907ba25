"""What is installed, what is missing, what is wrong, and the command that mends it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.config import Config
from covey.kernel.lock import holder
from covey.kernel.settings import SETTINGS
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from covey.kernel.home import Home

PROBE_S = 3.0
OLDEST_TMUX = (3, 2)
LITTLE, TOO_LITTLE = 500 << 20, 20 << 20
NOT_INSTALLED = "not installed"
AGENTS = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "copilot": "npm install -g @github/copilot",
    "cursor-agent": "see cursor.com/cli",
    "opencode": "npm install -g opencode-ai",
}


class Finding(NamedTuple):
    """One thing that was looked at. `status` is ok, warn or fail; `fix` is a command, or nothing if there is nothing to do."""

    section: str
    name: str
    status: str
    detail: str
    fix: str = ""


def examine(home: Home) -> list[Finding]:
    """Look at everything, side by side; no look takes longer than a few seconds, and none changes anything."""
    looks: list[Callable[[], Finding]] = [
        _python,
        _tmux,
        _ssh,
        lambda: _home(home),
        lambda: _config(home),
        lambda: _daemon(home),
        lambda: _database(home),
        lambda: _disk(home),
        _clock,
        *(lambda name=name, fix=fix: _agent(name, fix) for name, fix in AGENTS.items()),
    ]
    with ThreadPoolExecutor(len(looks)) as pool:
        return [future.result() for future in [pool.submit(look) for look in looks]]


def readable(findings: Iterable[Finding], *, colour: bool = False) -> str:
    """The answer first, then what needs somebody, then the rest in one line a section."""
    every = list(findings)
    wrong = [finding for finding in every if finding.status != "ok"]
    failed = sum(finding.status == "fail" for finding in wrong)
    lines = [f"{failed} thing{'s' * (failed != 1)} to mend" if failed else "All good" if not wrong else "All good, with remarks"]
    marks = {"fail": ("✗", "31"), "warn": ("!", "33")}
    for finding in sorted(wrong, key=lambda finding: finding.status):
        mark, code = marks[finding.status]
        shown = f"\x1b[{code}m{mark}\x1b[0m" if colour else mark
        lines.append(f"{shown} {finding.name}: {finding.detail}")
        lines += [f"    {finding.fix}"] if finding.fix else []
    sections: dict[str, list[str]] = {}
    for finding in every:
        if finding.status == "ok" and finding.detail != NOT_INSTALLED:
            sections.setdefault(finding.section, []).append(f"{finding.name} {finding.detail}".strip())
    missing = [finding.name for finding in every if finding.detail == NOT_INSTALLED]
    if missing:
        sections.setdefault("agents", []).append(f"not found: {', '.join(missing)}")
    return "\n".join([*lines, *(f"✓ {section:<8} {' · '.join(items)}" for section, items in sections.items())])


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("tools", "python", "ok", version)


def _tmux() -> Finding:
    fix = _install("tmux")
    found, text = _version("tmux", "-V")
    if not found:
        return Finding("tools", "tmux", "fail", "is not installed; Covey sees agents through it", fix)
    words = text.split()
    number = words[-1].lstrip("abcdefghijklmnopqrstuvwxyz-") if words else ""
    parts = tuple(int("".join(letter for letter in part if letter.isdigit()) or 0) for part in number.split(".")[:2]) if number else ()
    if parts and parts < OLDEST_TMUX:
        return Finding("tools", "tmux", "warn", f"{number} is older than {'.'.join(map(str, OLDEST_TMUX))}, which Covey is made for", fix)
    return Finding("tools", "tmux", "ok", number or text)


def _ssh() -> Finding:
    found, text = _version("ssh", "-V")
    if not found:
        return Finding("tools", "ssh", "warn", "is not installed; hosts other than this one cannot be reached", _install("openssh-client"))
    return Finding("tools", "ssh", "ok", text.split(",")[0].split(" ")[0])


def _home(home: Home) -> Finding:
    try:
        home.check()
    except AgentError as error:
        return Finding("covey", "home", "fail", error.message, error.suggestion)
    return Finding("covey", "home", "ok", home.path if os.path.isdir(home.path) else f"{home.path} (not made yet)")


def _config(home: Home) -> Finding:
    try:
        Config.load(home, SETTINGS)
    except AgentError as error:
        return Finding("covey", "config", "fail", error.message, error.suggestion)
    return Finding("covey", "config", "ok", "valid" if os.path.exists(home.config_file) else "defaults")


def _daemon(home: Home) -> Finding:
    pid = holder(home.pid_file)
    if pid is None:
        return Finding("covey", "daemon", "warn", "is not running", "covey up")
    from covey.contract import OPERATIONS
    from covey.kernel.client import Client

    health = next(operation for operation in OPERATIONS if operation.name == "health")
    try:
        Client(home.socket, timeout=PROBE_S).call(health, {})
    except AgentError as error:
        return Finding("covey", "daemon", "fail", f"runs (pid {pid}) but does not answer: {error.message}", f"kill {pid} && covey up")
    return Finding("covey", "daemon", "ok", f"pid {pid}")


def _database(home: Home) -> Finding:
    if not os.path.exists(home.database):
        return Finding("covey", "database", "ok", "not made yet")
    try:
        connection = sqlite3.connect(f"file:{home.database}?mode=ro", uri=True, timeout=PROBE_S)
        try:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Finding(
            "covey", "database", "fail", f"cannot be read: {error}", "covey down && covey up   (a damaged database is moved aside, never deleted)"
        )
    if verdict != "ok":
        return Finding(
            "covey", "database", "fail", f"is damaged: {verdict}", "covey down && covey up   (a damaged database is moved aside, never deleted)"
        )
    return Finding("covey", "database", "ok", f"{os.path.getsize(home.database) / 1e3:.0f} kB")


def _disk(home: Home) -> Finding:
    folder = home.path
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    status = "fail" if free < TOO_LITTLE else "warn" if free < LITTLE else "ok"
    return Finding("system", "disk", status, f"{free / 1e9:.1f} GB free", "" if status == "ok" else f"df -h {folder}")


def _clock() -> Finding:
    year = time.gmtime().tm_year
    if not 2025 <= year < 2100:  # noqa: PLR2004 - no earlier than this program
        return Finding("system", "clock", "fail", f"says it is {year}", "timedatectl set-ntp true")
    return Finding("system", "clock", "ok", "")


def _agent(name: str, fix: str) -> Finding:
    found, text = _version(name, "--version")
    if not found:
        return Finding("agents", name, "ok", NOT_INSTALLED, fix)
    return Finding("agents", name, "ok" if text else "warn", text or f"is installed but did not tell its version within {PROBE_S:g} s")


def _version(program: str, flag: str) -> tuple[bool, str]:
    """Whether a program is there, and the first line it prints about its version."""
    path = shutil.which(program)
    if path is None:
        return False, ""
    try:
        ended = subprocess.run([path, flag], stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=False)  # noqa: S603 - found on PATH
    except (OSError, subprocess.TimeoutExpired):
        return True, ""
    lines = (ended.stdout or ended.stderr).decode("utf-8", "replace").strip().splitlines()
    return True, "".join(letter for letter in lines[0][:60] if letter.isprintable()) if lines else ""


def _install(package: str) -> str:
    if sys.platform == "darwin":
        return f"brew install {package.removesuffix('-client')}"
    return f"sudo apt-get install {package}"
