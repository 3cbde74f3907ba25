"""How soon does a command run after its approval: through the hook, by checked keys, and by a bare key, in one run?

A real agent of the lab, with Covey's hooks, asks for one command after the other. They are approved in turn with
`approve` (the hook's decision), with `dialog.answer` (keys that tmux presses if the dialog is the one that was seen),
and with the common recipe, `tmux send-keys 1`, which presses whatever is on the screen. The clock runs from the call
until the command has made its file.

    ./run python bench/approvals.py [--count 10] [--agents claude opencode]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Caller
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from lab.agents import find
from lab.bench import bench
from lab.install import program_of
from lab.measure import integrate
from lab.observer import COVEY, home_of
from lab.play import play
from lab.scenario import Scenario, read
from lab.show import table

if TYPE_CHECKING:
    from lab.agents.agent import Agent

WAYS = ("approve", "dialog.answer", "send-keys")
KEYS = {"claude": ["1"], "opencode": ["Enter"]}
"""What the recipe presses for Yes. The other agents show no dialog while their hook waits."""
SHOWN_S = 1.0
"""How long a dialog stands before it is answered, as with a person who reads it."""
LIMIT_S = 60.0
LOOK_S = 0.005


def scenario(count: int) -> Scenario:
    person = [step for number in range(count) for step in (f"type Make number {number} now", "until completed")]
    model = {f"Make number {number} now": [f"approval touch made-{number}", "say Done."] for number in range(count)}
    return read("approvals", {"about": "Approvals.", "person": [*person, "quit"], "model": model})


class Trial:
    """The approvals of one agent, each in one of the ways."""

    def __init__(self, daemon: Daemon, socket: Path, folder: Path, agent: str, count: int) -> None:
        self.seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        self._daemon = daemon
        self._socket = socket
        self._folder = folder
        self._agent = agent
        self._count = count

    async def run(self) -> None:
        for number in range(self._count):
            asked = await self._asked(f"touch made-{number}")
            await asyncio.sleep(SHOWN_S)
            way, began = WAYS[number % len(WAYS)], time.perf_counter()
            await self._approve(way, asked)
            if await asyncio.to_thread(self._is_made, number):
                self.seconds[way].append(time.perf_counter() - began)

    def _is_made(self, number: int) -> bool:
        """Return whether a command makes its file in time."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            if any(self._folder.glob(f"*/project/made-{number}")):
                return True
            time.sleep(LOOK_S)
        return False

    async def _approve(self, way: str, asked: dict[str, Any]) -> None:
        ref = f"runtime:{asked['runtime_id']}"
        if way == "approve":
            await self._call("approve", ref=asked["id"])
        elif way == "dialog.answer":
            await self._call("dialog.answer", ref=ref, choice="once")
        else:
            (row,) = (await self._call("list.panes"))["items"]
            pane = row["identity"]["pane_id"]
            pressing = await asyncio.create_subprocess_exec(
                "tmux", "-S", str(self._socket), "send-keys", "-t", pane, *KEYS[self._agent]
            )
            await pressing.wait()

    async def _asked(self, command: str) -> dict[str, Any]:
        """Return the request for a command as soon as its dialog is seen."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                rows = (await self._call("list.panes"))["items"]
                for item in (await self._call("approvals"))["items"]:
                    if item["command"] == command and any(row["state"] == "waiting_approval" for row in rows):
                        return item  # type: ignore[no-any-return]
                await asyncio.sleep(LOOK_S * 10)

    async def _call(self, name: str, **params: Any) -> Any:
        return await self._daemon.dispatcher.call(name, params, Caller("internal", subsystem="bench"))


async def measured(agent: type[Agent], count: int) -> Trial:
    async with bench(integrate=integrate) as shared:
        home = Home(str(home_of(COVEY, shared.folder)))
        set_value(home.node, SETTINGS, "fleet.sockets", json.dumps([str(shared.terminal.socket)]))
        async with Daemon.running(home.node, subsystems=SUBSYSTEMS) as daemon, asyncio.TaskGroup() as group:
            trial = Trial(daemon, shared.terminal.socket, shared.folder, agent.name, count)
            group.create_task(trial.run())
            await play(shared, agent(program_of(agent)), scenario(count), agent.name)
    return trial


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="approvals in each of the three ways")
    parser.add_argument("--agents", nargs="+", default=list(KEYS), choices=list(KEYS))
    wanted = parser.parse_args()
    rows: list[list[object]] = []
    for name in wanted.agents:
        trial = await measured(find(name), wanted.count * len(WAYS))
        keys = statistics.median(trial.seconds["send-keys"])
        for way, seconds in trial.seconds.items():
            middle = statistics.median(seconds)
            rows.append([name, way, f"{len(seconds)}/{wanted.count}", f"{middle:.2f} s", f"x {middle / keys:.2f}"])
    sys.stdout.write(table(["agent", "way", "ran", "median", "of a bare key"], rows) + "\n")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
