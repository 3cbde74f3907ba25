"""What a watched server tells its reader: one pending change however much happens, so a slow reader gets the sum and not a queue."""

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
    """Whether a server is there: yes, no, or it cannot be told."""

    ALIVE = "alive"
    GONE = "gone"
    UNREACHABLE = "unreachable"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands with a server. `degraded`: it is alive, but what it answers cannot be understood, so nothing is known of its panes any more; `reason` says why it is not all well."""

    liveness: Liveness
    degraded: bool = False
    reason: str = ""
    identity: Identity | None = None
    """The last one known; another identity is another server, and nothing said about the panes of the former holds for its own."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """News. `server`: its standing is another, and `panes` are all that it has (when it is unreachable: had). `panes`: only those that are new or
    different; `gone` are ids that are no more; `touched` are followed panes that may have printed something since the last look at them;
    `screens` are what working panes show, with colours."""

    kind: Literal["server", "panes"]
    standing: Standing
    panes: tuple[Pane, ...] = ()
    gone: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    screens: Mapping[str, str] = {}


class Changes:
    """The seat of one reader."""

    def __init__(self) -> None:
        self._standing: Standing | None = None
        self._panes: dict[str, Pane] = {}
        self._gone: set[str] = set()
        self._touched: set[str] = set()
        self._screens: dict[str, str] = {}
        self._server = False
        self._news = asyncio.Event()
        self._closed = False

    def server(self, standing: Standing, panes: Mapping[str, Pane]) -> None:
        """The standing is another. What was pending about panes is contained in `panes`."""
        self._server, self._standing = True, standing
        self._panes, self._gone, self._touched, self._screens = dict(panes), set(), set(), {}
        self._news.set()

    def changed(
        self,
        standing: Standing,
        panes: Iterable[Pane],
        gone: Iterable[str] = (),
        touched: Iterable[str] = (),
        screens: Mapping[str, str] | None = None,
    ) -> None:
        """Panes are new, different, gone or touched, or show this."""
        self._standing = standing
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
            self._gone.clear()  # the reader has heard of none of them
        if self._server or self._panes or self._gone or self._touched or self._screens:
            self._news.set()

    def close(self) -> None:
        """No more news; the reader's iteration ends."""
        self._closed = True
        self._news.set()

    async def next(self) -> Change | None:
        """The sum of all that happened since the last call, as soon as there is something; None when closed."""
        await self._news.wait()
        if self._closed:
            return None
        self._news.clear()
        assert self._standing
        change = Change(
            kind="server" if self._server else "panes",
            standing=self._standing,
            panes=tuple(self._panes.values()),
            gone=frozenset(self._gone),
            touched=frozenset(self._touched),
            screens=self._screens,
        )
        self._server = False
        self._panes, self._gone, self._touched, self._screens = {}, set(), set(), {}
        return change
