"""A live agent to try things on: the scripted model serves it in a pane of a private tmux server until it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from lab.bench import bench
from lab.install import program_of
from lab.play import play
from lab.scenario import Act, Scenario
from lab.script import Call, Script
from lab.size import DEFAULT, Size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lab.agents.agent import Agent
    from lab.truth import TruthLog

PLAYGROUND = Path(__file__).parent / "playground.toml"
DAY = 86_400.0


def prompts(agent: type[Agent]) -> dict[str, list[str]]:
    """Return the prompts that the model knows, each with its steps; those whose tools the agent lacks are left out."""
    table: Mapping[str, list[str]] = tomllib.loads(PLAYGROUND.read_text(encoding="utf-8"))
    script = Script.parse(table)
    kinds = {name: {step.kind for step in steps if isinstance(step, Call)} for name, steps in script.prompts.items()}
    return {name: steps for name, steps in table.items() if kinds[name] <= set(agent.tools)}


def instructions(agent: type[Agent], socket: Path, known: Mapping[str, Sequence[str]]) -> str:
    """Return what a person must know to use the live agent."""
    quoted = shlex.quote(str(socket))
    width = max(map(len, known))
    return "\n".join(
        [
            f"{agent.title} {agent.version} runs in a tmux server of its own, with a model that follows a script.",
            f"  attach:     tmux -S {quoted} attach -t ={agent.name}",
            f"  for Covey:  covey config set fleet.sockets '[\"{socket}\"]'",
            "Its model knows these prompts:",
            *(f"  {name:{width}}  {'; '.join(steps)}" for name, steps in known.items()),
            "Ctrl-C ends the agent, its model and its tmux server.",
        ]
    )


async def run(agent: type[Agent], size: Size | None, ready: Callable[[str], None]) -> None:
    """Start the agent, and return when it has ended or SIGTERM came.

    `ready` is called with the instructions once the agent takes prompts. Raises PlayError when it does not start.
    """
    known = prompts(agent)
    scenario = Scenario("playground", "A live agent.", Script.parse(known), (Act("rest", str(DAY)),))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with bench() as shared:
        playing = asyncio.create_task(play(shared, agent(program_of(agent)), scenario, agent.name, size or DEFAULT))
        stopping = asyncio.create_task(stop.wait())
        try:
            for kind in ("ready", "gone"):
                seen = asyncio.create_task(_fact(shared.model.log, agent.name, kind))
                await asyncio.wait({playing, stopping, seen}, return_when=asyncio.FIRST_COMPLETED)
                seen.cancel()
                if playing.done() or stopping.done():
                    break
                if kind == "ready":
                    if size:  # otherwise the window takes the size of whoever attaches
                        await shared.terminal.run(
                            "resize-window", "-t", f"={agent.name}:", "-x", str(size.columns), "-y", str(size.rows)
                        )
                    ready(instructions(agent, shared.terminal.socket, known))
            if playing.done():
                await playing
        finally:
            for task in (playing, stopping):
                task.cancel()
            with contextlib.suppress(Exception):
                await asyncio.gather(playing, stopping, return_exceptions=True)


async def _fact(log: TruthLog, name: str, kind: str) -> None:
    await log.until(lambda: any(fact.kind == kind for fact in log.of(name)), DAY)
