"""Talks to Covey's daemons on this machine: `Node` to the node, `Mesh` to the peer of a mesh; standard library only.

    from covey_sdk import Mesh

    mesh = Mesh()                                  # the mesh of the current folder
    mesh.send("@oncall", "disk full on db-3")
    for event in mesh.events():                    # from now on, over reconnects and restarts
        if event.kind == "message":
            print(event.data["from_name"], event.data["text"])

`AsyncNode` and `AsyncMesh` are the same for asyncio. The calls themselves are generated from Covey's contract. Every
call that changes something carries an idempotency key, which its retries keep: it is performed at most once.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from covey_sdk._address import (
    ConnectionLostError,
    CoveyError,
    DeadlineError,
    NotRunningError,
    mesh_address,
    node_address,
    user_error,
)
from covey_sdk._async_calls import AsyncMeshCalls, AsyncNodeCalls
from covey_sdk._calls import MeshCalls, NodeCalls
from covey_sdk._client import Asynchronous, Blocking
from covey_sdk._wire import reading

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

__all__ = [
    "AsyncMesh",
    "AsyncNode",
    "ConnectionLostError",
    "CoveyError",
    "DeadlineError",
    "Event",
    "Mesh",
    "Node",
    "NotRunningError",
]
__version__ = "0.1.0"


class Event(NamedTuple):
    """An event of a daemon's journal. Kinds that begin with `covey.` are about the stream itself.

    `covey.gap`: events were asked for that are no longer kept. `covey.reset`: the journal has begun anew, and all that
    is kept follows.
    """

    kind: str
    data: dict[str, Any]
    cursor: int
    subject: str = ""
    id: str = ""
    at: str = ""


def _check(since: int | str | None, kinds: Sequence[str]) -> None:
    """Raise CoveyError for what events cannot be asked for. A text in the place of `kinds` would be many kinds."""
    if since is not None and not isinstance(since, (int, str)):
        raise user_error(f"since is a cursor or a time, not {since!r}", "since")
    if isinstance(kinds, str):
        raise user_error(f"kinds is a list: [{kinds!r}]", "kinds")


def _asked(since: int | str, kinds: Sequence[str]) -> tuple[str, dict[str, Any], int | None]:
    """Return what a stream of events is asked for: route, parameters and cursor."""
    after_time = {"since": since} if isinstance(since, str) else {}
    return "/v1/events", {"kind": list(kinds), **after_time}, None if after_time else int(since)


def _event(name: str, data: dict[str, Any], cursor: int | None) -> Event:
    if name.startswith("covey."):
        return Event(name, data, cursor or 0)
    with reading("the daemon"):
        return Event(data["kind"], data["data"], data["cursor"], data["subject"], data["id"], data["at"])


class _Daemon:
    """What both kinds of daemons have besides the calls that are generated."""

    def __init__(self, client: Blocking) -> None:
        self._client = client
        super().__init__(client)  # type: ignore[call-arg]  # the generated class comes next

    def cursor(self) -> int:
        """Return the cursor of the newest event."""
        return int(self._client.call("GET", "/v1/status", {})["events"]["cursor"])

    def events(
        self, since: int | str | None = None, *, kinds: Sequence[str] = (), deadline_s: float | None = None
    ) -> Iterator[Event]:
        """Yield what happens, from this call on, or after a cursor or a time (`0`: all that is kept).

        Nothing is missed or repeated over reconnects and restarts of the daemon. Only of `kinds`, if they are given,
        such as `message` or `agent.*`. Raises DeadlineError after the deadline, if there is one.
        """
        _check(since, kinds)
        start = self.cursor() if since is None else since
        return (_event(*one) for one in self._client.messages(*_asked(start, kinds), deadline_s))

    def close(self) -> None:
        """Close all connections. Calls in other threads, and further ones, end with ConnectionLostError."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Node(_Daemon, NodeCalls):
    """The node of this user: agents and their states, sends with receipts, approvals, beats, meshes.

    `home` is Covey's home, else COVEY_HOME or ~/.covey. A call ends after `deadline_s`, if it is not given another one;
    a daemon that has gone is waited for up to `patience_s`.
    """

    def __init__(self, home: str | None = None, *, deadline_s: float = 60.0, patience_s: float = 30.0) -> None:
        super().__init__(Blocking(lambda: node_address(home), deadline_s, patience_s))


class Mesh(_Daemon, MeshCalls):
    """The peer of one mesh: messages, topics, members. `slug` names it where `mesh_address` would not find it."""

    def __init__(
        self, slug: str | None = None, *, home: str | None = None, deadline_s: float = 60.0, patience_s: float = 30.0
    ) -> None:
        super().__init__(Blocking(lambda: mesh_address(slug, home), deadline_s, patience_s))


class _AsyncDaemon:
    """The same for asyncio."""

    def __init__(self, client: Asynchronous) -> None:
        self._client = client
        super().__init__(client)  # type: ignore[call-arg]  # as above

    async def cursor(self) -> int:
        """Return the cursor of the newest event."""
        return int((await self._client.call("GET", "/v1/status", {}))["events"]["cursor"])

    def events(
        self, since: int | str | None = None, *, kinds: Sequence[str] = (), deadline_s: float | None = None
    ) -> AsyncGenerator[Event]:
        """Yield what happens, as `Mesh.events` does; without `since`, from when the first one is asked for."""
        _check(since, kinds)
        return self._events(since, kinds, deadline_s)

    async def _events(
        self, since: int | str | None, kinds: Sequence[str], deadline_s: float | None
    ) -> AsyncGenerator[Event]:
        start = await self.cursor() if since is None else since
        async with contextlib.aclosing(self._client.messages(*_asked(start, kinds), deadline_s)) as found:
            async for one in found:
                yield _event(*one)

    def close(self) -> None:
        """Close all connections. Further calls end with ConnectionLostError."""
        self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncNode(_AsyncDaemon, AsyncNodeCalls):
    """`Node` for asyncio."""

    def __init__(self, home: str | None = None, *, deadline_s: float = 60.0, patience_s: float = 30.0) -> None:
        super().__init__(Asynchronous(lambda: node_address(home), deadline_s, patience_s))


class AsyncMesh(_AsyncDaemon, AsyncMeshCalls):
    """`Mesh` for asyncio."""

    def __init__(
        self, slug: str | None = None, *, home: str | None = None, deadline_s: float = 60.0, patience_s: float = 30.0
    ) -> None:
        super().__init__(Asynchronous(lambda: mesh_address(slug, home), deadline_s, patience_s))
