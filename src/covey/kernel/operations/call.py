"""One call of an operation: what is asked for, and who asks. Every way into the daemon makes one for the handler."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from covey.contract import Operation


UNIX: Final = "unix"
TCP: Final = "tcp"
Surface = Literal["cli", "mcp", "http", "internal"]


class Scope(NamedTuple):
    """What the bearer of a token of a subsystem may do: these operations, and no others.

    `name` says who it is, for the audit, such as `hook:on-dm`. `data` is for the handlers of the subsystem.
    """

    name: str
    operations: frozenset[str]
    data: Mapping[str, Any] = {}


class Caller(NamedTuple):
    """Who asks: the process at the other end of a connection, as far as the system names it, or a subsystem."""

    transport: Literal["unix", "tcp", "internal"]
    uid: int | None = None
    pid: int | None = None
    subsystem: str = ""
    surface: Surface = "internal"
    """By which program it asks, as that program says: for the audit, and for what is offered to agents only."""
    scope: Scope | None = None
    """What it may do, if it has shown the token of a subsystem; None if it may do all."""

    @property
    def identity(self) -> str:
        """A name under which this caller's calls are counted together: `subsystem:keeper`, `uid:1000` or `tcp`."""
        if self.subsystem:
            return f"subsystem:{self.subsystem}"
        return self.transport if self.uid is None else f"uid:{self.uid}"

    @property
    def program(self) -> str:
        """The name of the process, as far as the system tells it and it still runs."""
        try:
            with open(f"/proc/{self.pid}/comm", encoding="utf-8", errors="replace") as file:
                return file.read().rstrip("\n")
        except OSError:
            return ""

    def as_dict(self) -> dict[str, Any]:
        """Return the caller for the journal."""
        told = {**self._asdict(), "program": self.program}
        del told["scope"]
        return told if self.scope is None else {**told, "scope": self.scope.name}


class Call:
    """One request for an operation, with checked parameters.

    `headers` are those of the HTTP request, if it was one; `resume_after` is the cursor after which a reader of a
    stream continues.
    """

    def __init__(
        self,
        operation: Operation,
        params: dict[str, Any],
        caller: Caller,
        headers: Mapping[str, str] | None = None,
        resume_after: int | None = None,
    ) -> None:
        self.operation = operation
        self.params = params
        self.caller = caller
        self.headers: Mapping[str, str] = headers or {}
        self.resume_after = resume_after
        self.record = Record()
        self.idempotency_key: str | None = None
        """The key of the call, for an operation whose handler keeps it itself (`own_key`)."""
        self.is_replay = False
        """Set by such a handler: the key was used before, and the answer is that of the earlier call."""
        self.left = asyncio.Event()
        """Set when the caller of an operation that waits has closed its connection: nobody reads the answer."""

    @property
    def is_dry_run(self) -> bool:
        """Whether the caller only wants to know what would happen."""
        return bool(self.params.get("check_only"))

    def note(self, *, about: str | None = None, outcome: str | None = None) -> None:
        """Say what the call is for, such as the name of an agent, and what came of it, for the audit.

        Both are short and for people. Texts that were sent do not belong here.
        """
        if about is not None:
            self.record.about = about
        if outcome is not None:
            self.record.outcome = outcome

    async def begin(self, snapshot: Mapping[str, Any]) -> None:
        """Say what the call is about to act on. Returns when that is durable. A dry run acts on nothing."""
        if not self.is_dry_run:
            self.record.snapshot = dict(snapshot)
            if self.record.on_begin is not None:
                await self.record.on_begin(self)


class Record:
    """What the audit is told about a call by its handler."""

    def __init__(self) -> None:
        self.about = ""
        self.outcome = ""
        self.snapshot: dict[str, Any] | None = None
        self.begun: int | None = None
        """The cursor of the event with which the call began to act."""
        self.on_begin: Callable[[Call], Awaitable[None]] | None = None
        """Stores that the call begins to act."""


Handler = Callable[[Call], Awaitable[object]]
"""Performs one operation. It returns the result or, for an operation that streams, batches
(`covey.kernel.operations.stream`). It raises AgentError."""
Guard = Callable[[Call], Awaitable[None]]
"""Raises AgentError for a call that is not to be performed."""
