"""The subsystem of which a peer's daemon is made, and its part of the status."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from covey.consent.guard import consent_guard
from covey.contract.mesh import PEER_OPERATIONS
from covey.contract.mesh_events import PEER_EVENTS
from covey.contract.mesh_shapes import KIND, PEER_HEALTH, PEER_STATUS
from covey.kernel.operations.call import Scope
from covey.kernel.subsystem import Opened, Subsystem
from covey.mesh.authority.register import MIGRATIONS as AUTHORITY_MIGRATIONS
from covey.mesh.directory.record_store import MIGRATIONS as RECORD_MIGRATIONS
from covey.mesh.peer.bridge import MIGRATIONS as BRIDGE_MIGRATIONS
from covey.mesh.peer.consent import agent_at_node
from covey.mesh.peer.message_view import held_view
from covey.mesh.peer.operations import PeerOperations
from covey.mesh.peer.peer import Peer
from covey.mesh.peer.settings import SETTINGS
from covey.mesh.services.reminders.firing import MIGRATIONS as REMINDER_MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from covey.kernel.subsystem import Context


def peer_subsystem(on_open: Callable[[Peer], None] = lambda _: None) -> Subsystem:
    """Return the subsystem of a peer. `on_open` is called with the peer when it is open."""

    @contextlib.asynccontextmanager
    async def opened(context: Context) -> AsyncIterator[Opened]:
        async with Peer.running(context) as peer:
            on_open(peer)
            handlers = {**PeerOperations(peer).handlers(), **peer.services.handlers()}
            yield Opened(
                handlers,
                guard=consent_guard(context.config, lambda caller: agent_at_node(context.seat.home, caller)),
                status=lambda: status(peer),
                health=lambda: health(peer),
                scope=lambda token: hook_scope(peer, token),
            )

    return Subsystem(
        KIND,
        opened,
        operations=PEER_OPERATIONS,
        migrations=(*RECORD_MIGRATIONS, *AUTHORITY_MIGRATIONS, *BRIDGE_MIGRATIONS, *REMINDER_MIGRATIONS),
        events=PEER_EVENTS,
        settings=SETTINGS,
        status=PEER_STATUS,
        health=PEER_HEALTH,
    )


def hook_scope(peer: Peer, token: str) -> Scope | None:
    """Return what the hook that was given a token may do; None for any other token."""
    run = peer.hooks.tokens.find(token)
    return None if run is None else Scope(f"hook:{run.hook}", run.operations, {"hops": run.hops})


def health(peer: Peer) -> dict[str, Any]:
    """Return what the health of a peer has besides that of every daemon."""
    return {
        "connected": peer.link.session is not None,
        "lag_ms": None if peer.link.lag_ms is None else round(peer.link.lag_ms, 3),
        "queue_depth": peer.publisher.depth,
        "mesh": peer.membership.slug,
        "member_pubkey": peer.membership.member,
    }


def status(peer: Peer) -> dict[str, Any]:
    """Return the peer's part of the status."""
    session, epoch, counted = peer.link.session, peer.directory.epoch, peer.housekeeping.counted
    hooks, held = peer.hooks.status(), peer.inbox.held_back()
    return {
        "slug": peer.membership.slug,
        "mesh": peer.membership.mesh,
        "member": peer.membership.member,
        "name": peer.name,
        "role": peer.membership.role,
        "connected": session is not None,
        "server": session.server if session is not None else "",
        "servers": peer.membership.urls,
        "lag_ms": None if peer.link.lag_ms is None else round(peer.link.lag_ms, 3),
        "reconnects": sum(peer.link.reconnects.values()),
        "reason": "" if session is not None else peer.link.reason,
        "members": len(peer.directory.present),
        "online": sum(1 for sighting in peer.presence.known.values() if sighting.online),
        "epoch": epoch.epoch if epoch is not None else 0,
        "outbox": {
            "pending": peer.publisher.depth,
            "dead": counted.outbox.dead,
            "bytes": counted.outbox.bytes,
            "oldest_s": peer.publisher.oldest_s(),
        },
        "inbox": {
            "messages": counted.inbox.messages,
            "bytes": counted.inbox.bytes,
            "held": sum(one.messages for one in held),
            "held_from": held_view(held, peer.directory),
            "unreadable": peer.receiver.refused,
        },
        "hooks": {name: hooks[name] for name in ("enabled", "running", "queued", "fired", "failed")},
        "services": peer.services.status(),
        "problems": [*peer.problems(), *hooks["problems"]],
    }


PEER = peer_subsystem()
