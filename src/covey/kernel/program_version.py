"""Which version a program of another maker is: read from its installation where that tells, else asked for once.

Programs are asked for `--version` and nothing else, and with a home of their own that is thrown away: `--version` alone makes Copilot unpack 235 MB
into the user's cache, Gemini leave files in ~/.gemini and opencode make its directories (seen with 1.0.102, 0.61.0 and 1.18.33).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.probe import run_program
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.probe import Ran, Run

DEADLINE_S = 5.0
LARGEST_PACKAGE = 1 << 20
"""Bytes of a package.json that is still read."""
_LEVELS = 6
"""Folders above a program in which its package.json may be: `node_modules/<package>/vendor/<platform>/bin/codex` needs five."""
_LONGEST = 60
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OWN_VARIABLES = ("XDG_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE")


class Program(NamedTuple):
    """A program file and its version; `problem` says why the version is not known."""

    path: str
    version: str = ""
    problem: str = ""


class ProgramVersions:
    """Versions of program files. Each file is looked at once: the answer is kept until its path, size or time of change is another.

    It blocks for up to the deadline: call it from a thread.
    """

    def __init__(self, environ: Mapping[str, str], run: Run = run_program, deadline: float = DEADLINE_S) -> None:
        self._environ = environ
        self._run = run
        self._deadline = deadline
        self._known: dict[tuple[str, int, int], Program] = {}
        self._lock = threading.Lock()

    def of(self, path: str, packages: Sequence[str] = (), *, ask: bool = True) -> Program:
        """The program at a path with its version. `packages` are the npm packages it may belong to; without `ask` nothing is run."""
        try:
            about = os.stat(path)
        except OSError as error:
            return Program(path, problem=f"cannot be looked at: {error.strerror or error}")
        key = os.path.realpath(path), about.st_mtime_ns, about.st_size
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return known._replace(path=path)
        version = version_of_package(path, packages) or version_in_path(path)
        found = Program(path, version) if version else self._asked(path) if ask else None
        if found is None:
            return Program(path, problem="tells no version in its files")
        with self._lock:
            self._known[key] = found
        return found

    def on_path(self, name: str, packages: Sequence[str] = ()) -> list[Program]:
        """All programs of a name on PATH in their order, each file once."""
        found: dict[str, Program] = {}
        for folder in self._environ.get("PATH", os.defpath).split(os.pathsep):
            path = os.path.join(folder or os.curdir, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and (real := os.path.realpath(path)) not in found:
                found[real] = self.of(path, packages)
        return list(found.values())

    def _asked(self, path: str) -> Program:
        if "shim" in os.path.realpath(
            path
        ):  # asdf, mise, volta, nodenv: without the user's own home these find nothing
            return Program(path, problem="belongs to a version manager, which chooses the version by folder")
        with tempfile.TemporaryDirectory(prefix="covey-version-", ignore_cleanup_errors=True) as home:
            ran = self._run([path, "--version"], with_home(self._environ, home), self._deadline)
        if ran.code != 0:
            return Program(path, problem=complaint(ran))
        said = next(
            (
                found[0]
                for text in (ran.out, ran.err)
                for line in text.splitlines()
                if (found := _VERSION.search(printable(line)))
            ),
            "",
        )
        if not said:
            return Program(path, problem=f"tells no version: {quote(first_line(ran.out) or first_line(ran.err))}")
        return Program(path, said[:_LONGEST].rstrip(".+-"))


def version_of_package(program: str, packages: Sequence[str]) -> str:
    """The version in the package.json of the npm installation that a program belongs to; empty if it belongs to none of these packages."""
    if not packages:
        return ""
    folder = os.path.dirname(os.path.realpath(program))
    for _ in range(_LEVELS):
        described = _package(os.path.join(folder, "package.json"))
        name = described.get("name")
        if isinstance(name, str) and any(name == package or name.startswith(f"{package}-") for package in packages):
            found = _VERSION.match(printable(str(described.get("version", ""))))
            # Packages of one platform carry its name behind the version: 0.166.0-linux-x64.
            return re.sub(r"-(?:linux|darwin|win32)\b.*", "", found[0])[:_LONGEST] if found else ""
        folder = os.path.dirname(folder)
    return ""


def version_in_path(program: str) -> str:
    """The version in a path such as `…/claude/versions/2.1.325` or `…/versions/2026.10.01-ab12/cursor-agent`; empty if it has none."""
    parts = os.path.realpath(program).split("/")
    names = [after for folder, after in pairwise(parts) if folder == "versions"]
    return next((found[0][:_LONGEST] for name in names if (found := _VERSION.match(name))), "")


def with_home(environ: Mapping[str, str], home: str) -> dict[str, str]:
    """An environment in which a program finds and leaves nothing of the user's."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_OWN_VARIABLES)}
    return {**kept, "HOME": home, "NO_COLOR": "1", "DISABLE_AUTOUPDATER": "1"}


def complaint(ran: Ran) -> str:
    """Why a program was of no use, in a few words."""
    said = first_line(ran.err) or first_line(ran.out)
    return ran.problem or f"ended with code {ran.code}" + (f": {quote(said)}" if said else "")


def first_line(text: str) -> str:
    """The first line of a text that is not blank, as it may be shown."""
    return next((printable(line) for line in text.splitlines() if line.strip()), "")


def printable(text: str) -> str:
    """A text without escape sequences and whatever else does not print."""
    return "".join(letter for letter in _ESCAPES.sub("", text) if letter.isprintable()).strip()


def quote(text: str) -> str:
    """A text in quotes, cut where it gets too long."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _package(path: str) -> dict[str, object]:
    """What a package.json says; nothing if it is none, or no regular file."""
    try:
        described = json.loads(read_regular(path, LARGEST_PACKAGE))
    except (OSError, ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}
