"""Runs one beat in the caller's process, without a daemon; the next daemon stores the run."""

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
from covey.beats.conclusion import UNPRICED, conclude, log_line, turns_to_json
from covey.beats.execution import Execution, Finished
from covey.beats.heartbeat_log import HeartbeatLog
from covey.beats.lookup import find_beat
from covey.beats.offline import open_queries
from covey.beats.preparation import prepare
from covey.beats.records import Run
from covey.beats.run_folder import RunFolder, prune_handovers
from covey.kernel.clock import SystemClock
from covey.kernel.config.config import Config
from covey.kernel.events.ids import Ulids
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.headless.report import Step, Usage
    from covey.beats.beat import Beat
    from covey.kernel.config.settings import Settings
    from covey.kernel.home import Home


KEPT_RUNS = 100
"""The number of runs that wait for a daemon to store them; older ones are in the log only."""


def run_in_foreground(
    home: Home,
    settings: Settings,
    path: str,
    name: str | None,
    *,
    verbose: bool,
    on_start: Callable[[dict[str, Any]], None],
    on_step: Callable[[Step], None],
) -> dict[str, Any]:
    """Run the beat of a folder and return the run as the contract describes it, with its `turns`.

    `on_start` is called with the run before its first step. Interrupting the process ends the agent. Raises
    `AgentError` if there is no such beat.
    """
    beat = find_beat(path, name, Config.load(home.node, settings).get("beats.workspace"), str(Path.home()))
    home.node.prepare()
    root = Path(home.path) / "beats"
    run = Run(
        id=Ulids(time.time)(),
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
    folder, agent = RunFolder(root / "runs" / run.id), AGENTS[beat.agent]

    def stop_reason(usage: Usage) -> str:
        return "budget" if money.run_over_budget(beat.budget, usage) else ""

    async def execute() -> Finished:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, folder.stop, "interrupted")
        return await Execution(folder, agent.reader(), SystemClock(), on_step, stop_reason).follow()

    folder.write_handover({"run": to_builtins(run), "turns": []})  # if we are killed, the next daemon takes it over
    folder.set_attendant()
    failure = prepare(beat, folder, agent, time.time(), "")
    if failure is None:
        on_start(run.as_dict())
        finished = asyncio.run(execute())
    else:
        finished = Finished(report=Report(failure=failure), began=time.time(), seconds=0.0)
    done = conclude(run, finished, _prices(home, beat, finished))
    turns = turns_to_json(finished.report.turns)
    heartbeats = HeartbeatLog(root)
    heartbeats.append(log_line(done, turns))
    if turns:
        heartbeats.keep_conversation(done.workspace, {**done.as_dict(), "turns": turns})
    folder.write_handover({"run": to_builtins(done), "turns": turns})
    folder.keep_handover_only()
    prune_handovers(root / "runs", KEPT_RUNS)
    return {**done.as_dict(), "turns": turns}


def _prices(home: Home, beat: Beat, finished: Finished) -> money.Prices:
    """Return the prices from which the run's cost is estimated if its agent has not reported it."""
    if finished.report.usage.cost_usd is not None:
        return UNPRICED
    with contextlib.suppress(AgentError), open_queries(home) as queries:
        return asyncio.run(queries.prices(beat))
    return UNPRICED
