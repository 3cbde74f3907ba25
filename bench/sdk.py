"""What do the SDKs add to a bare socket?

A real node and two real peers; each SDK is a program of its own. Batches alternate between the SDKs and a bare socket,
so that a noisy machine disturbs all alike.

    send        a message to another member until it is durable in the outbox, median; the bare side writes the same
                request to an open socket and reads the answer
    event       from a call that makes an event until an iterator of the SDK has it, median; the bare side reads the
                same stream from a socket
    iterate     all events of a long journal through one iterator: events a second, and memory after a tenth and at the
                end

    ./run python bench/sdk.py [--events 1000000] [--rounds 20]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple

sys.path.pop(0)  # the folder of this file, which would else be the package `sdk`
sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.ipc import answer, ask, connect, request, served
from lab.mesh.local_api import LocalApi
from lab.show import table
from sdk.conformance.hosts import two_hosts
from tests.sdk.tools import built_typescript, run

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "bench" / "sdk_players"
SENDS, RECEIVED, WRITERS = 20, 10, 256
SLOWER = 4.0
"""How many times as long as on a bare socket a send may take."""
GROWTH_MB = 16.0
"""How much memory may grow after a tenth of the events."""
JOURNAL = "[events]\nmax_mb = 100000\n"
PEER = "/mesh/team/sock"


class Player:
    """A program that uses an SDK."""

    def __init__(self, command: list[str]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "sdk" / "python")}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: str, home: Path, count: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps({'do': what, 'home': str(home), 'count': count})}\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a player has ended")
        return json.loads(line)

    @property
    def memory_mb(self) -> float:
        """Its resident memory now."""
        printed = subprocess.check_output(["ps", "-o", "rss=", "-p", str(self.process.pid)], text=True)
        return int(printed) / 1024

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


class Iterated(NamedTuple):
    """How an SDK read a long journal."""

    rate: float
    early_mb: float
    last_mb: float
    wrong: int


def players(folder: Path) -> dict[str, Player]:
    """Start a program for each SDK."""
    run("go", "build", "-o", str(folder / "bench"), "./internal/bench", folder=ROOT / "sdk" / "go")
    project = built_typescript()
    shutil.copy(HERE / "player.mjs", project)
    return {
        "Python": Player([sys.executable, str(HERE / "player.py")]),
        "Go": Player([str(folder / "bench")]),
        "TypeScript": Player(["node", str(project / "player.mjs")]),
    }


def sends(home: Path, all_players: dict[str, Player], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each send, by SDK and for the bare socket."""
    taken: dict[str, list[float]] = {name: [] for name in ("bare", *all_players)}
    body = json.dumps({"to": "@bob", "message": "x" * 200}).encode()
    with connect(f"{home}{PEER}") as sock:
        for round_ in range(rounds + 1):
            bare = []
            for _ in range(SENDS):
                what = request("POST", "/v1/send", body, f"idempotency-key: {uuid.uuid4().hex}\r\n")
                began = time.perf_counter()
                sock.sendall(what)
                json.loads(answer(sock))
                bare.append(time.perf_counter() - began)
            found = {"bare": bare}
            for name, player in all_players.items():
                player.ask("send", home, SENDS)
                found[name] = player.answer()
            for name, one in found.items():
                taken[name] += one if round_ else []  # the first round opens connections
    return taken


def events(home: Path, all_players: dict[str, Player], rounds: int) -> dict[str, list[float]]:
    """Return the seconds from a call that makes an event until each reader has it."""
    taken: dict[str, list[float]] = {name: [] for name in ("bare", *all_players)}
    made = request("POST", "/v1/bench/emit", b'{"count": 1}')
    path = f"{home}/node/sock"
    with connect(path) as control, connect(path) as stream:
        now = ask(control, request("GET", "/v1/status"))["events"]["cursor"]
        stream.sendall(request("GET", f"/v1/events?follow=true&kind=bench.event&since={now}"))
        stream.recv(65536)
        for _ in range(rounds):
            for name in taken:
                began = []
                if name == "bare":
                    came = []
                    for _ in range(RECEIVED):
                        began.append(time.time())
                        ask(control, made)
                        while b"\ndata: " not in stream.recv(65536):
                            pass
                        came.append(time.time())
                else:
                    all_players[name].ask("receive", home, RECEIVED)
                    assert all_players[name].answer() == "ready"
                    time.sleep(0.1)  # until its stream is open
                    for _ in range(RECEIVED):
                        time.sleep(0.01)
                        began.append(time.time())
                        ask(control, made)
                        stream.recv(65536)
                    came = all_players[name].answer()
                taken[name] += [after - before for before, after in zip(began, came, strict=True)]
    return taken


async def make_events(home: Path, count: int) -> None:
    """Make so many events, many at the same time, so that many are in one commit."""
    callers = [LocalApi(home / "node" / "sock") for _ in range(WRITERS)]
    each = -(-count // WRITERS)
    await asyncio.gather(*(one.call("POST", "/v1/bench/emit", {"count": each}, timeout_s=3600) for one in callers))
    for one in callers:
        one.close()


def iterate(home: Path, player: Player, count: int) -> Iterated:
    """Read a long journal through an SDK."""
    began = time.perf_counter()
    player.ask("iterate", home, count)
    memory = []
    for _ in range(10):
        player.answer()
        memory.append(player.memory_mb)
    wrong = player.answer()
    return Iterated(count / (time.perf_counter() - began), memory[0], max(memory[1:]), wrong)


def row(name: str, seconds: list[float], bare: list[float]) -> list[str]:
    """Return a line of the table: median, p95, and the ratio of the medians."""
    middle, ordered = statistics.median(seconds), sorted(seconds)
    ratio = middle / statistics.median(bare)
    return [name, f"{middle * 1e3:.2f} ms", f"{ordered[int(len(ordered) * 0.95)] * 1e3:.2f} ms", f"x {ratio:.2f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    broken = []
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        place, home = Path(folder), Path(folder) / "home"
        home.mkdir()
        (home / "config.toml").write_text(JOURNAL)
        all_players = players(place)
        with two_hosts() as (alice, _):
            found = sends(alice.home, all_players, options.rounds)
        print(
            table(["send", "median", "p95", "of bare"], [row(name, one, found["bare"]) for name, one in found.items()])
        )
        middle = statistics.median(found["bare"])
        broken += [name for name, one in found.items() if statistics.median(one) > SLOWER * middle]
        with served("covey", str(home), f"{home}/node/sock", f"{folder}/cache"):
            found = events(home, all_players, options.rounds)
            rows = [row(name, one, found["bare"]) for name, one in found.items()]
            print("\n" + table(["event", "median", "p95", "of bare"], rows))
            asyncio.run(make_events(home, options.events))
            rows = []
            for name, player in all_players.items():
                read = iterate(home, player, options.events)
                rows.append([name, f"{read.rate:,.0f}/s", f"{read.early_mb:.0f} MB", f"{read.last_mb:.0f} MB"])
                grown = read.last_mb - read.early_mb > GROWTH_MB
                broken += [f"{name}: memory grows"] * grown + [f"{name}: {read.wrong} out of order"] * bool(read.wrong)
            head = [f"iterate {options.events:,}", "rate", "after a tenth", "largest"]
            print("\n" + table(head, rows))
        for player in all_players.values():
            player.end()
    print("load average " + " ".join(f"{one:.1f}" for one in os.getloadavg()))
    if broken:
        print(f"BROKEN: {', '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
