"""A daemon at the seat of a node whose outgoing channels are files: `python channel_daemon.py HOME`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from covey.contract import keeper
from covey.kernel.daemon_process import run
from covey.kernel.home import Home
from covey.kernel.operations.call import Call
from covey.kernel.subsystem import Context, Opened, Subsystem
from murli import not_found


def folder(home: str | Path, session: str) -> Path:
    """The folder with the channels of a session."""
    return Path(home) / "out" / session


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    async def send(call: Call) -> dict[str, Any]:
        channel, message = call.params["channel"], call.params["message"]
        file = folder(context.seat.home, call.params["name"]) / channel
        if not file.exists():
            raise not_found(f"there is no outgoing channel {channel!r}", "Write to one that exists.", field="channel")
        with file.open("a") as written:
            written.write(json.dumps([call.caller.surface, message]) + "\n")
        return {"channel": channel, "bytes": len(message.encode())}

    async def channels(call: Call) -> dict[str, Any]:
        there = sorted(folder(context.seat.home, call.params["name"]).iterdir())
        rest = {"incoming": False, "outgoing": True, "taken": 0, "refused": 0}
        return {"items": [{"name": file.name, **rest} for file in there], "not_served": 0}

    yield Opened({"keep.send": send, "keep.channels": channels})


CHANNELS = Subsystem(
    "channels", opened, operations=[one for one in keeper.OPERATIONS if one.name in ("keep.send", "keep.channels")]
)


def main() -> int:
    seat = Home(sys.argv[1]).node
    seat.prepare()
    return run(seat, [CHANNELS], lambda outcome: print(json.dumps(outcome), flush=True))


if __name__ == "__main__":
    sys.exit(main())
