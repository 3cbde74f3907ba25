"""Do messages reach the model of a real agent, whole and once, and how soon? Beside the common recipe, in the same run.

The recipe is what most tools do: `tmux send-keys -l <text>`, then `tmux send-keys Enter`. Covey and the recipe take
turns on the same agent of the lab, whose scripted model says what it was given. Warm: the agent is at its prompt. Cold:
it has just been started, and its prompt has just appeared. Then three traps: a text of several lines, somebody's draft
in the composer, and an open dialog, which any Enter approves.

    ./run python bench/act.py [--count 100] [--traps 10] [--agents claude codex gemini copilot opencode]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import re
import signal
import statistics
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from lab.agents import find
from lab.bench import bench
from lab.install import program_of
from lab.races.race import PROVEN, Race, has_token, plain, remainder
from lab.races.stage import Stage, StageError
from lab.races.subjects import RealAgent
from lab.show import table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lab.play import Bench

AGENTS = ("claude", "codex", "gemini", "copilot", "opencode")
METHODS = ("covey", "recipe")
TRAPS = ("several lines", "draft", "dialog")
ARRIVES_S = 4.0
"""How long a text may take to the model."""
COLD_S = 40.0
"""How long Covey is asked again after a refusal, while the agent starts."""
LOOK_S = 0.02
PAUSE_S = 0.5
"""What a person needs between two keys, and every agent at least."""
DRAFT = "somebody's words"


class Sample(NamedTuple):
    """One text that was sent in one way: how it ended, and the seconds until it was seen and until the model had it."""

    method: str
    case: str
    ended: str
    seen_s: float | None = None
    model_s: float | None = None


class Trial:
    """One agent of the lab, to which texts are sent."""

    def __init__(self, stage: Stage, agent: RealAgent) -> None:
        self._stage = stage
        self._agent = agent
        self._number = 0

    async def warm(self, method: str) -> Sample:
        await self._stage.ready()
        return await self._sample(method, "warm", "a message of one line")

    async def cold(self, method: str) -> Sample:
        self._stage.end_agent()
        await self._stage.respawn("bash", "--norc", "--noprofile")
        await self._stage.begin_agent()
        await self._shows(self._agent.ready, self._agent.start_limit_s)
        return await self._sample(method, "cold", "a first message")

    async def trap(self, method: str, case: str) -> Sample:
        await self._stage.ready()
        text = "a message"
        if case == "several lines":
            text = "a message\nof several\n\nlines"
        elif case == "draft":
            draft = f"{DRAFT} {self._number}"  # earlier ones are on the screen, too
            await self._stage.terminal.run("send-keys", "-t", self._stage.pane, "-l", draft)
            await self._shows(draft)
        else:
            await self._stage.terminal.paste(self._stage.pane, self._agent.ask(0.0, self._number))
            await asyncio.sleep(PAUSE_S)
            await self._stage.terminal.run("send-keys", "-t", self._stage.pane, "Enter")
            await self._asks()
        sample = await self._sample(method, case, text)
        await self._stage.ready()
        return sample

    async def _sample(self, method: str, case: str, words: str) -> Sample:
        self._number += 1
        token = Race(self._number, case, self._agent.name, 0, "").token
        text = f"{token} {words}"
        approvals, began = self._agent.approvals(), time.monotonic()
        stopped, seen_s = "", None
        if method == "covey":
            stopped, seen_s = await self._covey(token, text, case)
        else:
            await self._stage.terminal.run("send-keys", "-t", self._stage.pane, "-l", "--", text)
            await self._stage.terminal.run("send-keys", "-t", self._stage.pane, "Enter")
        arrived = None if stopped.startswith("refused") else await self._arrived(token)
        ended = self._ended(token, text, approved=self._agent.approvals() > approvals)
        if ended == "lost" and stopped:
            ended = stopped
        return Sample(method, case, ended, seen_s, arrived - began if arrived else None)

    async def _covey(self, token: str, text: str, case: str) -> tuple[str, float | None]:
        """Send it, again and again while a cold agent starts. Returns why it came no further, or when it was seen."""
        began = time.monotonic()
        while True:
            sent = await self._stage.node.send(self._stage.ref, token, text)
            if case != "cold" or not sent.error or time.monotonic() - began > COLD_S:
                break
            await asyncio.sleep(0.1)
        if sent.error:
            return f"refused: {sent.error}", None
        if sent.rung not in PROVEN:
            return f"said to be {sent.rung} only: {sent.why}", None
        return "", time.monotonic() - began if sent.rung in PROVEN[1:] else None

    async def _arrived(self, token: str) -> float | None:
        async def here() -> bool:
            return self._agent.arrived_at(token) is not None

        with suppress(TimeoutError):
            await until(here, ARRIVES_S)
        return self._agent.arrived_at(token)

    def _ended(self, token: str, text: str, *, approved: bool) -> str:
        if approved:
            return "approved a dialog"
        told = [one for one in self._agent.told() if has_token(one, token)]
        if not told:
            return "lost"
        if len(told) > 1:
            return "doubled"
        if plain(text) not in plain(told[0]):
            return "cut"
        return "joined a draft" if remainder(told[0], [text]) else "whole"

    async def _shows(self, pattern: str | re.Pattern[str], limit_s: float = ARRIVES_S) -> None:
        async def here() -> bool:
            return re.search(pattern, await self._stage.screen()) is not None

        await until(here, limit_s)

    async def _asks(self) -> None:
        async def here() -> bool:
            return (await self._stage.node.row(self._stage.pane) or {}).get("state") == "waiting_approval"

        await until(here, COLD_S)
        await asyncio.sleep(PAUSE_S)


async def until(look: Callable[[], Awaitable[bool]], limit_s: float) -> None:
    """Return when `look` finds it so. Raises TimeoutError."""
    async with asyncio.timeout(limit_s):
        while not await look():  # noqa: ASYNC110 - screens have no events
            await asyncio.sleep(LOOK_S)


async def measured(shared: Bench, name: str, count: int, traps: int) -> list[Sample]:
    kind = find(name)
    folder = shared.folder / name
    folder.mkdir()
    agent = RealAgent(kind(program_of(kind)), folder, shared.model, shared.address)
    stage = Stage(folder, agent, mark=shared.mark)
    samples: list[Sample] = []
    try:
        await stage.open()
        trial = Trial(stage, agent)
        for method in METHODS * count:
            samples += [await trial.warm(method)]
        for case, method in itertools.product(TRAPS, METHODS * traps):
            with suppress(TimeoutError):  # the trap could not be set
                samples += [await trial.trap(method, case)]
        for method in METHODS * count:
            samples += [await trial.cold(method)]
    except (StageError, TimeoutError) as error:
        print(f"{name}: stopped after {len(samples)} messages: {error}", file=sys.stderr)
    finally:
        await stage.close()
    return samples


def row(name: str, case: str, method: str, samples: list[Sample]) -> list[object]:
    mine = [one for one in samples if (one.case, one.method) == (case, method)]
    ended = Counter(one.ended for one in mine)
    whole = ended.pop("whole", 0)
    seen = [one.seen_s for one in mine if one.seen_s is not None]
    model = [one.model_s for one in mine if one.model_s is not None]
    return [
        name,
        case,
        method,
        len(mine),
        whole,
        len(seen) if method == "covey" else "",
        _median(seen),
        _median(model),
        ", ".join(f"{count} {way}" for way, count in ended.most_common()),
    ]


def _median(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s" if seconds else ""


async def main() -> None:
    parser = argparse.ArgumentParser(description="Messages to real agents, by Covey and by the common recipe.")
    parser.add_argument("--count", type=int, default=100, help="warm and cold messages, for each agent and method")
    parser.add_argument("--traps", type=int, default=10, help="messages into each trap, for each agent and method")
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    wanted = parser.parse_args()
    rows = []
    async with bench() as shared:
        for name in wanted.agents:
            samples = await measured(shared, name, wanted.count, wanted.traps)
            print(f"{name}: {len(samples)} messages were sent", file=sys.stderr)
            for case in ("warm", "cold", *TRAPS):
                found = [row(name, case, method, samples) for method in METHODS]
                rows += [one for one in found if one[3]]
    head = ["agent", "case", "method", "sent", "whole", "seen", "until seen", "until the model", "otherwise"]
    print(table(head, rows))


signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # agents and servers are cleared away
asyncio.run(main())
