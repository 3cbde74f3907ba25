"""Agents without a terminal: a scripted model in its own thread, and the settings and environment of each agent."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.agents.agent import RunSetup
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
    """A model that serves until the context ends. The script of an agent may be replaced at any time."""

    model: Model
    address: str
    folder: Path

    def setup(
        self, agent: Agent, name: str, script: Mapping[str, Sequence[str]], *, retries: int = 0
    ) -> tuple[RunSetup, dict[str, str]]:
        """Return the setup of one agent, and the whole environment to start it with.

        Its model follows the script: prompts, each with its steps.
        """
        setup = RunSetup(self.folder / name, f"{self.address}/{name}", retries=retries)
        for folder in (setup.home, setup.project, setup.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self.script(agent, name, script)
        launch = agent.prepare(setup)
        environment = {**environment_of(setup.root, name), **launch.env}
        environment["PATH"] = f"{agent.program.parent}:{environment['PATH']}"
        return setup, environment

    def script(self, agent: Agent, name: str, script: Mapping[str, Sequence[str]]) -> None:
        """Set what the model of an agent answers from now on."""
        self.model.conversations[name] = Conversation(Script.parse(script), agent.tools)

    def requests(self, name: str) -> list[Fact]:
        """Return the requests of one agent to the model."""
        return [fact for fact in self.model.log.of(name) if fact.kind == "request"]


@contextlib.contextmanager
def headless(folder: Path) -> Iterator[Headless]:
    """Serve from a thread, so that the caller may block."""
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
