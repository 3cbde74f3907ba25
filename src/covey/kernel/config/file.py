"""The file `config.toml` itself: read without blocking, replaced atomically, and an error that lists all its problems.

AgentError
└── ConfigError           the file is not valid; `problems` are all its problems
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.atomic_file import write_file
from covey.kernel.quoting import quoted
from covey.kernel.regular_file import NotRegularError, read_regular
from murli import AgentError, permission_denied, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from covey.kernel.config.toml_text import Path

LARGEST_FILE = 1 << 20
_NEW_FILE_MODE = 0o600


class Problem(NamedTuple):
    """One problem of the file; `line` is 0 if it is unknown."""

    key: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class ConfigError(AgentError):
    """The file cannot be used. The message lists every problem, so that one edit mends them all."""

    def __init__(self, path: str, problems: list[Problem], suggestion: str = "") -> None:
        if len(problems) == 1:
            message = f"{path}, {problems[0]}" if problems[0].line else f"{path}: {problems[0]}"
        else:
            message = "\n".join([f"{path} has {len(problems)} problems:", *(f"  {problem}" for problem in problems)])
        keys = [problem.key for problem in problems if problem.key]
        # `covey config unset` takes neither a quoted name nor one of several tables.
        removable = [key for key in keys if not set(key) & set('"[')]
        advice = suggestion or f"Edit the file: ${{EDITOR:-vi}} {quoted(path)}" + (
            f"   or take it out: covey config unset {removable[0]}" if removable else ""
        )
        super().__init__(
            message,
            code=1,
            error="config_error",
            suggestion=advice,
            recoverable=True,
            field=keys[0] if len(keys) == 1 else "",
        )
        self.path = path
        self.problems = problems


def read_text(path: str) -> str:
    """Return the text of the file; empty if there is no file. Raises `AgentError` if it cannot be read."""
    try:
        data = read_regular(path, LARGEST_FILE + 1)
    except FileNotFoundError:
        return ""
    except NotRegularError as error:
        raise user_error(
            f"{path} cannot be the configuration: {error.strerror}",
            f"Move it away: mv {quoted(path)} {quoted(path + '.old')}",
            error="config_error",
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > LARGEST_FILE:
        raise user_error(
            f"{path} is longer than {LARGEST_FILE} bytes, the most a configuration may have",
            "Is it the right file?",
            error="config_error",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            path, [Problem("", line, f"byte 0x{data[error.start]:02x} is not valid UTF-8")], "Save the file as UTF-8."
        ) from None


def _unreadable(path: str, error: OSError) -> AgentError:
    if error.errno in (errno.EACCES, errno.EPERM):
        return permission_denied(
            f"{path} cannot be read: {error.strerror}", f"Let yourself read it: chmod u+r {quoted(path)}"
        )
    return tool_error(
        f"{path} cannot be read: {error.strerror or error}", f"Look at it: ls -l {quoted(path)}", error="config_error"
    )


def parse_text(path: str, text: str) -> dict[str, Any]:
    """Return the TOML document. Raises `ConfigError` if the text is not valid TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(path, [Problem("", 0, "values are nested too deeply")]) from None
    except ValueError as error:
        sentence, _, place = str(error).rpartition(" (at ")
        if not sentence:
            raise ConfigError(path, [Problem("", 0, f"is not valid TOML: {error}")]) from None
        line, _, column = place.rstrip(")").partition(", column ")
        number = line.removeprefix("line ")
        at = int(number) if number.isdigit() else text.count("\n") + 1
        hint = "; is a text missing its quotes?" if sentence.startswith(("Invalid value", "Expected newline")) else ""
        where = f"column {column}: " if column else "at the end: "
        raise ConfigError(path, [Problem("", at, f"{where}{sentence[0].lower()}{sentence[1:]}{hint}")]) from None


def replace_text(path: str, before: str, after: str, expected: dict[Path, Any], key: str) -> None:
    """Replace the text of the file, if the new text has exactly the `expected` values.

    Raises `AgentError` if it has not, or if the file cannot be written; the file is then unchanged.
    """
    try:
        values = flat(tomllib.loads(after))
    except ValueError:
        values = {}
    if {at: repr(value) for at, value in values.items()} != {at: repr(value) for at, value in expected.items()}:
        raise not_editable(path, key)
    if after == before:
        return
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        mode = _NEW_FILE_MODE
    try:
        write_file(path, after.encode(), mode)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise permission_denied(
                f"{path} cannot be written: {error.strerror}; it is as it was",
                f"Look at its directory: ls -ld {quoted(os.path.dirname(path))}",
            ) from error
        raise tool_error(
            f"{path} could not be written: {error.strerror or error}; it is as it was",
            "Free some space, then try again.",
            error="config_error",
        ) from error


@contextlib.contextmanager
def locked(directory: str) -> Iterator[None]:
    """Lock the directory of the file against other editing commands.

    Where directories cannot be locked (some network file systems), the last writer wins.
    """
    import fcntl

    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def not_editable(path: str, key: str) -> AgentError:
    """Return the error for a valid file that is written in a way that cannot be edited safely."""
    return tool_error(
        f"{path} is written in a way that cannot be edited safely; it was not touched",
        f"Change {key} in an editor: ${{EDITOR:-vi}} {quoted(path)}",
        error="config_error",
    )


def flat(document: Mapping[str, Any], above: Path = ()) -> dict[Path, Any]:
    """Return every value by its path; empty tables are left out."""
    found: dict[Path, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= flat(value, (*above, name))
        else:
            found[*above, name] = value
    return found
