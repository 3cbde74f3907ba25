"""What does the mesh cost: a message that is accepted, one that reaches another member, and a thousand members?

A real broker (sync_interval always) and real peers, each a process of its own; the client is this process. Both sides
of a ratio are measured in turn in one run, so that a noisy machine disturbs both alike.

    batches     POST /v1/send/batch with 1,000 messages of 256 bytes: durable before the answer. With the broker away
                (acceptance alone), and while the messages are sent on to the broker
    singles     POST /v1/send, 64 on the way, against a loop of single fsynced SQLite inserts of the same bytes
    lone        one POST /v1/send after the other
    member      from the call until the message (1 KB) is committed in the inbox of another member, against a commit, a
                bare publish and consume over JetStream, and a commit: two processes too
    encryption  what sealing, signing, verifying and opening take of that
    members     simulated members on one broker: they join, connect and listen; presence; one broadcast to all

The simulated members are light: connections and readers in this process, without stores (see lab/mesh/crowd.py).

    ./run python bench/mesh.py [--quick] [--members 100 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import socket
import sqlite3
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import msgspec

from covey.mesh.crypto.envelope import Body, new_message_id, open_direct, seal_direct
from covey.mesh.crypto.identity import KeyPair, PublicKeys
from covey.mesh.link.session import Session
from covey.mesh.membership_file import Membership
from lab.mesh.crowd import connect_all, join_all
from lab.mesh.local_api import LocalApi, request
from lab.mesh.stage import CONFIG, MeshStage, open_stage
from lab.show import table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from nats.aio.client import Client
    from nats.aio.msg import Msg

    from covey.mesh.peer.peer import Peer

BATCHES_WANTED, SINGLES_WANTED, MEMBER_WANTED = 10_000.0, 2.0, 1.3
SMALL, LARGE = "x" * 256, "x" * 1024
IN_BATCH, IN_FLIGHT = 1000, 64
RAW = "RAW"
BETWEEN_S = 0.02
REPORT = "COVEY_BENCH_REPORT"
LIMIT_S = 60.0
HIGH_QUEUE = CONFIG.replace("200000", "1000000")


class Row(NamedTuple):
    """One line of the result. `holds` is None where nothing is wanted."""

    what: str
    ours: str
    other: str = ""
    ratio: str = ""
    wanted: str = ""
    holds: bool | None = None


# The processes beside this one: a peer that tells when a message is committed, and the bare consumer.


def serve_peer(home: str, slug: str) -> int:
    """Be a peer that reports each message when its commit has returned."""
    from covey.contract.mesh_shapes import KIND  # noqa: PLC0415 - only in this process
    from covey.kernel.daemon_process import run  # noqa: PLC0415 - likewise
    from covey.kernel.home import Home  # noqa: PLC0415 - likewise
    from covey.mesh.peer.subsystem import peer_subsystem  # noqa: PLC0415 - likewise

    report = reporter()

    def watch(peer: Peer) -> None:
        after_commit = peer.receiver._on_messages  # noqa: SLF001 - the moment after the commit has no other seam

        def tell(released: list, senders: set[str]) -> None:  # type: ignore[type-arg]
            now = time.time()
            for message in released:
                report(f"{message.id} {now}")
            after_commit(released, senders)

        peer.receiver._on_messages = tell  # noqa: SLF001 - as above

    seat = Home(home).seat(KIND, slug)
    return run(seat, [peer_subsystem(watch)])


def serve_consumer(url_file: str) -> int:
    """Be the bare consumer: each message is committed to a file of its own, then reported."""
    import uvloop  # noqa: PLC0415 - the peers have it too

    settings = msgspec.json.decode(Path(url_file).read_bytes())
    report = reporter()
    database = bare_database(Path(settings["database"]))

    async def consume() -> None:
        client = await bare_client(settings)

        async def receive(message: Msg) -> None:
            database.execute("INSERT INTO bench (text) VALUES (?)", (message.data,))
            report(f"{message.data[:26].decode()} {time.time()}")

        await client.subscribe("raw-deliver", cb=receive)
        config = {"deliver_subject": "raw-deliver", "ack_policy": "none", "deliver_policy": "all", "mem_storage": True}
        document = msgspec.json.encode({"stream_name": RAW, "config": config})
        await client.request(f"$JS.API.CONSUMER.CREATE.{RAW}", document, timeout=5)
        report("ready 0")
        await asyncio.Event().wait()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(consume())
    return 0


def reporter() -> Callable[[str], None]:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = os.environ[REPORT]

    def report(text: str) -> None:
        sock.sendto(text.encode(), path)

    return report


async def bare_client(settings: dict[str, str]) -> Client:
    """Connect as the authority, which may do everything in the account."""
    membership = msgspec.json.decode(Path(settings["membership"]).read_bytes(), type=Membership)  # noqa: ASYNC240 - before anything is measured
    keys = KeyPair.load(settings["keys"])
    session = await Session.connect(membership.address, membership.credentials(keys), name="bare")
    return session.client


def bare_database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bench (id INTEGER PRIMARY KEY, text BLOB) STRICT")
    return connection


class Reports:
    """What the other processes report: when which message was committed."""

    def __init__(self, path: Path) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sock.bind(str(path))
        self._sock.setblocking(False)  # noqa: FBT003 - the socket module takes it so
        self.path = path
        self._at: dict[str, float] = {}

    async def committed(self, id_: str) -> float:
        """Wait for a message and return when it was committed."""
        async with asyncio.timeout(LIMIT_S):
            while id_ not in self._at:
                said = await asyncio.get_running_loop().sock_recv(self._sock, 4096)
                name, _, at = said.decode().partition(" ")
                self._at[name] = float(at)
        return self._at.pop(id_)

    def close(self) -> None:
        self._sock.close()


# What is measured.


async def accept(stage: MeshStage, rounds: int) -> list[Row]:
    """Measure acceptance: with the broker away, so that nothing else is done, then while messages are sent on.

    The recipient is on another machine, as it were: its peer is down.
    """
    assert stage.broker is not None
    await stage.peers["b"].end()
    sending = await rates(stage, rounds)
    stage.broker.kill()
    alone = await rates(stage, rounds)
    return [
        Row(
            "accepted in batches of 1,000",
            f"{alone.batches:,.0f}/s",
            f"{alone.inserts:,.0f}/s",
            f"{alone.batches / alone.inserts:.1f}",
            f">= {BATCHES_WANTED:,.0f}/s",
            alone.batches >= BATCHES_WANTED,
        ),
        Row(
            "accepted by single calls, 64 in flight",
            f"{alone.singles:,.0f}/s",
            f"{alone.inserts:,.0f}/s",
            f"{alone.ratio:.2f}",
            f">= {SINGLES_WANTED:g} x",
            alone.ratio >= SINGLES_WANTED,
        ),
        Row("a lone call, p50", f"{alone.lone * 1e3:.2f} ms", f"{1e3 / alone.inserts:.2f} ms"),
        Row("batches, while they are sent on", f"{sending.batches:,.0f}/s", f"{sending.inserts:,.0f}/s"),
        Row(
            "single calls, while they are sent on",
            f"{sending.singles:,.0f}/s",
            f"{sending.inserts:,.0f}/s",
            f"{sending.ratio:.2f}",
        ),
        Row("a lone call, p50", f"{sending.lone * 1e3:.2f} ms", f"{1e3 / sending.inserts:.2f} ms"),
    ]


class Rates(NamedTuple):
    """What was accepted in a second, medians; `ratio` is that of single calls and inserts of the same round."""

    batches: float
    singles: float
    inserts: float
    ratio: float
    lone: float


async def rates(stage: MeshStage, rounds: int) -> Rates:
    api, to = stage.authority.api, stage.peers["b"].member
    api.close()
    loop = bare_database(stage.folder / "loop.db")
    single = request("POST", "/v1/send", msgspec.json.encode({"to": to, "message": SMALL}))
    batch = request(
        "POST", "/v1/send/batch", msgspec.json.encode({"messages": [{"to": to, "message": SMALL}] * IN_BATCH})
    )
    many = [LocalApi(Path(stage.authority.seat.socket)) for _ in range(IN_FLIGHT)]
    work: dict[str, tuple[int, Callable[[], Awaitable[object]]]] = {
        "batches": (IN_BATCH * 3, lambda: repeat(api, batch, 3)),
        "singles": (IN_FLIGHT * 10, lambda: asyncio.gather(*(repeat(one, single, 10) for one in many))),
        "inserts": (200, lambda: insert(loop, 200)),
    }
    found: dict[str, list[float]] = {name: [] for name in (*work, "lone")}
    for turn in range(-1, rounds):
        for name, (amount, do) in work.items():
            rate = amount / await timed(do)
            await drained(stage)
            if turn >= 0:  # the first one warms up
                found[name].append(rate)
        found["lone"] += [await timed(lambda: repeat(api, single, 1)) for _ in range(50)]
        await drained(stage)
    for one in many:
        one.close()
    loop.close()
    ratio = statistics.median(one / other for one, other in zip(found["singles"], found["inserts"], strict=True))
    middle = {name: statistics.median(values) for name, values in found.items()}
    return Rates(middle["batches"], middle["singles"], middle["inserts"], ratio, middle["lone"])


async def repeat(api: LocalApi, wire: bytes, times: int) -> None:
    for _ in range(times):
        answered = await api.exchange(wire)
        if answered.status != 200:
            raise SystemExit(answered.body.decode(errors="replace"))


async def insert(database: sqlite3.Connection, times: int) -> None:
    for _ in range(times):
        database.execute("INSERT INTO bench (text) VALUES (?)", (SMALL.encode(),))


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def drained(stage: MeshStage) -> None:
    """Wait until everything is at the broker and in the inbox of the other."""
    async with asyncio.timeout(LIMIT_S * 5):
        while True:
            status = await stage.authority.status()
            if not status["connected"] or not status["outbox"]["pending"]:
                return
            await asyncio.sleep(0.1)


async def member_to_member(stage: MeshStage, reports: Reports, amount: int) -> tuple[list[Row], float]:
    """Measure lone messages from call to commit at the recipient, in turn with the bare way."""
    api, to = stage.authority.api, stage.peers["b"].member
    settings = {
        "membership": str(stage.authority.folder / "membership.json"),
        "keys": str(stage.authority.folder / "keypair.json"),
        "database": str(stage.folder / "consumer.db"),
    }
    file = stage.folder / "bare.json"
    file.write_bytes(msgspec.json.encode(settings))
    client = await bare_client(settings)
    stream = {"name": RAW, "subjects": ["raw"], "storage": "file", "retention": "limits"}
    await client.request(f"$JS.API.STREAM.CREATE.{RAW}", msgspec.json.encode(stream), timeout=5)
    environment = {**os.environ, REPORT: str(reports.path)}
    consumer = await asyncio.create_subprocess_exec(sys.executable, __file__, "consumer", str(file), env=environment)
    outbox = bare_database(stage.folder / "publisher.db")
    message = msgspec.json.encode({"to": to, "message": LARGE})
    ours: list[float] = []
    bare: list[float] = []
    try:
        await reports.committed("ready")
        for turn in range(-20, amount):
            began = time.time()
            answered = await api.exchange(request("POST", "/v1/send", message))
            took = await reports.committed(msgspec.json.decode(answered.body)["id"]) - began
            await asyncio.sleep(BETWEEN_S)
            id_ = new_message_id()
            text = f"{id_}{LARGE}".encode()
            began = time.time()
            outbox.execute("INSERT INTO bench (text) VALUES (?)", (text,))
            await client.publish("raw", text, headers={"Nats-Msg-Id": id_})
            took_bare = await reports.committed(id_) - began
            await asyncio.sleep(BETWEEN_S)
            if turn >= 0:
                ours.append(took)
                bare.append(took_bare)
    finally:
        consumer.terminate()
        await consumer.wait()
        await client.close()
    (p50, p95), (bare_p50, bare_p95) = (
        (statistics.median(values), statistics.quantiles(values, n=20)[-1]) for values in (ours, bare)
    )
    ratio = p50 / bare_p50
    return [
        Row(
            "member to member, p50",
            f"{p50 * 1e3:.2f} ms",
            f"{bare_p50 * 1e3:.2f} ms",
            f"{ratio:.2f}",
            f"<= {MEMBER_WANTED:g} x",
            ratio <= MEMBER_WANTED,
        ),
        Row("member to member, p95", f"{p95 * 1e3:.2f} ms", f"{bare_p95 * 1e3:.2f} ms", f"{p95 / bare_p95:.2f}"),
    ], p50


def encryption(p50: float) -> Row:
    """Measure what keys cost for one message of 1 KB, of the way from member to member."""
    anna, bert = KeyPair.generate(0.0), KeyPair.generate(0.0)
    to = PublicKeys.from_certificate(bert.certificate, bert.member)
    sender = PublicKeys.from_certificate(anna.certificate, anna.member)
    body = Body(text=LARGE)
    taken = []
    for n in range(1, 2001):
        began = time.perf_counter()
        sealed = seal_direct(anna, to, mesh="m" * 52, id=new_message_id(), at_ms=1, ob=new_message_id(), n=n, body=body)
        open_direct(
            sealed,
            bert,
            lambda *_: sender.key,
            mesh="m" * 52,
            subject_from=anna.member,
            subject_to=bert.member,
        )
        taken.append(time.perf_counter() - began)
    spent = statistics.median(taken)
    return Row("seal, sign, verify, open (of that p50)", f"{spent * 1e6:.0f} us", "", f"{100 * spent / p50:.0f} %")


async def members(stage: MeshStage, amount: int) -> list[Row]:
    """Measure a crowd on one broker."""
    assert stage.broker is not None
    membership, _ = stage.credentials("a")
    urls, pid = membership.urls, stage.broker.pid
    before = resident(pid)
    token = await stage.invite(amount)
    began = time.perf_counter()
    joined = await join_all(token, amount)
    joining = time.perf_counter() - began
    after_joins = resident(pid)
    epoch = stage.epoch("a")
    began = time.perf_counter()
    crowd = await connect_all(joined, urls, epoch.token("*"))
    connecting = time.perf_counter() - began
    connected = resident(pid)
    try:
        began = time.perf_counter()
        await asyncio.gather(*(one.announce(membership.mesh, "h") for one in crowd))
        beats = time.perf_counter() - began
        began = time.time()
        await crowd[0].announce(membership.mesh, "p")
        await until(lambda: all(one.presence for one in crowd))
        seen = max(one.presence[-1] for one in crowd) - began
        began = time.time()
        cpu = cpu_of(pid)
        await stage.authority.api.call("POST", "/v1/broadcast", {"message": LARGE})
        await until(lambda: all(one.messages for one in crowd))
        fan_out = max(one.messages[-1] for one in crowd) - began
        cpu = cpu_of(pid) - cpu
        status = await stage.authority.status()
    finally:
        await asyncio.gather(*(one.aclose() for one in crowd))
    per_member = (connected - before) / amount
    return [
        Row(
            f"{amount} members join (keys, record, grant)",
            f"{joining:.1f} s",
            "",
            f"{joining / amount * 1e3:.1f} ms each",
        ),
        Row(
            f"{amount} connect, two readers each", f"{connecting:.1f} s", "", f"{connecting / amount * 1e3:.1f} ms each"
        ),
        Row(f"{amount} signs of life at once", f"{beats * 1e3:.0f} ms"),
        Row("one comes online, seen by all", f"{seen * 1e3:.0f} ms"),
        Row("one broadcast (1 KB) at all", f"{fan_out * 1e3:.0f} ms", "", f"{cpu * 1e3:.0f} ms of the broker's CPU"),
        Row(
            "memory of the broker",
            f"{connected / 2**20:.0f} MB",
            f"{before / 2**20:.0f} MB before",
            f"{per_member / 1024:.0f} KB a member ({(after_joins - before) / amount / 1024:.0f} KB of it for the join)",
        ),
        Row("members that the authority's peer knows", str(status["members"])),
    ]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110 - other processes have no event for us
            await asyncio.sleep(0.005)


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(*, quick: bool, sizes: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    async with open_stage(config=HIGH_QUEUE) as stage:
        reports = Reports(stage.folder / "reports")
        os.environ[REPORT] = str(reports.path)
        try:
            bert = await stage.join("b", config=HIGH_QUEUE, start=False)
            bert.program = (sys.executable, __file__, "peer")
            bert.variables[REPORT] = str(reports.path)
            await bert.start()
            await stage.acquainted()
            tell("member to member")
            found, p50 = await member_to_member(stage, reports, 100 if quick else 400)
            tell("acceptance")
            rows += await accept(stage, 3 if quick else 8)
            rows += [*found, encryption(p50)]
        finally:
            reports.close()
    for amount in sizes:
        tell(f"{amount} members")
        async with open_stage(config=HIGH_QUEUE) as stage:
            rows += await members(stage, amount)
    return rows


def tell(what: str) -> None:
    print(f"# {what}, load average {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def main() -> int:
    if len(sys.argv) > 2 and sys.argv[1] in {"peer", "consumer"}:
        return serve_peer(*sys.argv[2:4]) if sys.argv[1] == "peer" else serve_consumer(sys.argv[2])
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="Fewer rounds, and 100 members only.")
    parser.add_argument("--members", nargs="*", type=int, help="How many simulated members (default: 100 and 1,000).")
    args = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sizes = args.members if args.members is not None else [100] if args.quick else [100, 1000]
    rows = asyncio.run(measure(quick=args.quick, sizes=sizes))
    print("\n".join(report(rows)))
    return 1 if any(row.holds is False for row in rows) else 0


def report(rows: Sequence[Row]) -> Iterator[str]:
    shown = [[*row[:5], {None: "", True: "ok", False: "BROKEN"}[row.holds]] for row in rows]
    yield table(["", "Covey", "beside it", "ratio", "wanted", ""], shown)
    yield "load average " + " ".join(f"{one:.1f}" for one in os.getloadavg())


if __name__ == "__main__":
    sys.exit(main())
