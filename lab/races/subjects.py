"""The agents in races: a stand-in with a composer, and the real ones, whose model remembers what it was told."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from covey.agents import integration
from lab.agents.agent import Agent, RunSetup
from lab.model.server import Conversation, Model
from lab.races.race import has_token
from lab.script import Call, Position, Say, Script, Step, Wait

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STAND_IN = "stand-in"
PROGRAM = Path(__file__).parents[1] / "standins" / "composing_agent.py"
DIALOG = re.compile(r"ask after ([\d.]+) s to make (\S+)")
"""The prompt on which the scripted model asks for an approval."""
ADAPTER = """
name = "stand-in"
title = "Stand-in with a composer"
process = { names = ["stand_in_agent.py"], launchers = ["python*"] }
composer = { prompt = '> (?P<text>.*)$|>$', reach = 1 }
[[screens]]
name = "ask"
state = "waiting_approval"
reason = "permission_prompt"
match = '^\\[ask\\] .*\\Z'
lines = 1
detail = '^\\[ask\\] (?P<detail>.*)'
dialog = "permission"
[[screens]]
name = "ready"
state = "idle"
composer = "present"
"""


class Subject(Protocol):
    """An agent in the pane of a stage."""

    name: str
    clear_key: str
    """What deletes a draft in its composer."""
    rests_s: float
    """How long after a key the same key means something else."""
    start_limit_s: float
    reports_queued: bool
    """Whether its hook reports a prompt that only waits until it is done with another."""
    model_asks: bool
    """Whether it is its model that makes it ask: then it is given a prompt for that."""

    def prepare(self, node_home: Path) -> Path:
        """Write what it needs, and return the script that starts it."""

    def told(self) -> list[str]:
        """Return the messages that reached it; one that came twice is in it twice."""

    def approvals(self) -> int:
        """Return how many of its questions were answered with yes."""

    def ask(self, after_s: float, number: int) -> str:
        """Have it ask for an approval. Returns the prompt that makes it do so; empty if it asks by itself."""


class StandIn:
    """The program in lab/standins, which Covey knows by an adapter alone."""

    name = STAND_IN
    clear_key = "C-u"
    rests_s = 0.0
    start_limit_s = 20.0
    model_asks = False
    reports_queued = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "told"

    def prepare(self, node_home: Path) -> Path:
        adapters = node_home / "adapters"
        adapters.mkdir(parents=True, exist_ok=True)
        (adapters / "stand-in.toml").write_text(ADAPTER)
        program = self._folder / "stand_in_agent.py"
        shutil.copyfile(PROGRAM, program)
        return _starter(self._folder, [sys.executable, str(program), str(self._log)], {})

    def told(self) -> list[str]:
        return [entry["message"] for entry in self._entries() if "message" in entry]

    def approvals(self) -> int:
        return sum("approved" in entry for entry in self._entries())

    def ask(self, after_s: float, number: int) -> str:  # noqa: ARG002 - at once
        (self._folder / "ask").touch()
        return ""

    def _entries(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


@dataclass(frozen=True)
class Remembering(Script):
    """A script that answers every prompt with a word, asks if it is told to, and remembers all that it was given."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    """The texts of each request, in order."""
    moments: list[float] = field(default_factory=list)
    """When each request came, on the monotonic clock."""

    def position(self, items: Iterable[str | None]) -> Position | None:
        all_items = list(items)
        self.asked.append(tuple(item for item in all_items if item is not None))
        self.moments.append(time.monotonic())
        results = 0
        for item in reversed(all_items):
            if item is not None and "race" in item:
                found = DIALOG.search(item)
                return Position(found[0] if found else "race", results)
            results += item is None
        return None

    def reply(self, position: Position, attempt: int) -> list[Step]:  # noqa: ARG002 - each attempt is answered alike
        found = DIALOG.search(position.prompt)
        if found and not position.calls:
            return [Wait(float(found[1])), Call("approval", f"touch {found[2]}")]
        return [Say("Done.")]


class RealAgent:
    """An agent of the lab, with Covey's hooks in its settings."""

    model_asks = True
    clear_key = "C-c"
    rests_s = 1.5

    def __init__(self, agent: Agent, folder: Path, model: Model, address: str, script: Script | None = None) -> None:
        """`script` is for its model, instead of one that remembers what it was told."""
        self.name = agent.name
        self.start_limit_s = agent.start_limit + 30.0
        self.ready = agent.ready
        self.reports_queued = agent.name == "opencode"
        """On screen once it takes its first prompt."""
        self._agent = agent
        self._setup = RunSetup(folder, f"{address}/{folder.name}", integrated=True)
        self._script = Remembering({})
        self._markers = folder / "markers"
        model.conversations[folder.name] = Conversation(script or self._script, agent.tools)

    def prepare(self, node_home: Path) -> Path:
        for folder in (self._setup.home, self._setup.project, self._setup.root / "tmp", self._markers):
            folder.mkdir(parents=True, exist_ok=True)
        launch = self._agent.prepare(self._setup)
        environment = {"HOME": str(self._setup.home), **launch.env, "COVEY_HOME": str(node_home)}
        integration.apply(integration.plan(self.name, self._setup.home, environment, versions=[self._agent.version]))
        return _starter(self._setup.root, launch.argv, launch.env, self._setup.project)

    @property
    def project(self) -> Path:
        """The folder that it works in."""
        return self._setup.project

    def told(self) -> list[str]:
        """Return the prompts of the request that has the most: each request repeats those before it.

        An agent that was started again begins anew, so those of earlier requests that are in no later one come first.
        """
        known: list[str] = []
        for texts in self._script.asked:
            for text in dict.fromkeys(texts):
                known += [text] * (texts.count(text) - known.count(text))
        return known

    def arrived_at(self, token: str) -> float | None:
        """Return when its model was first given a text with this token, on the monotonic clock; None if never."""
        requests = zip(self._script.asked, self._script.moments, strict=True)
        return next((moment for texts, moment in requests if any(has_token(text, token) for text in texts)), None)

    def approvals(self) -> int:
        return len(list(self._markers.iterdir()))

    def ask(self, after_s: float, number: int) -> str:
        return f"race, ask after {after_s:.2f} s to make {self._markers / str(number)}"


def _starter(folder: Path, argv: list[str], settings: Mapping[str, str], project: Path | None = None) -> Path:
    starter = folder / "start"
    exported = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in settings.items())
    starter.write_text(
        f"#!/bin/sh\ncd {shlex.quote(str(project or folder))}\n{exported}"
        f"echo $$ >{shlex.quote(str(folder / 'pid'))}\nexec {shlex.join(argv)}\n"
    )
    starter.chmod(0o755)
    return starter
