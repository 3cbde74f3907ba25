"""Members that mean harm: one that was revoked and hammers, and one that publishes malformed frames."""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.crypto.envelope import Body, new_message_id, seal_direct, seal_topic
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.link.errors import LinkError, RefusedError
from covey.mesh.link.session import Session
from lab.mesh.frames import mangled
from lab.mesh.outcome import Outcome
from lab.mesh.stage import TOPIC, open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from covey.mesh.membership_file import Membership
    from lab.mesh.outcome import Progress
    from lab.mesh.stage import MeshStage

CALM_S, HAMMER_S = 6.0, 15.0
HAMMERS = 4
BURST = 500


async def revoked(seed: int, progress: Progress) -> Outcome:
    """Revoke a member that goes on connecting and publishing as fast as it can."""
    chance = random.Random(seed)  # noqa: S311 - no secrets
    outcome = Outcome(f"a revoked member that hammers for {HAMMER_S:g} s, seed {seed}")
    async with open_stage(members=["b", "x"]) as stage:
        await stage.subscribe("a", "b")
        traffic = Traffic(stage, chance)
        traffic.direct("a", "b")
        traffic.direct("b", "a")
        last_words = traffic.direct("x", "b")
        for _ in range(10):
            await last_words.send()
        await stage.settle(traffic)
        membership, keys = stage.credentials("x")
        session = await Session.connect(membership.address, membership.credentials(keys), name="hammer")
        traffic.writers.remove(last_words)
        async with traffic.flowing():
            await asyncio.sleep(CALM_S)
            progress("calm", 1, 2)
            began = time.time()
            await stage.authority.api.decide("POST", "/v1/revoke", {"member": stage.peers["x"].member})
            async with asyncio.timeout(10):
                await session.broken.wait()
            cut = time.time() - began
            attempts = await asyncio.gather(*(_hammer(stage, membership, keys) for _ in range(HAMMERS)))
            progress("hammered", 2, 2)
        await session.aclose()
        await stage.settle(traffic)
        traffic.writers.append(last_words)
        calm, hammered = _delays(stage, 0.0, began), _delays(stage, began, began + HAMMER_S)
        outcome.figures = {
            "disconnected after, s": cut,
            "connections tried": sum(tried for tried, _ in attempts),
            "connections that succeeded": sum(entered for _, entered in attempts),
            "a and b, p50 before, ms": statistics.median(calm) * 1e3,
            "a and b, p50 while it hammers, ms": statistics.median(hammered) * 1e3,
        }
        outcome.add(await stage.judge(traffic))
        outcome.require("a revoked member came in", holds=not any(entered for _, entered in attempts))
        outcome.require("it was disconnected late", holds=cut < 1.0)
    return outcome


async def _hammer(stage: MeshStage, membership: Membership, keys: KeyPair) -> tuple[int, int]:
    """Connect and publish without a pause. Returns how often that was tried, and how often it succeeded."""
    tried = entered = 0
    until = time.monotonic() + HAMMER_S
    while time.monotonic() < until:
        tried += 1
        try:
            session = await Session.connect(membership.address, membership.credentials(keys), name="hammer")
        except RefusedError:
            continue
        except LinkError:
            await asyncio.sleep(0.01)
            continue
        with contextlib.suppress(LinkError):
            await session.publish(f"dm.{stage.peers['b'].member}.{keys.member}", b"x", deadline_s=1.0)
            entered += 1
        await session.aclose()
    return tried, entered


def _delays(stage: MeshStage, begin: float, end: float) -> list[float]:
    query = "SELECT sender, sent_at, received_at FROM inbox_message WHERE scope = ''"
    rows = [row for name in ("a", "b") for row in stage.rows(name, "inbox.db", query)]
    hammer = stage.peers["x"].member
    return [came - sent for sender, sent, came in rows if begin <= sent <= end and sender != hammer] or [0.0]


async def fuzz(frames: int, seed: int, progress: Progress) -> Outcome:
    """Publish malformed frames as a member, on every subject on which it may, between good messages."""
    chance = random.Random(seed)  # noqa: S311 - no secrets
    outcome = Outcome(f"{frames} malformed frames, seed {seed}")
    async with open_stage(members=["b", "x"]) as stage:
        await stage.subscribe("a", "b")
        traffic = Traffic(stage, chance)
        traffic.direct("a", "b")
        traffic.direct("b", "a")
        pids = {name: peer.pid for name, peer in stage.peers.items()}
        membership, keys = stage.credentials("x")
        session = await Session.connect(membership.address, membership.credentials(keys), name="fuzz")
        hostile = Hostile.member(stage)
        began = time.monotonic()
        sent: dict[str, int] = {}
        async with traffic.flowing(0.2):
            for start in range(0, frames, BURST):
                await _burst(session, hostile, min(BURST, frames - start), chance, sent)
                progress("frames published", start + BURST, frames)
            await _read_all(stage, sent["dm"] + 2 * sent["t"], progress)
        seconds = time.monotonic() - began
        await session.aclose()
        await stage.settle(traffic)
        refused = {name: (await peer.status())["inbox"]["unreadable"] for name, peer in stage.peers.items()}
        outcome.figures = {
            **{f"frames on {kind}": count for kind, count in sorted(sent.items())},
            "envelopes refused by a, by b": f"{refused['a']}, {refused['b']}",
            "frames a second": frames / seconds,
        }
        outcome.add(await stage.judge(traffic))
        alive = all(peer.alive and peer.pid == pids[name] for name, peer in stage.peers.items())
        outcome.require("a peer has ended", holds=alive)
        # Each direct frame has one reader, each of the topic two.
        wanted = sent["dm"] + 2 * sent["t"]
        outcome.require(
            f"{wanted} envelopes were to be refused", holds=sum(refused[one] for one in ("a", "b")) == wanted
        )
    return outcome


async def _burst(session: Session, hostile: Hostile, amount: int, chance: random.Random, sent: dict[str, int]) -> None:
    """Publish some frames without waiting for each; then wait until the broker has them."""
    me = session.member
    for _ in range(amount):
        victim = chance.choice(hostile.victims)
        kind, subject, good = chance.choice(
            [
                ("dm", f"dm.{victim}.{me}", hostile.direct),
                ("dm", f"dm.{victim}.{me}", hostile.direct),
                ("dm", f"dm.{victim}.{me}", hostile.topic),
                ("t", f"t.{hostile.token}.{me}", hostile.topic),
                ("t", f"t.{hostile.token}.{me}", hostile.direct),
                ("m", f"m.{me}", hostile.direct),
                ("p", f"p.{me}", hostile.direct),
                ("h", f"h.{me}", hostile.direct),
                ("rc", f"rc.{victim}.{me}", hostile.direct),
                ("ask", f"ask.{me}", hostile.direct),
            ]
        )
        await session.send(subject, mangled(good, chance))
        sent[kind] = sent.get(kind, 0) + 1
    await session.client.flush()


class Hostile(NamedTuple):
    """What a hostile member begins from: good envelopes, one for each victim's kind of stream, and its victims."""

    victims: list[str]
    direct: bytes
    topic: bytes
    token: str

    @classmethod
    def member(cls, stage: MeshStage) -> Hostile:
        """Return what the member x can make with the keys that it has."""
        membership, keys = stage.credentials("x")
        other = KeyPair.generate(0.0)
        epoch = stage.epoch("x")
        token = epoch.token(TOPIC)
        body = Body(text="hostile")
        ids = [new_message_id() for _ in range(4)]
        direct = seal_direct(
            keys, other.public_keys, mesh=membership.mesh, id=ids[0], at_ms=1, ob=ids[1], n=1, body=body
        )
        topic = seal_topic(
            keys,
            mesh=membership.mesh,
            id=ids[2],
            at_ms=1,
            ob=ids[3],
            n=1,
            token=token,
            epoch=epoch.epoch,
            topic_key=epoch.key(token),
            body=body,
        )
        return cls([stage.peers["a"].member, stage.peers["b"].member], direct, topic, token)


async def _read_all(stage: MeshStage, wanted: int, progress: Progress) -> None:
    """Wait until the victims have read everything, or read nothing more."""
    found = before = -1
    while found < wanted and (found != before or found <= 0):
        before = found
        await asyncio.sleep(3.0)
        found = sum([(await stage.peers[name].status())["inbox"]["unreadable"] for name in ("a", "b")])
        progress(f"{found} envelopes refused", found, wanted)
