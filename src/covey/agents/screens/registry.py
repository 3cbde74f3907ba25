"""All adapters: those that come with Covey, those of installed packages, and those in a person's own folder.

A description of an agent that is already known extends it. One that cannot be used is reported and changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.agents.registry import screen_descriptions
from covey.agents.screens.adapter import BUILT_IN, Adapter
from covey.agents.screens.build import build, extended
from covey.agents.screens.description import DescriptionError, parse
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint

    from covey.agents.screens.adapter import Process
    from covey.agents.screens.composer import Composer
    from covey.agents.screens.description import Description
    from covey.agents.screens.patterns import Reading, Tried

GROUP = "covey.adapters"
LARGEST_FILE = 1 << 20


class Problem(Struct, frozen=True):
    """A description that was left out."""

    name: str
    line: int
    """0 where it cannot be told."""
    message: str
    suggestion: str

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}: {self.message}" if self.line else f"{self.name}: {self.message}"


class Explanation(Struct, frozen=True, kw_only=True):
    """How a screen and a title were read."""

    agent: str
    """Empty when no agent was named and not exactly one reads the screen."""
    state: str = "unknown"
    reason: str = ""
    reading: Reading | None = None
    title_reading: Reading | None = None
    composer: Composer | None = None
    screen_rules: tuple[Tried, ...] = ()
    title_rules: tuple[Tried, ...] = ()
    candidates: tuple[str, ...] = ()
    """Agents whose patterns read this screen, where none was named."""
    caveat: str = ""


class Registry(Struct, frozen=True):
    """Adapters by name, and what was wrong with those that are not there."""

    adapters: dict[str, Adapter]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Adapter]:
        return iter(self.adapters.values())

    def get(self, name: str) -> Adapter | None:
        return self.adapters.get(name)

    def identify(self, process: Process) -> str | None:
        """The agent that a process is, if a person can talk to it."""
        return next((adapter.name for adapter in self if adapter.identify(process)), None)

    def explain(
        self, agent: str | None, screen: str, title: str = "", escapes: str = "", version: str = ""
    ) -> Explanation:
        """Return which state a screen shows, by which rule, and why the rules before it did not hold.

        Raises KeyError for an agent that is not described.
        """
        if agent is not None:
            return _explained(self.adapters[agent].at(version), screen, title, escapes)
        found = [one for adapter in self if (one := _explained(adapter, screen, title, escapes)).reading]
        if len(found) == 1:
            return found[0]
        return Explanation(
            agent="", reason="several_agents" if found else "no_pattern", candidates=tuple(one.agent for one in found)
        )


def load(folder: Path | None = None, *, packages: bool = True) -> Registry:
    """Everything there is: built in, then of installed packages, then the files in `folder`."""
    shelf = _Shelf()
    for name, text in screen_descriptions():
        shelf.add(name, text, BUILT_IN)
    if packages:
        for entry in _entry_points():
            shelf.add_entry(f"package {entry.dist.name if entry.dist else entry.value}", entry.load)
    for file in sorted(folder.glob("*.toml")) if folder else ():
        shelf.add_file(str(file), file)
    return Registry(shelf.adapters, tuple(shelf.problems))


def _entry_points() -> list[EntryPoint]:
    """Return what installed packages offer.

    Reading the metadata of all packages is slow, and few have an adapter: their files are searched for the word first.
    """
    zipped = any(os.path.isfile(folder) for folder in sys.path)  # noqa: PTH113 - a string is at hand
    if not zipped and not any(map(_offers_adapters, sys.path)):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, seldom needed

    return sorted(entry_points(group=GROUP), key=lambda entry: entry.name)


def _offers_adapters(folder: str) -> bool:
    """Return whether a package in a folder of packages may have an adapter. What cannot be read offers nothing."""
    for file in glob(f"{escape(folder or '.')}/*-info/entry_points.txt"):  # noqa: PTH207 - a string is at hand
        with contextlib.suppress(OSError):
            if GROUP.encode() in Path(file).read_bytes():
                return True
    return False


class _Shelf:
    """Takes descriptions in, one over the other."""

    def __init__(self) -> None:
        self.adapters: dict[str, Adapter] = {}
        self.problems: list[Problem] = []
        self._descriptions: dict[str, Description] = {}

    def add(self, source: str, text: str, origin: str) -> None:
        try:
            description = parse(source, text)
            known = self._descriptions.get(description.name)
            whole = extended(known, description) if known else description
            adapter = build(
                whole, source, text, origin if not known else f"{self.adapters[known.name].origin}, {origin}"
            )
        except DescriptionError as error:
            self.problems.append(Problem(source, error.line, error.message, error.suggestion))
        else:
            self._descriptions[whole.name] = whole
            self.adapters[whole.name] = adapter

    def add_file(self, source: str, file: Path) -> None:
        try:
            data = read_regular(file, LARGEST_FILE + 1)
            if len(data) > LARGEST_FILE:
                self.problems.append(Problem(source, 0, f"longer than {LARGEST_FILE} bytes", "Is it the right file?"))
                return
            text = data.decode()
        except (OSError, UnicodeDecodeError) as error:
            self.problems.append(
                Problem(source, 0, f"cannot be read: {error}", "Make it a readable file in UTF-8, or move it away.")
            )
        else:
            self.add(source, text, source)

    def add_entry(self, source: str, load_it: Callable[[], object]) -> None:
        """What a package offers: the path of a TOML file, TOML as bytes, or a whole adapter."""
        try:
            offered = load_it()
            if isinstance(offered, Adapter):
                _ = offered.versions  # compiled now: what is wrong with it belongs to the package
        except Exception as error:  # noqa: BLE001 - it is somebody else's code, and must not take the others down
            self.problems.append(Problem(source, 0, f"cannot be loaded: {error!r}", "Update or remove the package."))
            return
        match offered:
            case Adapter():
                self.adapters[offered.name] = offered
            case Path():
                self.add_file(source, offered)
            case bytes():
                self.add(source, offered.decode(errors="replace"), source)
            case str():
                self.add_file(source, Path(offered))
            case _:
                self.problems.append(
                    Problem(
                        source,
                        0,
                        f"offers a {type(offered).__name__}",
                        "A path, bytes of TOML, or an Adapter is wanted.",
                    )
                )


def _explained(adapter: Adapter, screen: str, title: str, escapes: str) -> Explanation:
    reading, title_reading = adapter.read_screen(screen, escapes, title), adapter.read_title(title)
    composer, tried = adapter.patterns.try_screen(screen, escapes, title)
    best = reading or title_reading
    return Explanation(
        agent=adapter.name,
        state=best.state if best else "unknown",
        reason=best.reason if best else "no_pattern",
        reading=reading,
        title_reading=title_reading,
        composer=composer,
        screen_rules=tried,
        title_rules=adapter.patterns.try_title(title) if title else (),
        caveat=adapter.caveat,
    )
