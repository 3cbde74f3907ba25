"""What an agent has to tell Covey so that it can run a beat. Pure: no agent module starts, reads or writes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.beats.beat import Beat
    from covey.beats.report import Report, Step, Usage


class Command(Struct, frozen=True, kw_only=True):
    """A process to start."""

    argv: tuple[str, ...]
    stdin: str = ""
    environment: Mapping[str, str | None] = {}
    """Added to what the daemon has; None takes one away."""
    files: Mapping[str, str] = {}
    """Written into the run's own folder first, by name."""


class Reader(Protocol):
    """Reads one run's output as it comes."""

    def line(self, text: str) -> Iterable[Step]:
        """Take in a line of standard output. Garbage is ignored."""
        ...

    @property
    def usage(self) -> Usage:
        """What has been spent so far."""
        ...

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        """What it amounts to, now that the agent has ended with this code and this standard error."""
        ...


class Agent(Protocol):
    """One agent CLI."""

    name: str
    program: str

    def objections(self, beat: Beat) -> list[str]:
        """What of the beat this agent cannot do, each a sentence that says what to do instead."""
        ...

    def command(self, beat: Beat, prompt: str, folder: str, *, root: bool) -> Command:
        """How the beat is run. `folder` is the run's own; `root` tells that we are root, under which some agents refuse to skip permissions."""
        ...

    def reader(self) -> Reader:
        """A fresh one for each run."""
        ...
