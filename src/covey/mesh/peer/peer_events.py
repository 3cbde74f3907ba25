"""The events of a peer: the connection, the members and who is online, and hooks that have run. Hooks hear of some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract import mesh_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.mesh.directory.directory import Change, Directory
    from covey.mesh.hooks.hook_result import HookResult
    from covey.mesh.hooks.hooks import Hooks
    from covey.mesh.link.session import Session
    from covey.mesh.peer.presence import Sighting


class PeerEvents:
    """Appends what happens to a peer to its events, and fires the hooks of it."""

    def __init__(self, events: Events, hooks: Hooks, directory: Directory, clock: Clock) -> None:
        self._events = events
        self._hooks = hooks
        self._directory = directory
        self._clock = clock
        self._disconnected_at: float | None = None
        self._connected_before = False

    def started(self, slug: str, member: str) -> None:
        """Fire the hook of the start."""
        self._hooks.fire(["on-startup"], {"event": "startup", "mesh": slug, "member": member})

    async def connected(self, session: Session) -> None:
        """Tell that there is a connection."""
        away = None if self._disconnected_at is None else self._clock.monotonic() - self._disconnected_at
        data = {"server": session.server, "away_s": None if away is None else round(away, 3)}
        await self._events.append(mesh_events.RECONNECT, data=data, source="mesh")
        if self._connected_before:
            self._hooks.fire(["on-reconnect"], {"event": str(mesh_events.RECONNECT), **data})
        self._connected_before = True

    async def disconnected(self, servers: Sequence[str], reason: str) -> None:
        """Tell that the connection has ended."""
        self._disconnected_at = self._clock.monotonic()
        data = {"server": ", ".join(servers), "reason": reason}
        await self._events.append(mesh_events.DISCONNECT, data=data, source="mesh")
        self._hooks.fire(["on-disconnect"], {"event": str(mesh_events.DISCONNECT), **data})

    async def record_changed(self, change: Change) -> None:
        """Tell what a record has changed."""
        name = self._directory.name_of(change.member)
        data: dict[str, Any]
        if change.what == "joined":
            data = {"name": name, "role": self._directory.members[change.member].role}
            await self._events.append(mesh_events.MEMBER_JOINED, change.member, data, source="mesh")
        elif change.what == "renamed":
            data = {"old": change.before, "name": name}
            await self._events.append(mesh_events.MEMBER_RENAMED, change.member, data, source="mesh")
        elif change.what == "revoked":
            data = {"name": name, "left": self._directory.members[change.member].left}
            await self._events.append(mesh_events.MEMBER_REVOKED, change.member, data, source="mesh")
        elif change.what == "granted":
            epoch = self._directory.epoch
            if epoch is not None and epoch.epoch > 1:
                await self._events.append(mesh_events.TOPIC_KEY_ROTATED, data={"epoch": epoch.epoch}, source="mesh")

    async def presence_changed(self, sighting: Sighting) -> None:
        """Tell that a member came or went."""
        name = self._directory.name_of(sighting.member)
        data: dict[str, Any]
        if sighting.online:
            profile = self._directory.profiles.get(sighting.member)
            data = {"name": name, "status": sighting.state, "summary": profile.summary if profile is not None else ""}
            await self._events.append(mesh_events.PEER_JOIN, sighting.member, data, source="mesh")
        else:
            data = {"name": name, "said": sighting.said}
            await self._events.append(mesh_events.PEER_LEAVE, sighting.member, data, source="mesh")

    async def hook_executed(self, result: HookResult, outcome: str) -> None:
        """Tell that a hook has run, and what came of it."""
        await self._events.append(
            mesh_events.HOOK_EXECUTED,
            result.hook,
            {
                "event": str(result.document.get("event", "")),
                "exit": int(result.exit) if result.exit.lstrip("-").isdigit() else None,
                "duration_ms": round(result.duration * 1000, 1),
                "timed_out": result.exit == "timeout",
                "message": result.document.get("id"),
                "outcome": outcome,
            },
            source="mesh",
        )
