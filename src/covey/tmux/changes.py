"""The changes of a monitored server for one reader.

At most one change is pending, however much happens: a slow reader gets the sum of the changes, not a queue of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping  # noqa: TC003 - msgspec reads the annotations
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import msgspec

from covey.tmux.listing import Pane  # noqa: TC001 - msgspec reads the annotations
from covey.tmux.server import Identity  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import Iterable


class Liveness(StrEnum):
    """Whether a server runs: yes, no, or unknown because it cannot be reached."""

    ALIVE = "alive"
    GONE = "gone"
    UNREACHABLE = "unreachable"


class ServerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a server runs and can be understood.

    `degraded`: the server is alive, but its answers cannot be parsed, so nothing is known of its panes any more.
    `reason` says why the server is degraded, gone or unreachable.
    """

    liveness: Liveness
    degraded: bool = False
    reason: str = ""
    identity: Identity | None = None
    """The last identity known. A different identity is a different server: no fact about a former pane holds for it."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed since the reader asked last.

    In a change of kind `server`, the health is different and `panes` are all panes of the server (the last known ones
    when it is unreachable). In a change of kind `panes`, `panes` are only those that are new or different.

    `gone` are the ids of panes that have ended; `touched` are followed panes that may have printed something since they
    were last sampled; `screens` are the screens of working panes, with colours.
    """

    kind: Literal["server", "panes"]
    health: ServerHealth
    panes: tuple[Pane, ...] = ()
    gone: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    screens: Mapping[str, str] = {}


class Changes:
    """The pending change of one reader: `server`, `changed` and `close` write it, `next` takes it."""

    def __init__(self) -> None:
        self._health: ServerHealth | None = None
        self._panes: dict[str, Pane] = {}
        self._gone: set[str] = set()
        self._touched: set[str] = set()
        self._screens: dict[str, str] = {}
        self._server = False
        self._pending = asyncio.Event()
        self._closed = False

    def server(self, health: ServerHealth, panes: Mapping[str, Pane]) -> None:
        """Record that the health is different. `panes` are all panes and replace what was pending about panes."""
        self._server = True
        self._health = health
        self._clear_panes()
        self._panes = dict(panes)
        self._pending.set()

    def changed(
        self,
        health: ServerHealth,
        panes: Iterable[Pane],
        gone: Iterable[str] = (),
        touched: Iterable[str] = (),
        screens: Mapping[str, str] | None = None,
    ) -> None:
        """Record panes that are new or different, panes that are gone or touched, and screens."""
        self._health = health
        for pane in panes:
            self._panes[pane.id] = pane
            self._gone.discard(pane.id)
        self._touched.update(touched)
        self._screens.update(screens or {})
        for pane_id in gone:
            self._panes.pop(pane_id, None)
            self._touched.discard(pane_id)
            self._screens.pop(pane_id, None)
            self._gone.add(pane_id)
        if self._server:
            self._gone.clear()  # the reader does not know any of them
        if self._server or self._panes or self._gone or self._touched or self._screens:
            self._pending.set()

    def close(self) -> None:
        """End the reader's iteration: `next` returns None from now on."""
        self._closed = True
        self._pending.set()

    async def next(self) -> Change | None:
        """Wait for a change and return the sum of all changes since the last call; None when closed."""
        await self._pending.wait()
        if self._closed:
            return None
        self._pending.clear()
        assert self._health
        change = Change(
            kind="server" if self._server else "panes",
            health=self._health,
            panes=tuple(self._panes.values()),
            gone=frozenset(self._gone),
            touched=frozenset(self._touched),
            screens=self._screens,
        )
        self._server = False
        self._clear_panes()
        return change

    def _clear_panes(self) -> None:
        self._panes = {}
        self._gone = set()
        self._touched = set()
        self._screens = {}
