"""What the `headless.py` of an agent defines: how to run a task, and how to read what the agent prints. Without IO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.agents.headless.report import Report, Step, Usage
    from covey.agents.headless.task import Task


class Command(Struct, frozen=True, kw_only=True):
    """A process to start."""

    argv: tuple[str, ...]
    stdin: str = ""
    environment: Mapping[str, str | None] = {}
    """Variables to set in the daemon's environment; None removes one."""
    files: Mapping[str, str] = {}
    """Files to write into the run's own folder first, by name."""
    programs: Mapping[str, str] = {}
    """Programs to write into its folder `bin`, which comes first on the agent's PATH."""


class OutputReader(Protocol):
    """Reads the output of one run as it is written."""

    def line(self, text: str) -> Iterable[Step]:
        """Read one line of standard output and return the steps that it tells of.

        A line of no known form is ignored.
        """
        ...

    @property
    def usage(self) -> Usage:
        """What has been spent so far."""
        ...

    def report(self, exit_code: int, complaints: str, now: float) -> Report:
        """Return the result of the run.

        The agent has ended with `exit_code`, and wrote `complaints` to standard error.
        """
        ...


class HeadlessAgent(Protocol):
    """An agent that can run a task without a terminal."""

    name: str
    program: str

    def objections(self, task: Task) -> list[str]:
        """Return what this agent cannot do of the task, each as a sentence that says what to do instead."""
        ...

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        """Return the command that runs the task.

        `folder` is the run's own. `root` says that the user is root, for whom some agents refuse to skip permissions.
        """
        ...

    def reader(self) -> OutputReader:
        """Return a new reader, for one run."""
        ...
