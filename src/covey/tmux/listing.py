"""Questions to tmux about its panes, and the parsing of its answers, one line for each pane. Pure.

Each line that we ask for begins with a mark, a random word: hooks of the user may print more, and a screen may show
anything. A line with our mark that cannot be parsed is an error; it is never left out.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from covey.tmux.errors import TmuxUnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

SEPARATOR = "\t"
"""Separates fields. tmux never escapes a tab in a format; 3.4 and 3.5a print other control characters as `\\037`."""
CONTROL = "[\x01-\x1f\x7f]"
HEAD, GLANCE, PULSE, PANE, END = "head", "glance", "pulse", "pane", "end"
T = TypeVar("T")


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """A pane as it was when it was listed.

    `activity` is the second of the last output anywhere in its window; `attached` is the number of attached clients.
    """

    id: str
    pid: int
    tty: str
    session_id: str
    session_name: str
    window_id: str
    window_index: int
    window_name: str
    pane_index: int
    dead: bool
    in_mode: bool
    alternate: bool
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    activity: int
    history_bytes: int
    attached: int
    command: str
    path: str
    title: str


# A process and a folder may be named with any bytes, so control characters are taken out of those two: they contain no
# line break and no false separator. tmux escapes the names of sessions and windows, and refuses a title with a control
# character; the title comes last all the same.
_FIELDS = (
    "pane_id", "pane_pid", "pane_tty", "session_id", "session_name", "window_id", "window_index", "window_name",
    "pane_index", "pane_dead", "pane_in_mode", "alternate_on", "pane_width", "pane_height", "cursor_x", "cursor_y",
    "window_activity", "history_bytes", "session_attached",
    f"s/{CONTROL}/?/:pane_current_command", f"s/{CONTROL}/?/:pane_current_path", "pane_title",
)  # fmt: skip
_PANE = SEPARATOR.join(f"#{{{field}}}" for field in _FIELDS)
_PULSE_FIELDS = ("pane_id", "window_activity", "alternate_on", "cursor_x", "cursor_y", "history_bytes", "pane_title")
_PULSE = SEPARATOR.join(f"#{{{field}}}" for field in _PULSE_FIELDS)
_HEAD = SEPARATOR.join(("#{pid}", "#{start_time}", "%s", "#{S:+}"))
# The glance changes when the topology does. It has no commas, because inside #{P:} they would separate active from
# inactive panes. Control characters are taken out of all of it at once: tmux compiles the pattern each time.
_GLANCE = (
    f"#{{s/{CONTROL}/?/:#{{S:#{{session_id}}#{{session_name}} #{{W:#{{window_index}}#{{window_name}} "
    "#{P:#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_width}x#{pane_height} #{pane_current_command}|}}}}"
)
FEW = 25
"""If at most one pane in this many is asked for, each is asked for by itself: filtering all panes takes tmux longer."""


class Pulse(NamedTuple):
    """The fields of a pane that output changes.

    The other fields, a program and a folder above all, are expensive for tmux to expand; a glance notices when they
    change.
    """

    activity: int
    alternate: bool
    cursor_x: int
    cursor_y: int
    history_bytes: int
    title: str

    def differs(self, pane: Pane) -> bool:
        return self != (pane.activity, pane.alternate, pane.cursor_x, pane.cursor_y, pane.history_bytes, pane.title)

    def applied_to(self, pane: Pane) -> Pane:
        """Return the pane with the fields of this pulse."""
        return replace(pane, **self._asdict())


@lru_cache(maxsize=4096)
def parse_pane(line: str) -> Pane | None:
    """Parse the fields of a pane; None if they cannot be parsed.

    The same line gives the same object: most panes have not changed since they were listed last.
    """
    fields = line.split(SEPARATOR, len(_FIELDS) - 1)
    if len(fields) != len(_FIELDS):
        return None
    try:
        return Pane(
            id=fields[0],
            pid=int(fields[1]),
            tty=fields[2],
            session_id=fields[3],
            session_name=fields[4],
            window_id=fields[5],
            window_index=int(fields[6]),
            window_name=fields[7],
            pane_index=int(fields[8]),
            dead=fields[9] == "1",
            in_mode=fields[10] not in ("", "0"),
            alternate=fields[11] == "1",
            width=int(fields[12]),
            height=int(fields[13]),
            cursor_x=int(fields[14]),
            cursor_y=int(fields[15]),
            activity=int(fields[16]),
            history_bytes=int(fields[17]),
            attached=int(fields[18]),
            command=fields[19],
            path=fields[20],
            title=fields[21],
        )
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def parse_pulse(line: str) -> tuple[str, Pulse] | None:
    """Parse the fields of a pulse and the id of its pane; None if they cannot be parsed."""
    fields = line.split(SEPARATOR, len(_PULSE_FIELDS) - 1)
    if len(fields) != len(_PULSE_FIELDS):
        return None
    pane_id, activity, alternate, cursor_x, cursor_y, history_bytes, title = fields
    try:
        return pane_id, Pulse(int(activity), alternate == "1", int(cursor_x), int(cursor_y), int(history_bytes), title)
    except ValueError:
        return None


class Head(NamedTuple):
    """The first line of an answer: the server's identity, its own clock in seconds, and whether it has sessions."""

    pid: int
    started: int
    second: int
    sessions: bool


class Listing(NamedTuple):
    """The answer of a server.

    `panes` is None if the question did not ask for all panes, `glance` if it did not ask for a glance. `screens` are
    the screens that were asked for, or empty if the server refused one of them. `complete` is False if the server
    refused a command.
    """

    head: Head
    panes: dict[str, Pane] | None
    pulses: dict[str, Pulse]
    glance: str | None
    screens: dict[str, str]
    complete: bool


class Question:
    """The commands of one connection, and the parsing of their output.

    The first command asks which server answers, and one at the end prints that all before it were run. Screens come
    after that, so that a pane that is gone by then spoils nothing else.
    """

    def __init__(self) -> None:
        self._mark = secrets.token_hex(8)
        self._commands: list[tuple[str, ...]] = [("display-message", "-p", self._marked(HEAD, _HEAD))]
        self._all = False
        self._screens: ScreenQuestion | None = None

    @property
    def words(self) -> list[str]:
        """The commands as the arguments of one `tmux` program."""
        commands = [word for command in self._commands for word in (*command, ";")]
        commands += ["display-message", "-p", self._marked(END, "")]
        return [*commands, ";", *self._screens.words] if self._screens else commands

    def all_panes(self) -> None:
        """Ask for every pane."""
        self._all = True
        self._commands.append(("list-panes", "-a", "-F", self._marked(PANE, _PANE)))

    def glance(self) -> None:
        """Ask for a line that changes when panes, their programs, or the names and order of windows and sessions do."""
        self._commands.append(("display-message", "-p", self._marked(GLANCE, _GLANCE)))

    def pulses(self, only: Collection[str], *, of: int) -> None:
        """Ask for the pulses of some panes of a server with `of` panes; the answer leaves out panes that are gone."""
        form = self._marked(PULSE, _PULSE)
        if len(only) * FEW <= of:
            # For a pane that is gone no other field may be expanded: tmux 3.2 would crash.
            guarded = self._marked(PULSE, f"#{{?pane_id,{_PULSE},}}")
            self._commands += [("display-message", "-p", "-t", pane_id, guarded) for pane_id in only]
        elif only:
            self._commands.append(
                ("list-panes", "-a", "-f", f"#{{m:*|#{{pane_id}}|*,|{'|'.join(sorted(only))}|}}", "-F", form)
            )

    def screens(self, pane_ids: Sequence[str]) -> None:
        """Ask for the screens of these panes, with colours."""
        self._screens = ScreenQuestion(pane_ids, escapes=True)

    def parse(self, out: str) -> Listing | None:
        """Return the answer; None if not even the first command was answered.

        Raises `TmuxUnreadableError` if the output is not what was asked for.
        """
        head: Head | None = None
        glance: str | None = None
        panes: dict[str, Pane] = {}
        pulses: dict[str, Pulse] = {}
        lines, complete, shown = out.partition(f"{self._mark}{SEPARATOR}{END}")
        for kind, fields in self._marked_lines(lines):
            if kind == HEAD:
                head = _head(fields)
            elif kind == GLANCE:
                glance = fields
            elif kind == PANE:
                pane = _expect(parse_pane(fields), "its panes", fields)
                # A window that is linked into several sessions is listed under the first of them.
                panes.setdefault(pane.id, pane)
            elif kind == PULSE and fields:  # there are no fields for a pane that is gone
                pane_id, pulse = _expect(parse_pulse(fields), "what a pane does", fields)
                pulses[pane_id] = pulse
        if head is None:
            if self._mark in out:
                raise unreadable("who it is", out)
            return None
        screens = self._screens.parse(shown) if self._screens and complete else None
        return Listing(head, panes if self._all else None, pulses, glance, screens or {}, bool(complete))

    def _marked_lines(self, out: str) -> Iterator[tuple[str, str]]:
        """Yield the kind and the fields of each line with our mark."""
        start = f"{self._mark}{SEPARATOR}"
        for line in out.split("\n"):
            if line.startswith(start):
                kind, _, fields = line.removeprefix(start).partition(SEPARATOR)
                yield kind, fields

    def _marked(self, kind: str, form: str) -> str:
        return f"{self._mark}{SEPARATOR}{kind}{SEPARATOR}{form}"


class ScreenQuestion:
    """The commands that print the screens of panes, and the parsing of their output.

    Before each screen comes a line with our mark, the pane and its height. A hook of the user on `display-message`
    would print between that line and the screen; the number of its lines is counted at the end, where nothing else
    comes.
    """

    def __init__(self, pane_ids: Sequence[str], *, escapes: bool) -> None:
        self._mark = secrets.token_hex(8)
        form = SEPARATOR.join((self._mark, "#{pane_id}", "#{pane_height}"))
        capture = ("capture-pane", "-p", *(("-e",) if escapes else ()), "-t")
        self.words = [
            word
            for pane_id in pane_ids
            for word in ("display-message", "-p", "-t", pane_id, form, ";", *capture, pane_id, ";")
        ]
        self.words += ["display-message", "-p", self._mark]

    def parse(self, out: str) -> dict[str, str] | None:
        """Return the screens by pane; None if tmux refused one, at which it stops.

        Raises `TmuxUnreadableError` if the output is not what was asked for.
        """
        first, *parts = out.split(self._mark)
        if not parts or not parts[-1].startswith("\n"):
            return None
        *parts, last = parts
        hook_lines = last.count("\n") - 1
        screens: dict[str, str] = {}
        for part in parts:
            heading, *lines = part.split("\n")
            try:
                _, pane_id, height = heading.split(SEPARATOR)
                shown = lines[hook_lines : hook_lines + int(height)]
            except ValueError:
                raise unreadable("what a pane shows", first + heading) from None
            screens[pane_id] = "\n".join((*shown, ""))
        return screens


def _head(fields: str) -> Head:
    try:
        pid, started, second, sessions = fields.split(SEPARATOR)
        return Head(int(pid), int(started), int(second), bool(sessions))
    except ValueError:
        raise unreadable("who it is", fields) from None


def _expect(parsed: T | None, question: str, fields: str) -> T:
    if parsed is None:
        raise unreadable(question, fields)
    return parsed


def unreadable(question: str, answer: str) -> TmuxUnreadableError:
    """Return the error that names the question and the answer."""
    return TmuxUnreadableError(f"tmux was asked for {question} and printed {answer[:80]!r}")
