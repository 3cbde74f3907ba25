"""What runs share, set up and cleared away (a folder, the model server, the tmux server), and many runs on it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab import processes
from lab.cell import Cell
from lab.install import program_of
from lab.model.server import Model, serving
from lab.play import Bench, PlayError, environment_of, play
from lab.size import DEFAULT, Size
from lab.terminal import terminal
from lab.truth import TruthLog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from lab.agents.agent import Agent, Launch, RunSetup
    from lab.play import Run
    from lab.scenario import Scenario

LONGEST = 40
JOBS = max(2, (os.cpu_count() or 2) + 1)
"""Agents mostly wait: one more than there are cores keeps them busy without starving any."""


@dataclass(frozen=True)
class Play:
    """One scenario to be played on one version of an agent, in a terminal of one size."""

    agent: type[Agent]
    scenario: Scenario
    size: Size = DEFAULT


@contextlib.asynccontextmanager
async def bench(
    *,
    record: bool = False,
    on_capture: Callable[[Run, str], Awaitable[None]] | None = None,
    integrate: Callable[[Path, Agent, RunSetup, Launch], None] | None = None,
) -> AsyncIterator[Bench]:
    """Set up everything that runs share, and clear it away afterwards: processes by pid, files with their folder."""
    # Sockets of tmux and of agents lie below it, and a socket's path may have about a hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="covey-lab-", dir=None if len(tempfile.gettempdir()) <= LONGEST else "/tmp"))  # noqa: S108 - a private folder in it
    mark = uuid.uuid4().hex
    try:
        async with serving(model := Model(TruthLog(folder / "truth.jsonl"))) as address:
            async with terminal(folder / "tmux", environment_of(folder, mark)) as server:
                into = functools.partial(integrate, folder) if integrate else None
                yield Bench(folder, model, address, server, mark, record, on_capture, into)
            await processes.end_marked(mark)
    finally:
        await processes.end_marked(mark)
        shutil.rmtree(folder, ignore_errors=True)


async def play_all(
    bench: Bench, plays: Sequence[Play], *, jobs: int = JOBS, done: Callable[[Run | PlayError, int, int], None]
) -> tuple[list[Run], list[PlayError]]:
    """Play many, some at once; a play that does not go as written is reported and the others go on."""
    gate = asyncio.Semaphore(jobs)
    runs: list[Run] = []
    failures: list[PlayError] = []

    async def one(number: int, wanted: Play) -> None:
        agent, scenario = wanted.agent, wanted.scenario
        async with gate:
            result: Run | PlayError
            try:
                result = await play(
                    bench, agent(program_of(agent)), scenario, f"{agent.name}-{scenario.name}-{number}", wanted.size
                )
                runs.append(result)
            except PlayError as error:
                result = error
                failures.append(error)
            except Exception as error:  # noqa: BLE001 - one play that breaks must not take the others with it
                result = PlayError(f"{agent.name} {agent.version}, scenario {scenario.name}: {error!r}")
                failures.append(result)
            if isinstance(result, PlayError):
                result.cell = Cell.of(agent, wanted.size)
                result.scenario = scenario.name
        done(result, len(runs) + len(failures), len(plays))

    async with asyncio.TaskGroup() as group:
        for number, wanted in enumerate(plays, 1):
            group.create_task(one(number, wanted))
    return runs, failures
