"""What does the scripted model cost beside a bare server, and does it keep time when many agents stream at once?

Requests to the two servers alternate, each on a connection of its own, so that a noisy machine disturbs both alike.

    ./run python bench/lab.py
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from lab.model.server import Conversation, Model, serving
from lab.script import Script
from lab.truth import TruthLog

ROUNDS = 300
STREAMS = 50
SECONDS = 2.0
BODY = json.dumps(
    {"model": "m", "stream": True, "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "go"}]}
).encode()


class Bare:
    """A bare server for comparison: reads a request, sends one line."""

    async def __call__(self, _scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: {}\n\n"})


async def ask(address: str, path: str) -> float:
    """Return the seconds for one whole answer on a connection of its own."""
    host, port = address.removeprefix("http://").split(":")
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {len(BODY)}\r\n\r\n".encode()
        + BODY
    )
    answer = await reader.read(-1)
    writer.close()
    assert b"200 OK" in answer
    return time.perf_counter() - began


async def main() -> None:
    model = Model(TruthLog())
    words = " ".join(["word"] * 20)
    model.conversations["quick"] = Conversation(Script.parse({"go": ["say Hello."]}), {})
    model.conversations["slow"] = Conversation(Script.parse({"go": [f"stream {SECONDS} {words}"]}), {})
    async with serving(model) as address, serving(Bare()) as floor:
        bare, quick = [], []
        for _ in range(ROUNDS):
            bare.append(await ask(floor, "/x"))
            quick.append(await ask(address, "/quick/v1/messages"))
        alone = await ask(address, "/slow/v1/messages")
        many = await asyncio.gather(*(ask(address, "/slow/v1/messages") for _ in range(STREAMS)))
    print(f"{'what':<52}{'ratio':>8}  limit")
    print(
        f"{'a scripted answer / a bare one (median)':<52}{statistics.median(quick) / statistics.median(bare):>8.2f}  3"
    )
    print(f"{f'a {SECONDS:.0f} s stream / {SECONDS:.0f} s':<52}{alone / SECONDS:>8.2f}  1.1")
    print(f"{f'slowest of {STREAMS} such streams at once / {SECONDS:.0f} s':<52}{max(many) / SECONDS:>8.2f}  1.25")


asyncio.run(main())
