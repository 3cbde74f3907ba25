"""Agents without a terminal: a scripted model in a thread of its own, and for each agent a place with its settings and the environment to start it in."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.agents.agent import Place
from lab.model.server import Conversation, Model, serving
from lab.play import environment_of
from lab.script import Script
from lab.truth import TruthLog

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lab.agents.agent import Agent
    from lab.truth import Fact

START_S = 30


@dataclass(frozen=True)
class Headless:
    """A model that serves until the context ends. A place's script may be exchanged at any time."""

    model: Model
    address: str
    folder: Path

    def place(
        self, agent: Agent, name: str, script: Mapping[str, Sequence[str]], *, retries: int = 0
    ) -> tuple[Place, dict[str, str]]:
        """A place for one agent, whose model follows the script (prompts, each with its steps), and the whole environment to start the agent with."""
        place = Place(self.folder / name, f"{self.address}/{name}", retries=retries)
        for folder in (place.home, place.project, place.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self.script(agent, name, script)
        launch = agent.prepare(place)
        environment = {**environment_of(place.root, name), **launch.env}
        environment["PATH"] = f"{agent.program.parent}:{environment['PATH']}"
        return place, environment

    def script(self, agent: Agent, name: str, script: Mapping[str, Sequence[str]]) -> None:
        """What a place's model answers from now on."""
        self.model.conversations[name] = Conversation(Script.read(script), agent.tools)

    def requests(self, name: str) -> list[Fact]:
        """When the model was asked in a place."""
        return [fact for fact in self.model.log.of(name) if fact.kind == "request"]


@contextlib.contextmanager
def headless(folder: Path) -> Iterator[Headless]:
    """Serve from a thread, so that whoever needs it may block."""
    model, ready, over = Model(TruthLog()), threading.Event(), threading.Event()
    found: list[str] = []

    async def serve() -> None:
        async with serving(model) as address:
            found.append(address)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="scripted model")
    thread.start()
    try:
        if not ready.wait(START_S):
            raise RuntimeError("the scripted model does not serve")
        yield Headless(model, found[0], folder)
    finally:
        over.set()
        thread.join()
