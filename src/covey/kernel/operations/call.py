"""One call of an operation: what is asked for, and who asks. Every way into the daemon makes one for the handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.contract import Operation


UNIX: Final = "unix"
TCP: Final = "tcp"
Surface = Literal["cli", "mcp", "http", "internal"]


class Caller(NamedTuple):
    """Who asks: the process at the other end of a connection, as far as the system names it, or a subsystem."""

    transport: Literal["unix", "tcp", "internal"]
    uid: int | None = None
    pid: int | None = None
    subsystem: str = ""
    surface: Surface = "internal"
    """By which program it asks, as that program says: for the audit, and for what is offered to agents only."""

    @property
    def identity(self) -> str:
        """A name under which this caller's calls are counted together: `subsystem:keeper`, `uid:1000` or `tcp`."""
        if self.subsystem:
            return f"subsystem:{self.subsystem}"
        return self.transport if self.uid is None else f"uid:{self.uid}"

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


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


Handler = Callable[[Call], Awaitable[object]]
"""Performs one operation. It returns the result or, for an operation that streams, batches
(`covey.kernel.operations.stream`). It raises AgentError."""
