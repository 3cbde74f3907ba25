"""A daemon with a small fleet that does not change, and `covey` with its verbs: the command line without real agents.

python fleet_daemon.py serve HOME        the daemon, until it is told to stop
python fleet_daemon.py covey WORD…       the command line
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from msgspec.structs import replace

from covey import contract
from covey.contract import fleet as declared
from covey.contract import kernel, replay, targets
from covey.fleet.answers import view
from covey.fleet.answers.bar import bar
from covey.fleet.answers.references import resolve
from covey.fleet.answers.view import Filters, target_not_found
from covey.fleet.answers.wait_stream import WaitStream
from covey.fleet.answers.watch_stream import WatchStream
from covey.fleet.answers.why import why
from covey.fleet.state.judge import Rules, judge
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Call, Handler
from covey.kernel.subsystem import Context
from tests.covey.fleet.fleets import NOW, TARGETS, sketch
from tests.covey.subsystems import serving

DECLARED = (*declared.OPERATIONS, *(operation for operation in targets.TARGETS if operation not in declared.OPERATIONS))
SERVED = (*(operation for operation in DECLARED if not operation.payload), replay.REPLAY)
OPERATIONS = (*kernel.OPERATIONS, *SERVED)


class Fleet:
    """Six agents that never change."""

    def __init__(self, daemon: Context) -> None:
        self.daemon = daemon
        now = time.time()
        self.book = [replace(one, since=now - (NOW - one.since), as_of=now, evidence=()) for one in sketch()]

    def rows(self) -> list[view.Row]:
        return self.book

    def targets(self) -> list[view.TargetStatus]:
        return TARGETS

    async def listed(self, call: Call) -> object:
        scope = call.operation.name.partition(".")[2]
        extra = {
            name: call.params[name]
            for name in ("with_agent_status", "group_by", "agent_summary", "sort")
            if name in call.params
        }
        return getattr(view, scope)(self.rows(), TARGETS, Filters.of(call.params, TARGETS), time.time(), **extra)

    async def why(self, call: Call) -> object:
        return why(resolve(call.params["ref"], self.rows()), judge([], time.time(), Rules()), time.time())

    async def watch(self, call: Call) -> object:
        return WatchStream(self, self.daemon.events, self.daemon.clock, call.params, call.resume_after).batches()

    async def wait(self, call: Call) -> object:
        return WaitStream(self, self.daemon.events, self.daemon.clock, call.params).batches()

    async def bar(self, call: Call) -> object:
        return bar(self.rows(), TARGETS, call.params["format"])

    async def target(self, call: Call) -> object:
        name = call.params["name"]
        if name == "vm9":
            raise target_not_found(name, ["host"])
        if call.operation.name == "target.remove":
            return {"target": name, "removed": True}
        return {"target": name, "kind": "ssh", "ssh_target": "", "health": "ok", "reason": "", "last_seen_at": None}

    async def nothing(self, _: Call) -> object:
        return {"items": [], "problems": []}


def handlers(daemon: Context) -> dict[str, Handler]:
    fleet = Fleet(daemon)
    return {
        **{f"list.{scope}": fleet.listed for scope in ("panes", "windows", "sessions")},
        **{f"target.{verb}": fleet.target for verb in ("add", "connect", "remove")},
        **dict.fromkeys(
            ("adapters.list", "target.list", "replay", "signals", "adapters.explain", "conversation", "origin"),
            fleet.nothing,
        ),
        **{name: getattr(fleet, name) for name in ("why", "watch", "wait", "bar")},
    }


async def serve(path: str) -> None:
    home = Home(path)
    home.node.prepare()
    async with Daemon.running(home.node, [serving(SERVED, handlers)]) as daemon:
        print("ready", flush=True)
        await daemon.until_stopped()


def covey(words: list[str]) -> None:
    known: Any = contract
    known.OPERATIONS = OPERATIONS
    known.GROUPS.update(declared.GROUPS)
    from covey.cli import main  # noqa: PLC0415 - it draws its parsers from the contract as it is now

    main(words)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(sys.argv[2]))
    else:
        covey(sys.argv[2:])
