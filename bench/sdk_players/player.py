"""What `bench/sdk.py` measures of the SDK for Python: a command is a line of JSON, and so is its answer."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from covey_sdk import Mesh, Node


def send(home: str, count: int) -> list[float]:
    """Return how long each of so many sends took, in seconds."""
    if home not in meshes:
        meshes[home] = Mesh(home=home)
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        meshes[home].send("@bob", "x" * 200)
        taken.append(time.perf_counter() - began)
    return taken


def receive(home: str, count: int) -> list[float]:
    """Return when each of the next events came."""
    with Node(home) as node:
        events = node.events(node.cursor(), kinds=["bench.event"])
        say("ready")
        return [time.time() for _, event in zip(range(count), events, strict=False) if event]


def iterate(home: str, count: int) -> int:
    """Read so many events from the first one on, with ten stops, and return how many did not follow the one before."""
    wrong, last = 0, 0
    with Node(home) as node:
        for number, event in enumerate(node.events(0, kinds=["bench.event"]), 1):
            wrong += event.cursor <= last
            last = event.cursor
            if number % (count // 10) == 0:
                say(number)
            if number == count:
                break
    return wrong


def say(value: Any) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


meshes: dict[str, Mesh] = {}
for line in sys.stdin:
    asked = json.loads(line)
    say({"send": send, "receive": receive, "iterate": iterate}[asked["do"]](asked["home"], asked["count"]))
