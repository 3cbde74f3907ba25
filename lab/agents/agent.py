"""The description of an agent CLI for the lab. One small file per agent fills it; everything else is shared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from lab.model.server import Tool
    from lab.terminal import Pane


@dataclass(frozen=True)
class RunSetup:
    """The folders and options of one run. Nothing that an agent writes may land outside `root`."""

    root: Path
    model: str
    """Base address of this run's conversation with the scripted model."""
    trusted: bool = True
    """Whether the project folder is already trusted; otherwise the agent may ask."""
    retries: int = 0
    """How often the agent may repeat a failed request."""
    record: bool = False
    """Whether hooks write every payload they get to `hooks`."""
    integrated: bool = False
    """Whether hooks of a tool under test will be put into the settings: then the agent must not ask to review them."""
    options: frozenset[str] = frozenset()
    """Further options that the scenario has for the start."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def hooks(self) -> Path:
        return self.root / "hooks.jsonl"

    @property
    def notices(self) -> Path:
        return self.root / "notify.jsonl"

    @property
    def recorder(self) -> Path:
        """A script that appends one payload, from its last argument or its input, to the file named first."""
        return self.root / "record"


@dataclass(frozen=True)
class Launch:
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)


def screen(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def choice(question: str, **more: object) -> dict[str, object]:
    """Return a question with two choices, in the form that most agents' tools take."""
    options = [{"label": "First", "description": "The first way"}, {"label": "Second", "description": "The second way"}]
    return {"question": question, "header": "Choice", "options": options, **more}


class Agent:
    """An agent CLI with defaults that fit most; a subclass in its own file gives the rest."""

    name: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]
    """Its name on npm."""
    version: ClassVar[str]
    older: ClassVar[tuple[str, ...]] = ()
    """Older versions that are measured as well: about three and about nine months older."""
    program_name: ClassVar[str]
    shelf: ClassVar[str] = "agents"
    """The folder within the lab's folder in which the release is installed."""
    stand_in: ClassVar[bool] = False
    skips: ClassVar[Mapping[str, str]] = {}
    """Scenarios that make no sense for this agent, each with the reason."""

    ready: ClassVar[re.Pattern[str]]
    """On screen once the agent takes its first prompt."""
    approval: ClassVar[re.Pattern[str]]
    question: ClassVar[re.Pattern[str]]
    trust: ClassVar[re.Pattern[str]]
    retrying: ClassVar[re.Pattern[str]]
    """On screen while the agent waits to repeat a failed request."""
    failure: ClassVar[re.Pattern[str]]
    """On screen when the agent has given up after an API error."""

    approve_keys: ClassVar[tuple[str, ...]] = ("Enter",)
    deny_keys: ClassVar[tuple[str, ...]] = ("Escape",)
    interrupt_keys: ClassVar[tuple[str, ...]] = ("Escape",)
    trust_keys: ClassVar[tuple[str, ...]] = ("Enter",)
    clear_keys: ClassVar[tuple[str, ...]] = ("C-u",)
    quit_text: ClassVar[str] = "/exit"
    compact_text: ClassVar[str] = "/compact"
    start_limit: ClassVar[float] = 90.0
    give_up: ClassVar[float] = 20.0
    """Seconds within which the agent stops repeating a request that goes on failing."""
    warm_up: ClassVar[float] = 0.0
    """Seconds after its prompt is first drawn within which the agent loses an Enter."""
    settle: ClassVar[float] = 0.5
    """Seconds between pasting text and pressing Enter: sooner, some agents take the Enter for part of the paste."""

    tools: ClassVar[Mapping[str, Callable[[str], Tool]]]

    def __init__(self, program: Path) -> None:
        self.program = program

    def prepare(self, setup: RunSetup) -> Launch:
        """Write the agent's settings into the run's folders and return how to start it directly at its prompt."""
        raise NotImplementedError

    def transcripts(self, setup: RunSetup) -> list[Path]:
        """Return the files to which the agent appends its conversation."""
        raise NotImplementedError

    def session_files(self, setup: RunSetup) -> list[Path]:
        """Return other files in which the agent keeps its present state."""
        del setup
        return []

    def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:
        """Yield the state that the agent itself reports, from a source that is independent of the truth log."""
        raise NotImplementedError
