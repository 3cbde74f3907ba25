"""Text and keys typed into a pane, but only if the pane is still what it was.

tmux itself checks that, in the command that types, so that nothing can happen between the check and the typing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.tmux.errors import TmuxUnreadableError
from covey.tmux.format_text import all_of, equal
from covey.tmux.format_text import escaped as _escaped
from covey.tmux.format_text import quoted as _quoted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Command = Callable[..., Awaitable[list[str]]]
    """Runs one tmux command in one server and returns the lines that it printed. Raises TmuxError."""

PIECE_BYTES = 6000
"""Of a text that is put into a buffer, per command: a message to a tmux server has 16,384 bytes at most."""
TYPED, REFUSED = "covey-typed", "covey-refused"
GUARDED = "if-shell"
"""The command that checks and types. If it is not answered, it is not known whether it typed."""
PERSON = "?#{&&:#{pane_active},#{!=:#{window_active_clients},0}},#{session_activity},nobody"
"""The second in which a person last pressed a key who looks at the pane; `nobody` if no keys of a person go there."""
NOBODY = "nobody"
_SPECIAL = re.compile(r"[][\\.^$*+?(){}|]")
_RUNS = re.compile(r"(.)(\1{7,198})?")
"""One character, or the same one many times; a count in an expression is at most 255 in some libraries."""


class PaneCheck(Struct, frozen=True, kw_only=True):
    """What must hold of a pane at the moment of typing."""

    server_pid: int
    server_started: int
    pane_id: str
    pane_pid: int
    """The first process of the pane."""
    program: str
    """The program in the foreground, as tmux names it."""
    rows: tuple[str, ...] = ()
    """Rows that must stand on the screen, each as a whole."""
    placed: tuple[tuple[int, str], ...] = ()
    """Rows that must stand at a place on the screen, counted from 0, and nowhere above it."""
    absent: tuple[str, ...] = ()
    """Extended regular expressions, none of which may match a row of the screen."""
    person: str = ""
    """What PERSON must still be; empty if that does not matter."""


class Difference(Struct, frozen=True):
    """Why tmux did not type: what is not as it should be, and what it is instead."""

    what: str
    """`server`, `process`, `dead`, `mode`, `program`, `person`, `screen` or `dialog`."""
    found: str = ""


async def paste(command: Command, check: PaneCheck, name: str, text: str) -> Difference | None:
    """Paste a text as a bracketed paste; `name` is for the buffer. Returns why nothing was typed, or None.

    Raises TmuxError if the server cannot be asked; then it is not known whether the text was typed.
    """
    for number, piece in enumerate(_pieces(text)):
        await command("set-buffer", *(["-a"] if number else []), "-b", name, "--", piece)
    return await _guarded(
        command, check, f"paste-buffer -d -p -r -b {name} -t {check.pane_id}", f"delete-buffer -b {name} ; "
    )


async def press(command: Command, check: PaneCheck, *keys: str) -> Difference | None:
    """Press keys by their tmux names. Returns why nothing was typed, or None. Raises TmuxError as `paste` does."""
    return await _guarded(command, check, f"send-keys -t {check.pane_id} {' '.join(keys)}")


async def _guarded(command: Command, check: PaneCheck, action: str, before_refusal: str = "") -> Difference | None:
    facts = f"display-message -p -t {check.pane_id} {_quoted(_facts(check))}"
    lines = await command(
        GUARDED,
        "-F",
        "-t",
        check.pane_id,
        _condition(check),
        f"{action} ; display-message -p {TYPED}",
        f"{before_refusal}{facts}",
    )
    for line in lines:  # a hook of the user may print more
        if line == TYPED:
            return None
        if line.startswith(f"{REFUSED}\t"):
            return _difference(check, line.split("\t")[1:])
    raise TmuxUnreadableError(f"tmux did not say whether it typed: {lines[:3]!r}")


def _expected(check: PaneCheck) -> list[tuple[str, str, str]]:
    """Return what must be equal: the format, its value, and how a difference is called."""
    return [
        ("pid", str(check.server_pid), "server"),
        ("start_time", str(check.server_started), "server"),
        ("pane_pid", str(check.pane_pid), "process"),
        ("pane_dead", "0", "dead"),
        ("pane_in_mode", "0", "mode"),
        ("pane_current_command", check.program, "program"),
        *([(PERSON, check.person, "person")] if check.person else []),
    ]


def _condition(check: PaneCheck) -> str:
    parts = [equal(name, value) for name, value, _ in _expected(check)]
    parts += [f"#{{C/r:{_escaped(_row(row))}}}" for row in check.rows]
    parts += [f"#{{==:#{{C/r:{_escaped(_row(row))}}},{place + 1}}}" for place, row in check.placed]
    parts += [f"#{{?#{{C/r:{_escaped(pattern)}}},0,1}}" for pattern in check.absent]
    return all_of(parts)


def _facts(check: PaneCheck) -> str:
    """Return the format of the refusal: all that was checked, as it was found. A display-message expands dates."""
    formats = [f"#{{{name}}}" for name, _, _ in _expected(check)]
    formats += [f"#{{C/r:{_escaped(pattern)}}}" for pattern in (*map(_row, check.rows), *check.absent)]
    return "\t".join([REFUSED, *(text.replace("%", "%%") for text in formats)])


def _difference(check: PaneCheck, found: Sequence[str]) -> Difference:
    expected = _expected(check)
    if len(found) != len(expected) + len(check.rows) + len(check.absent):
        raise TmuxUnreadableError(f"tmux refused to type, and why cannot be read: {found!r}")
    for (_, value, what), is_now in zip(expected, found, strict=False):
        if value != is_now:
            return Difference(what, is_now)
    rest = found[len(expected) :]
    for number, line in enumerate(rest):
        if (line == "0") is (number < len(check.rows)):
            return Difference("screen" if number < len(check.rows) else "dialog")
    return Difference("screen")  # it was different at the check, and is as it should be again


def condition_bytes(check: PaneCheck) -> int:
    """Return how long the condition is: with the rest of the command it has to fit into one message to the server."""
    return len(_condition(check).encode())


def _row(row: str) -> str:
    """Return the expression that matches a whole row of the screen, whatever blanks follow it."""
    return "^" + "".join(map(_repeated, _RUNS.finditer(row.rstrip(" ")))) + " *$"


def _repeated(run: re.Match[str]) -> str:
    """Return the expression for a character that stands once, or many times, as in a rule."""
    character = _SPECIAL.sub(r"\\\g<0>", run[1])
    return f"{character}{{{len(run[0])}}}" if run[2] else character


def _pieces(text: str) -> list[str]:
    """Return a text in pieces of at most PIECE_BYTES bytes, cut between characters."""
    pieces, start, size = [], 0, 0
    for at, character in enumerate(text):
        size += len(character.encode())
        if size > PIECE_BYTES:
            pieces.append(text[start:at])
            start, size = at, len(character.encode())
    return [*pieces, text[start:]]
