"""Many races: planned from a seed, held on stages of which several run at once, each judged as soon as it has ended."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from lab.agents import find
from lab.bench import bench
from lab.install import program_of
from lab.play import PlayError
from lab.races.kinds import KINDS
from lab.races.node import NodeError
from lab.races.race import Race, Verdict, judge
from lab.races.stage import Stage, StageError
from lab.races.subjects import STAND_IN, RealAgent, StandIn
from lab.terminal import TerminalError
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lab.play import Bench
    from lab.races.subjects import Subject

JOBS = 3
PROBLEMS = (StageError, NodeError, TerminalError, PlayError, AgentError, TimeoutError, OSError)
"""Why a race could not be held."""


@dataclass(frozen=True)
class Result:
    """A race and how it ended."""

    race: Race
    verdict: Verdict
    seconds: float
    told: str = ""
    """What was sent and found, for a broken promise."""
    held: bool = True
    """Whether the race took place; otherwise the verdict says why not."""


@dataclass(frozen=True)
class Place:
    """What races share a stage: the agent, the version of tmux, and whether ssh lies between."""

    agent: str
    tmux: str
    far: bool


def plan(
    numbers: Sequence[int], agents: Sequence[str], kinds: Sequence[str], tmux: Sequence[str], seed: int
) -> list[Race]:
    """Return a race for each number: each kind with each agent and each version of tmux in turn, as far as they fit."""
    cells = [
        (kind, agent, version)
        for kind in kinds
        for version in tmux
        for agent in agents
        if agent == STAND_IN or not KINDS[kind].stand_in
    ]
    Random(seed).shuffle(cells)  # noqa: S311 - races are repeated by their seed
    drawn = [cells[place % len(cells)] for place in range(len(numbers))] if cells else []
    return [
        Race(number, kind, agent, seed, version) for number, (kind, agent, version) in zip(numbers, drawn, strict=False)
    ]


async def hold_all(
    races: Sequence[Race], paths: Mapping[str, str], *, jobs: int, done: Callable[[Result], None]
) -> None:
    """Hold all races; `done` is called after each. `paths` has the folder of each tmux, to be put in front of PATH."""
    places: dict[Place, list[Race]] = defaultdict(list)
    for race in races:
        places[Place(race.agent, race.tmux, KINDS[race.kind].far)].append(race)
    gate = asyncio.Semaphore(jobs)

    async with bench() as shared:

        async def one(number: int, place: Place, held_there: Sequence[Race]) -> None:
            async with gate:
                await _hold_at(shared, f"s{number}", place, held_there, paths.get(place.tmux, ""), done)

        async with asyncio.TaskGroup() as group:
            for number, (place, held_there) in enumerate(places.items()):
                group.create_task(one(number, place, held_there))


async def _hold_at(
    shared: Bench, name: str, place: Place, races: Sequence[Race], path: str, ended: Callable[[Result], None]
) -> None:
    """Hold races one after the other on one stage; a stage that breaks is replaced."""
    stage: Stage | None = None
    try:
        for number, race in enumerate(races):
            began = time.monotonic()
            try:
                if stage is None:
                    stage = _stage(shared, f"{name}x{number}", place, path)
                    await stage.open()
                ended(await hold(stage, race))
            except PROBLEMS as error:
                ended(Result(race, Verdict("not held"), time.monotonic() - began, str(error), held=False))
                if stage is not None:
                    await _closed(stage)
                stage = None
    finally:
        if stage is not None:
            await _closed(stage)


async def hold(stage: Stage, race: Race) -> Result:
    """Hold one race and judge it. Raises one of PROBLEMS if it cannot be held."""
    began = time.monotonic()
    await stage.ready()
    stage.forget()
    since, approvals = await stage.node.cursor(), stage.subject.approvals()
    chance = Random(f"{race.seed}/{race.number}")  # noqa: S311 - a race is repeated by its seed
    sent, found = await KINDS[race.kind].run(stage, race, chance)
    if found.calm:
        stage.calibrate(sent[0])
    found = await stage.look(sent, found, since, approvals)
    verdict = judge(sent, found)
    told = ""
    if verdict.broken:
        told = f"sent {sent}\nfound {replace(found, around=())}\nscreen\n{(await stage.screen()).rstrip()}"
    return Result(race, verdict, time.monotonic() - began, told)


def _stage(shared: Bench, name: str, place: Place, path: str) -> Stage:
    folder = shared.folder / name
    folder.mkdir()
    return Stage(folder, _subject(shared, place, name), mark=shared.mark, path=path, far=place.far)


def _subject(shared: Bench, place: Place, name: str) -> Subject:
    if place.agent == STAND_IN:
        return StandIn(shared.folder / name)
    agent = find(place.agent)
    return RealAgent(agent(program_of(agent)), shared.folder / name, shared.model, shared.address)


async def _closed(stage: Stage) -> None:
    with contextlib.suppress(*PROBLEMS):
        await stage.close()
    shutil.rmtree(stage.folder, ignore_errors=True)
