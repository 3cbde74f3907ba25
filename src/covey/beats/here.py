"""A heartbeat without a daemon: run in the caller's process, logged like any other, and left for the next daemon to write down."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from covey.agents.headless.report import Report
from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import money
from covey.beats.choice import beat_at
from covey.beats.conclusion import UNPRICED, concluded, entry, plain
from covey.beats.execution import Execution, Finished
from covey.beats.folder import Folder, prune
from covey.beats.ledger import Run
from covey.beats.log import HeartbeatLog
from covey.beats.offline import records
from covey.beats.preparation import prepare
from covey.kernel.clock import SystemClock
from covey.kernel.config import Config
from covey.kernel.ids import Ulids
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.headless.report import Step, Usage
    from covey.beats.beat import Beat
    from covey.kernel.home import Home
    from covey.kernel.settings import Settings


KEPT_RUNS = 100
"""How many runs wait for a daemon to take them in; older ones are in the log only."""


def run_here(
    home: Home,
    settings: Settings,
    path: str,
    name: str | None,
    *,
    verbose: bool,
    begins: Callable[[dict[str, Any]], None],
    heard: Callable[[Step], None],
) -> dict[str, Any]:
    """Run the beat of a folder and return it as the contract has it, with its `turns`. `begins` is told of the run first. Interrupting it ends the agent."""
    beat = beat_at(path, name, Config.load(home.node, settings).get("beats.workspace"), str(Path.home()))
    home.node.prepare()
    root = Path(home.path) / "beats"
    run = Run(
        run=Ulids(time.time)(),
        file=beat.file,
        beat=beat.name,
        workspace=beat.workspace,
        agent=beat.agent,
        why="hand",
        spec=beat,
        verbose=verbose,
        queued_at=time.time(),
        state="running",
    )
    folder, agent = Folder(root / "runs" / run.run), AGENTS[beat.agent]

    def spent(usage: Usage) -> str:
        return "budget" if money.overspent(beat.budget, usage) else ""

    async def execute() -> Finished:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, folder.stop, "interrupted")
        return await Execution(folder, agent.reader(), SystemClock(), heard, spent).run()

    folder.hand_over({"run": to_builtins(run), "turns": []})  # whoever is killed here leaves it to the daemon
    folder.attend()
    failure = prepare(beat, folder, agent, time.time(), "")
    if failure is None:
        begins(run.as_dict())
    finished = (
        Finished(report=Report(failure=failure), began=time.time(), seconds=0.0) if failure else asyncio.run(execute())
    )
    done, turns = concluded(run, finished, _prices(home, beat, finished)), plain(finished.report.turns)
    heartbeats = HeartbeatLog(root)
    heartbeats.append(entry(done, turns))
    if turns:
        heartbeats.keep_conversation(done.workspace, {**done.as_dict(), "turns": turns})
    folder.hand_over({"run": to_builtins(done), "turns": turns})
    folder.reduce()
    prune(root / "runs", KEPT_RUNS)
    return {**done.as_dict(), "turns": turns}


def _prices(home: Home, beat: Beat, finished: Finished) -> money.Prices:
    """What the cost of a run is estimated from, if its agent has not told it."""
    if finished.report.usage.cost_usd is not None:
        return UNPRICED
    with contextlib.suppress(AgentError), records(home) as known:
        return asyncio.run(known.prices(beat))
    return UNPRICED
