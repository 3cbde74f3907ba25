"""A notification channel as it is configured: `attention.notify`, or one [[attention.channel]].

The standard library only: the command line checks the configuration with this.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.attention.rules import Hours, Rules
from covey.contract.attention import KINDS
from covey.kernel.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMAND, BELL, TMUX, APPRISE = "command", "bell", "tmux", "apprise"
CHANNEL_KINDS = (COMMAND, BELL, TMUX, APPRISE)
NOTIFY = "notify"
"""The name of the channel that `attention.notify` makes."""
EXPECTED_COMMAND = "a command and its arguments; the command is a name on the PATH, or a path that begins with / or ~/"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_OF_KIND = {COMMAND: "command", APPRISE: "urls"}
"""The name that a kind of channel needs, and that no other kind takes."""


class Channel(NamedTuple):
    """How a person is told, of what, and when."""

    name: str
    kind: str
    rules: Rules = Rules()
    command: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """For apprise; they are secrets."""

    @property
    def consumer(self) -> str:
        """The name under which its cursor is stored."""
        return "attention.notify" if self.name == NOTIFY else f"{CONSUMER}{self.name}"


CONSUMER = "attention.channel."


def from_setting(command: Sequence[str]) -> Channel:
    """Return the channel of `attention.notify`. Without a command it tells nobody."""
    return Channel(NOTIFY, COMMAND, command=tuple(command))


def from_tables(tables: Sequence[Mapping[str, Any]]) -> list[Channel]:
    """Return the channels of tables that have no problems."""
    return [
        Channel(
            name=table.get("name", table["kind"]),
            kind=table["kind"],
            rules=Rules(
                only=_list(table.get("only")),
                agents=_list(table.get("agents")),
                quiet=Hours.parse(table.get("quiet", "")),
                every_s=_seconds(table.get("every", 0)) or 0.0,
            ),
            command=_list(table.get("command")),
            urls=_list(table.get("urls")),
        )
        for table in tables
    ]


def problems(tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with the tables: the index of the table, the name in it, and a sentence without secrets."""
    names: set[str] = set()
    for index, table in enumerate(tables):
        for name, sentence in _problems(table):
            yield index, name, sentence
        name = table.get("name", table["kind"])
        if name in names:
            yield index, "name", f"there are two channels called {name}: give each a name of its own"
        names.add(name)


def _problems(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    kind = table["kind"]
    if kind not in CHANNEL_KINDS:
        yield "kind", f"kind has to be one of {', '.join(CHANNEL_KINDS)}"
        return
    for of_kind, name in _OF_KIND.items():
        if kind == of_kind and not table.get(name):
            yield name if name in table else "", f"a channel of the kind {kind} needs {name}"
        elif kind != of_kind and name in table:
            yield name, f"{name} has no meaning in a channel of the kind {kind}"
    if kind == COMMAND and table.get("command") and not is_command(_list(table["command"])):
        yield "command", f"command has to be {EXPECTED_COMMAND}"
    for name in ("command", "urls", "only", "agents"):
        if isinstance(table.get(name), list) and not all(isinstance(one, str) for one in table[name]):
            yield name, f"{name} has to be a list of texts"
    yield from _problems_of_rules(table)


def _problems_of_rules(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not _NAME.fullmatch(table.get("name", table["kind"])) or table.get("name") == NOTIFY:
        yield "name", f"name has to be at most 40 letters, digits, dots, dashes and underscores, and not {NOTIFY}"
    if wrong := [one for one in _list(table.get("only")) if one not in KINDS]:
        yield "only", f"only has {wrong[0][:40]!r}, which is not one of {', '.join(KINDS)}"
    if "quiet" in table and Hours.parse(table["quiet"]) is None:
        yield "quiet", 'quiet has to be hours in local time, such as "22:00-07:00"'
    if "every" in table and _seconds(table["every"]) is None:
        yield "every", 'every has to be a length of time, such as "10m"'


def is_command(words: Sequence[str]) -> bool:
    """Return whether these words can be run as a command: its name, or an absolute path, and arguments."""
    program = words[0] if words else ""
    return bool(
        program.strip() and ("/" not in program or program.startswith(("/", "~/"))) and "\0" not in "".join(words)
    )


def _list(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(one) for one in value)


def _seconds(value: Any) -> float | None:
    return parse_duration(value) if isinstance(value, str) else float(value)
