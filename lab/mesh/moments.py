"""Faults of time: clocks that are wrong by a day, a recipient away for a day, a resend after the broker's window."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.mesh.link.session import Session
from lab.mesh.outcome import Outcome
from lab.mesh.partitions import two_way
from lab.mesh.stage import open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.stage import MeshStage

DAY_S = 86_400.0
MILLISECOND = 1_000_000
SKEWED = (sys.executable, str(Path(__file__).with_name("skewed_peer.py")))
FORGETFUL = (sys.executable, str(Path(__file__).with_name("forgetful_peer.py")))
FLOW_S = 5.0
MESSAGES = 500


async def skew(seed: int, progress: Progress) -> Outcome:
    """Let one clock be a day ahead and another a day behind, then the other way round."""
    outcome = Outcome(f"clocks wrong by a day, seed {seed}")
    async with open_stage(members=["b", "c"]) as stage:
        await stage.subscribe("a", "b", "c")
        traffic = two_way(stage, random.Random(seed))  # noqa: S311 - no secrets
        plans = ({"b": DAY_S, "c": -DAY_S}, {"b": -DAY_S, "c": DAY_S}, {"a": DAY_S}, {"a": -DAY_S, "b": 0.0, "c": 0.0})
        for number, plan in enumerate(plans, 1):
            # Between calls: a key is known for 24 hours by the clock, and a call repeated two days later is a new one.
            for name, seconds in plan.items():
                peer = stage.peers[name]
                peer.program, peer.skew_s = SKEWED, seconds
                peer.kill()
                await peer.start()
            async with traffic.flowing():
                await asyncio.sleep(FLOW_S)
            progress(f"clocks: {plan}", number, len(plans))
        await stage.settle(traffic)
        outcome.figures = {"changes of clocks by one or two days": sum(map(len, plans))}
        outcome.add(await stage.judge(traffic))
    return outcome


async def away(seed: int, progress: Progress) -> Outcome:
    """Send a day ago to a recipient that is away, and while the broker is away too; all come back today."""
    outcome = Outcome(f"a recipient that was away for a day (clock of the sender), seed {seed}")
    async with open_stage(members=["b"]) as stage:
        assert stage.broker is not None
        sender, recipient = stage.peers["a"], stage.peers["b"]
        traffic = Traffic(stage, random.Random(seed))  # noqa: S311 - no secrets
        writer = traffic.direct("a", "b")
        recipient.kill()
        sender.kill()
        sender.program, sender.skew_s = SKEWED, -DAY_S
        await sender.start()
        for _ in range(MESSAGES):
            await writer.send()
        progress("sent a day ago, the recipient away", 1, 3)
        stage.broker.kill()
        for _ in range(MESSAGES):
            await writer.send()
        sender.kill()
        progress("accepted a day ago, the broker away", 2, 3)
        sender.skew_s = 0.0
        await stage.broker.start()
        await sender.start()
        await recipient.start()
        await stage.settle(traffic)
        progress("all are back", 3, 3)
        outcome.figures = {
            "messages at the broker for a day": MESSAGES,
            "messages in the outbox for a day": MESSAGES,
            "receipts that came to the sender": await received_by(stage, "a"),
        }
        outcome.add(await stage.judge(traffic))
        outcome.require("not every message has its receipt", holds=await received_by(stage, "a") == 2 * MESSAGES)
    return outcome


async def window(seed: int, progress: Progress) -> Outcome:
    """Send everything again after the broker has forgotten it: the sender died between ack and record."""
    outcome = Outcome(f"a resend after the broker's duplicate window (made 0.1 s), seed {seed}")
    async with open_stage(members=["b"]) as stage:
        sender, recipient = stage.peers["b"], stage.peers["a"]
        await stage.subscribe("a", "b")
        membership, keys = stage.credentials("a")
        session = await Session.connect(membership.address, membership.credentials(keys), name="lab")
        try:
            for stream in ("DM", "TOPICS"):
                await shorten_window(session, stream)
            sender.kill()
            sender.program = FORGETFUL
            await sender.start()
            recipient.pause()  # without receipts the sender knows nothing
            traffic = Traffic(stage, random.Random(seed))  # noqa: S311 - no secrets
            for writer in (traffic.direct("b", "a"), traffic.topic("b")):
                for _ in range(MESSAGES):
                    await writer.send()
            await stored(session, MESSAGES)
            progress("sent, and the sender killed before it recorded that", 1, 2)
            sender.kill()
            await asyncio.sleep(1.0)
            sender.program = SKEWED
            await sender.start()
            await stored(session, 2 * MESSAGES)
            amounts = {stream: await amount(session, stream) for stream in ("DM", "TOPICS")}
            recipient.resume()
        finally:
            await session.aclose()
        await recipient.ready()
        progress("everything sent again", 2, 2)
        await stage.settle(traffic)
        outcome.figures = {f"messages in the stream {stream}": count for stream, count in amounts.items()}
        outcome.add(await stage.judge(traffic))
        outcome.require("nothing was sent twice: this proves nothing", holds=min(amounts.values()) >= 2 * MESSAGES)
    return outcome


async def shorten_window(session: Session, stream: str) -> None:
    """Let the broker forget the ids of messages after 0.1 s."""
    found = await session.api(f"STREAM.INFO.{stream}")
    config: dict[str, Any] = {**found["config"], "duplicate_window": 100 * MILLISECOND}
    answer = await session.api(f"STREAM.UPDATE.{stream}", config)
    if "error" in answer:
        raise RuntimeError(answer["error"])


async def amount(session: Session, stream: str) -> int:
    """Return how many messages a stream holds."""
    found = await session.api(f"STREAM.INFO.{stream}")
    return int(found["state"]["messages"])


async def stored(session: Session, messages: int) -> None:
    """Wait until both streams hold so many messages."""
    async with asyncio.timeout(120):
        for stream in ("DM", "TOPICS"):
            while await amount(session, stream) < messages:
                await asyncio.sleep(0.1)


async def received_by(stage: MeshStage, name: str) -> int:
    """Return how many messages of a peer have a receipt, after waiting a while for the last ones."""
    count = 0
    for _ in range(100):
        rows = stage.rows(name, "outbox.db", "SELECT count(*) FROM outbox_item WHERE inbox_at IS NOT NULL AND skip = 0")
        if rows[0][0] == count and count:
            break
        count = rows[0][0]
        await asyncio.sleep(0.5)
    return count
