"""A live agent to try things on: the scripted model serves it in a pane of a private tmux server until it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import signal
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.bench import bench
from lab.install import program_of
from lab.measure import integrate_with
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
COLUMNS = 79
"""The longest line of the instructions, but for commands."""


def prompts(agent: type[Agent]) -> dict[str, list[str]]:
    """Return the prompts that the model knows, each with its steps; those whose tools the agent lacks are left out."""
    table: Mapping[str, list[str]] = tomllib.loads(PLAYGROUND.read_text(encoding="utf-8"))
    script = Script.parse(table)
    kinds = {name: {step.kind for step in steps if isinstance(step, Call)} for name, steps in script.prompts.items()}
    return {name: steps for name, steps in table.items() if kinds[name] <= set(agent.tools)}


def instructions(agent: type[Agent], socket: Path, known: Mapping[str, Sequence[str]]) -> str:
    """Return what a person must know to use the live agent, in lines for a terminal; commands stay in one piece."""
    width = max(map(len, known))
    sockets = shlex.quote(json.dumps([str(socket)]))
    return "\n".join(
        [
            *_lines(
                f"{agent.title} {agent.version} runs in a tmux server of its own, with a model that follows a script."
            ),
            "",
            "Attach to it:",
            f"  tmux -S {shlex.quote(str(socket))} attach -t ={agent.name}",
            "",
            *_lines(
                "Let Covey watch it: on Linux, `covey ps` shows it without any setting, unless fleet.sockets or "
                "TMUX_TMPDIR is set. Otherwise name its socket; the daemon must be restarted for that:"
            ),
            f"  covey config set fleet.sockets {sockets}",
            "  covey down",
            "  covey up",
            *_lines(
                "Covey then watches no other tmux server on this machine. `covey config unset fleet.sockets` and "
                "another restart undo that."
            ),
            "",
            "Type one of these prompts, and its model does what is written beside it:",
            *(
                line
                for name, steps in known.items()
                for line in _lines("; ".join(steps), f"  {name:{width}}  ", " " * (width + 4))
            ),
            "",
            "Ctrl-C here ends the agent, its model and its tmux server.",
        ]
    )


def _lines(text: str, first: str = "", other: str = "") -> list[str]:
    return textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)


async def run(agent: type[Agent], size: Size | None, ready: Callable[[str], None], *, covey_home: str = "") -> None:
    """Start the agent, and return when it has ended or SIGTERM came.

    Its own settings get the hooks of the Covey of `covey_home`, if given. `ready` is called with the instructions once
    the agent takes prompts. Raises PlayError when it does not start.
    """
    known = prompts(agent)
    scenario = Scenario("playground", "A live agent.", Script.parse(known), (Act("rest", str(DAY)),))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    def integrate(_: Path, *about: Any) -> None:
        integrate_with(covey_home, *about)

    async with bench(integrate=integrate if covey_home else None) as shared:
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
