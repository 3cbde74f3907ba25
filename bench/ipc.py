"""What do the daemon's own layers cost on its socket, and does its event stream keep its promises under load?

One daemon and one bare uvicorn+Starlette route, each a process of its own on a Unix socket with uvloop and httptools,
are asked by the same raw client over connections that stay open. Batches alternate between the two, so that a noisy
machine disturbs both alike; a row is the median of its batches' own ratios.

    GET        one connection, one request after the other: /v1/health against the bare route
    16 GETs    16 connections, each with one request on the way: throughput
    durable    POST with one durable write each, 64 on the way, against a simple loop of single fsynced SQLite inserts
               in the same folder
    fan-out    1,000 event streams, every event counted at every one of them
    resume     a reader that is cut off again and again while events are made, and resumes by Last-Event-ID: all events,
               once, in order

    ./run python bench/ipc.py [batches] [subscribers]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import selectors
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from covey.kernel.operations.call import Call
    from covey.kernel.subsystem import Context, Opened

SLOWER, FASTER = 1.5, 1.2
"""How much slower than the bare route a call may be, and how much faster than single inserts durable calls must be. An
fsync takes 0.3 ms on the disk where that was measured; on a slower one, many writes in one commit save more."""
GETS, WRITES, EVENTS, RESUMED = 400, 640, 20, 2000
TIME_LIMIT_S = 120


# The two servers, each in a process of its own.


def serve_covey(folder: str) -> None:
    """Serve the daemon with two more operations: one durable write, and one event."""
    import uvloop  # noqa: PLC0415 - the clients do without

    from covey.contract import Operation, Parameter  # noqa: PLC0415
    from covey.contract.event_kind import EventKind  # noqa: PLC0415 - as above
    from covey.kernel.daemon import Daemon  # noqa: PLC0415
    from covey.kernel.home import Home  # noqa: PLC0415
    from covey.kernel.subsystem import Opened, Subsystem  # noqa: PLC0415 - as above

    benchmarked = EventKind("bench.event", "An event of this benchmark.")
    write = Operation(
        "bench.write", "Write a row.", cli=["bench"], method="POST", route="/v1/bench/write", mutating=True
    )
    emit = Operation(
        "bench.emit",
        "Make events.",
        cli=["bench"],
        method="POST",
        route="/v1/bench/emit",
        mutating=True,
        parameters=[Parameter("count", "How many.", type="int")],
    )

    @contextlib.asynccontextmanager
    async def opened(daemon: Context) -> AsyncIterator[Opened]:
        async def written(_: Call) -> dict[str, Any]:
            return {
                "row": await daemon.store.write(
                    lambda connection: connection.execute("INSERT INTO bench (text) VALUES ('x')").lastrowid
                )
            }

        async def emitted(call: Call) -> dict[str, Any]:
            for _ in range(call.params["count"]):
                await daemon.events.append(benchmarked, data={"text": "x" * 100})
            return {"cursor": daemon.events.cursor}

        yield Opened({"bench.write": written, "bench.emit": emitted})

    async def live() -> None:
        home = Home(folder)
        home.node.prepare()
        async with Daemon.running(home.node, [Subsystem("bench", opened, operations=[write, emit])]) as daemon:
            await daemon.store.write(
                lambda connection: (
                    connection.execute("CREATE TABLE bench (id INTEGER PRIMARY KEY, text TEXT) STRICT") and None
                )
            )
            print("ready", flush=True)
            await daemon.until_stopped()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(live())


def serve_bare(path: str) -> None:
    """Serve a route that answers what the daemon's does, with nothing around it."""
    import uvicorn  # noqa: PLC0415
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.requests import Request  # noqa: PLC0415, TC002 - Starlette wants its type
    from starlette.responses import JSONResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    started = time.monotonic()

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"ok": True, "version": "0.1.0", "uptime_s": round(time.monotonic() - started, 3)})

    app = Starlette(routes=[Route("/v1/health", health)])
    uvicorn.run(
        app,
        uds=path,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        ws="none",
        access_log=False,
        log_level="warning",
        timeout_keep_alive=60,
    )


@contextlib.contextmanager
def served(kind: str, place: str, path: str, cache: str) -> Iterator[int]:
    """A server in a child process, as installed: with byte code, and without the variables of this machine."""
    environment = {"PATH": os.environ["PATH"], "HOME": cache, "PYTHONPYCACHEPREFIX": cache}
    with subprocess.Popen(
        [sys.executable, __file__, kind, place], env=environment, stdout=subprocess.DEVNULL
    ) as process:
        try:
            deadline = time.monotonic() + 30
            while not answers(path):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"the {kind} server did not start")
                time.sleep(0.02)
            yield process.pid
        finally:
            process.terminate()
            process.wait(30)


def answers(path: str) -> bool:
    try:
        connect(path).close()
    except OSError:
        return False
    return True


# The client: raw, so that it costs little and the same for both.


def connect(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(TIME_LIMIT_S)
    sock.connect(path)
    return sock


def request(method: str, target: str, body: bytes = b"", headers: str = "") -> bytes:
    kind = "content-type: application/json\r\n" if body else ""
    return (
        f"{method} {target} HTTP/1.1\r\nhost: covey\r\n{kind}{headers}content-length: {len(body)}\r\n\r\n".encode()
        + body
    )


def answer(sock: socket.socket) -> bytes:
    """Return the body of one answer."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += sock.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(got.decode(errors="replace"))
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += sock.recv(65536)
    return body


def ask(sock: socket.socket, what: bytes) -> Any:
    sock.sendall(what)
    return json.loads(answer(sock))


def one_by_one(sock: socket.socket, what: bytes, count: int) -> float:
    """Return the median seconds of a request."""
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        sock.sendall(what)
        answer(sock)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def many_at_once(socks: list[socket.socket], what: bytes, count: int) -> float:
    """Return the requests per second, with one on the way on each connection."""
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        for sock in socks:
            selector.register(sock, selectors.EVENT_READ)
            sock.sendall(what)
        asked, done = len(socks), 0
        while done < count:
            for key, _ in selector.select(TIME_LIMIT_S):
                sock = key.fileobj  # type: ignore[assignment]  # we registered sockets
                answer(sock)
                done += 1
                if asked < count:
                    sock.sendall(what)
                    asked += 1
        return count / (time.perf_counter() - started)


def single_inserts(path: Path, count: int) -> float:
    """Return the rows per second of a simple loop: one insert, one fsynced commit, the next."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bench (id INTEGER PRIMARY KEY, text TEXT) STRICT")
    started = time.perf_counter()
    for _ in range(count):
        connection.execute("INSERT INTO bench (text) VALUES ('x')")
    taken = time.perf_counter() - started
    connection.close()
    return count / taken


def cursors(data: bytes) -> list[int]:
    """Return the cursors in a piece of an event stream."""
    return [int(line[4:]) for line in data.split(b"\n") if line.startswith(b"id: ")]


def fan_out(path: str, subscribers: int) -> tuple[int, float]:
    """Return how many streams received exactly every event, in order, and the deliveries per second."""
    with connect(path) as control:
        first = ask(control, request("POST", "/v1/bench/emit", b'{"count": 1}'))["cursor"]
        streams = {connect(path): bytearray() for _ in range(subscribers)}
        for sock in streams:
            sock.sendall(request("GET", f"/v1/events?follow=true&since={first}"))
        while ask(control, request("GET", "/v1/status"))["events"]["subscribers"] < subscribers:
            time.sleep(0.02)
        wanted = list(range(first + 1, first + EVENTS + 1))
        last = b"id: %d\n" % wanted[-1]
        with selectors.DefaultSelector() as selector:
            for sock in streams:
                selector.register(sock, selectors.EVENT_READ)
            started, left = time.perf_counter(), subscribers
            control.sendall(request("POST", "/v1/bench/emit", b'{"count": %d}' % EVENTS))
            while left and time.perf_counter() - started < TIME_LIMIT_S:
                for key, _ in selector.select(1.0):
                    sock = key.fileobj  # type: ignore[assignment]  # we registered sockets
                    got = sock.recv(65536)
                    streams[sock] += got
                    if not got or last in streams[sock]:
                        selector.unregister(sock)
                        left -= 1
            taken = time.perf_counter() - started
        answer(control)
    whole = sum(cursors(bytes(data)) == wanted for data in streams.values())
    for sock in streams:
        sock.close()
    return whole, subscribers * EVENTS / taken


def resume(path: str) -> tuple[int, int, bool]:
    """Return the events that a reader received, how often it was cut off, and whether all came once and in order."""
    chance = random.Random(7)
    with connect(path) as control:
        first = ask(control, request("POST", "/v1/bench/emit", b'{"count": 1}'))["cursor"]
        control.sendall(request("POST", "/v1/bench/emit", b'{"count": %d}' % RESUMED))
        received, cuts = [first], 0
        while received[-1] < first + RESUMED:
            with connect(path) as sock:
                sock.sendall(request("GET", "/v1/events?follow=true", headers=f"last-event-id: {received[-1]}\r\n"))
                seen, until = b"", received[-1] + chance.randrange(1, 200)
                while received[-1] < min(until, first + RESUMED):
                    seen += sock.recv(chance.randrange(1, 4096))
                    blocks, separator, rest = seen.rpartition(b"\n\n")  # an event counts when it is whole
                    received += cursors(blocks) if separator else []
                    seen = rest if separator else seen
            cuts += 1
        answer(control)
    return len(received) - 1, cuts, received == list(range(first, first + RESUMED + 1))


def main() -> int:
    if len(sys.argv) > 2 and sys.argv[1] in ("covey", "bare"):
        raise_limit()
        (serve_covey if sys.argv[1] == "covey" else serve_bare)(sys.argv[2])
        return 0
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    subscribers = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    raise_limit()
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        ours, theirs = f"{folder}/home/node/sock", f"{folder}/bare"
        with (
            served("covey", f"{folder}/home", ours, f"{folder}/cache"),
            served("bare", theirs, theirs, f"{folder}/cache"),
        ):
            return report(ours, theirs, Path(folder), batches, subscribers)


def raise_limit() -> None:
    """Allow as many open files as the system permits: each stream is one."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def report(ours: str, theirs: str, folder: Path, batches: int, subscribers: int) -> int:
    get, write = request("GET", "/v1/health"), request("POST", "/v1/bench/write")
    with contextlib.ExitStack() as stack:
        our_one, their_one = stack.enter_context(connect(ours)), stack.enter_context(connect(theirs))
        our_many, their_many = ([stack.enter_context(connect(path)) for _ in range(16)] for path in (ours, theirs))
        writers = [stack.enter_context(connect(ours)) for _ in range(64)]
        rows: dict[str, list[tuple[float, float]]] = {"GET": [], "16 GETs": [], "durable": []}
        for batch in range(-2, batches):
            measured = {
                "GET": (one_by_one(our_one, get, GETS), one_by_one(their_one, get, GETS)),
                "16 GETs": (many_at_once(our_many, get, GETS * 4), many_at_once(their_many, get, GETS * 4)),
                "durable": (many_at_once(writers, write, WRITES), single_inserts(folder / "plain.db", WRITES // 4)),
            }
            if batch >= 0:  # the first two batches warm up
                for name, pair in measured.items():
                    rows[name].append(pair)
    middle = {
        name: tuple(statistics.median(values) for values in zip(*pairs, strict=True)) for name, pairs in rows.items()
    }
    ratio = {name: statistics.median(a / b for a, b in pairs) for name, pairs in rows.items()}
    whole, deliveries = fan_out(ours, subscribers)
    received, cuts, complete = resume(ours)
    verdicts = {
        "GET": (
            f"{middle['GET'][0] * 1e6:.0f} us",
            f"{middle['GET'][1] * 1e6:.0f} us",
            f"{ratio['GET']:.2f}",
            f"<= {SLOWER}",
            ratio["GET"] <= SLOWER,
        ),
        "16 GETs": (
            f"{middle['16 GETs'][0]:.0f}/s",
            f"{middle['16 GETs'][1]:.0f}/s",
            f"{1 / ratio['16 GETs']:.2f}",
            f"<= {SLOWER}",
            1 / ratio["16 GETs"] <= SLOWER,
        ),
        "durable": (
            f"{middle['durable'][0]:.0f}/s",
            f"{middle['durable'][1]:.0f}/s",
            f"{ratio['durable']:.2f}",
            f">= {FASTER}",
            ratio["durable"] >= FASTER,
        ),
        "fan-out": (f"{deliveries:.0f}/s", "", f"{whole} of {subscribers}", "all", whole == subscribers),
        "resume": (f"{received} events", f"{cuts} cuts", "complete" if complete else "WITH GAPS", "complete", complete),
    }
    print(
        f"the daemon's socket, {batches} batches side by side with a bare route (GETs) "
        "and with single fsynced inserts (durable)\n"
    )
    print(f"{'':10}{'covey':>14}{'beside':>12}{'ratio':>14}{'limit':>10}")
    for name, (mine, beside, measured_ratio, limit, held) in verdicts.items():
        print(f"{name:10}{mine:>14}{beside:>12}{measured_ratio:>14}{limit:>10}{'' if held else '  BROKEN'}")
    return 0 if all(verdict[-1] for verdict in verdicts.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
