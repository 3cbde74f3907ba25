"""The version of another maker's program: read from its installation if it is there, else asked for once.

Programs are run with `--version` and nothing else, and with a temporary home: `--version` alone makes Copilot unpack
235 MB into the user's cache, Gemini leave files in ~/.gemini and opencode make its directories (seen with 1.0.102,
0.61.0 and 1.18.33).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.processes.probe import run_program
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.processes.probe import Ran, Run

DEADLINE_S = 5.0
LARGEST_PACKAGE = 1 << 20
"""The most bytes of a package.json that are read."""
_LEVELS = 6
"""How many folders above a program are searched for its package.json.

`node_modules/<package>/vendor/<platform>/bin/codex` needs five.
"""
_LONGEST = 60
_VERSION = re.compile(r"(?<!\d)\d++(?:\.\d++)+[\w.+-]*")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OWN_VARIABLES = ("XDG_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE")


class Program(NamedTuple):
    """A program file and its version; `problem` is the reason if the version is unknown."""

    path: str
    version: str = ""
    problem: str = ""


class ProgramVersions:
    """The versions of program files, cached until the path, the size or the time of change of a file is different.

    A call blocks for up to the deadline: use a thread.
    """

    def __init__(self, environ: Mapping[str, str], run: Run = run_program, deadline: float = DEADLINE_S) -> None:
        self._environ = environ
        self._run = run
        self._deadline = deadline
        self._known: dict[tuple[str, int, int], Program] = {}
        self._lock = threading.Lock()

    def of(self, path: str, packages: Sequence[str] = (), *, ask: bool = True) -> Program:
        """Return the program at a path with its version.

        `packages` are the npm packages that it may belong to. Without `ask` the program is not run.
        """
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
        if version:
            found = Program(path, version)
        elif ask:
            found = self._ask(path)
        else:
            return Program(path, problem="tells no version in its files")
        with self._lock:
            self._known[key] = found
        return found

    def on_path(self, name: str, packages: Sequence[str] = ()) -> list[Program]:
        """Return all programs of a name on PATH in their order, each file once."""
        found: dict[str, Program] = {}
        for folder in self._environ.get("PATH", os.defpath).split(os.pathsep):
            path = os.path.join(folder or os.curdir, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and (real := os.path.realpath(path)) not in found:
                found[real] = self.of(path, packages)
        return list(found.values())

    def _ask(self, path: str) -> Program:
        # asdf, mise, volta, nodenv: without the user's own home these find nothing.
        if "shim" in os.path.realpath(path):
            return Program(path, problem="belongs to a version manager, which chooses the version by folder")
        with tempfile.TemporaryDirectory(prefix="covey-version-", ignore_cleanup_errors=True) as home:
            ran = self._run([path, "--version"], with_home(self._environ, home), self._deadline)
        if ran.code != 0:
            return Program(path, problem=complaint(ran))
        version = next(
            (
                found[0]
                for text in (ran.out, ran.err)
                for line in text.splitlines()
                if (found := _VERSION.search(printable(line)))
            ),
            "",
        )
        if not version:
            return Program(path, problem=f"tells no version: {quote(first_line(ran.out) or first_line(ran.err))}")
        return Program(path, version[:_LONGEST].rstrip(".+-"))


def version_of_package(program: str, packages: Sequence[str]) -> str:
    """Return the version in the package.json of the npm installation that a program belongs to.

    Returns an empty text if the program belongs to none of these packages.
    """
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
    """Return the version in a path; an empty text if it has none.

    Such a path is `…/claude/versions/2.1.325` or `…/versions/2026.10.01-ab12/cursor-agent`.
    """
    parts = os.path.realpath(program).split("/")
    names = [after for folder, after in pairwise(parts) if folder == "versions"]
    return next((found[0][:_LONGEST] for name in names if (found := _VERSION.match(name))), "")


def with_home(environ: Mapping[str, str], home: str) -> dict[str, str]:
    """Return an environment in which a program neither reads nor writes the user's own files."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_OWN_VARIABLES)}
    return {**kept, "HOME": home, "NO_COLOR": "1", "DISABLE_AUTOUPDATER": "1"}


def complaint(ran: Ran) -> str:
    """Return why a run of a program failed, in a few words."""
    output = first_line(ran.err) or first_line(ran.out)
    return ran.problem or f"ended with code {ran.code}" + (f": {quote(output)}" if output else "")


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank, without control characters."""
    return next((printable(line) for line in text.splitlines() if line.strip()), "")


def printable(text: str) -> str:
    """Return a text without escape sequences and other characters that do not print."""
    return "".join(letter for letter in _ESCAPES.sub("", text) if letter.isprintable()).strip()


def quote(text: str) -> str:
    """Return a text in quotes, cut if it is too long."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _package(path: str) -> dict[str, object]:
    """Return the contents of a package.json; empty if it cannot be read or is not a JSON object."""
    try:
        described = json.loads(read_regular(path, LARGEST_PACKAGE))
    except (OSError, ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}
