"""What the graph needs of an engine that executes Cypher, and what engine and peer say to each other.

EngineError
├── StatementError        the engine refuses the statement, or it takes too long
├── NotAReadError         the statement would write
├── EngineCrashedError    the engine's process has ended while it worked
└── EngineFaultError      the machine, not the statement: the disk is full, a file cannot be written
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAPHQLITE, APSW = "0.12.0", "3.54.1.0"
ENGINE = f"graphqlite {GRAPHQLITE}, apsw {APSW}, rules 1"
"""What executes statements here. Replicas are equal only if all of them have the same: the log is pinned to one.

`rules` counts the changes of what `child/` makes of a statement."""

Outcome = Literal["applied", "failed", "refused", "unread", "repeated", "crashed"]
"""What became of an entry: it was executed; it failed, and changed nothing; its author may not write, or it is not one;
its keys are not known yet; its id has come before; it has crashed the engine twice, and was put aside."""


class Position(Struct, frozen=True, kw_only=True):
    """How far the log was applied."""

    sequence: int = 0
    digest: bytes = b""
    """Of the sealed entry with that sequence."""
    engine: str = ""
    """The engine to which the log is pinned; empty before its first entry."""
    latest: dict[str, float] = {}
    """When the broker stored the latest accepted entry of each author."""
    unread: list[tuple[str, int]] = []
    """Authors and epochs of the entries that could not be opened."""


class Queued(Struct, frozen=True, kw_only=True):
    """One entry of the log on its way into the engine."""

    sequence: int
    digest: bytes
    id: str
    author: str
    at: float
    """When the broker stored it."""
    outcome: Outcome = "applied"
    """Unless it is `applied`, the entry is only written down."""
    reason: str = ""
    epoch: int = 0
    engine: str = ""
    statement: str = ""
    params: dict[str, Any] = {}
    now_ms: int = 0


class Counters(Struct, frozen=True, kw_only=True):
    """What a statement has changed."""

    nodes_created: int = 0
    nodes_deleted: int = 0
    relationships_created: int = 0
    relationships_deleted: int = 0
    properties_set: int = 0
    labels_added: int = 0


class Answer(Struct, frozen=True, kw_only=True):
    """The rows of a statement, and what it has changed."""

    rows: list[Any] = []
    truncated: bool = False
    counters: Counters | None = None


class Applied(Struct, frozen=True, kw_only=True):
    """What became of one entry."""

    sequence: int
    id: str
    outcome: Outcome
    reason: str = ""
    answer: Answer | None = None


class PutAside(Struct, frozen=True, kw_only=True):
    """An entry that was not executed, or has failed."""

    sequence: int
    author: str
    outcome: str
    reason: str


class Facts(Struct, frozen=True, kw_only=True):
    """What the graph holds."""

    nodes: int
    relationships: int
    entries: int
    failed: int
    not_applied: list[PutAside]
    """The newest entries that were refused, put aside, or could not be opened."""
    digest: str
    """A hash of all that the graph holds. Replicas that have applied as much as each other have the same."""


class EngineError(Exception):
    """The engine did not do what it was asked."""


class StatementError(EngineError):
    """The engine refuses the statement, or it takes too long."""


class NotAReadError(EngineError):
    """The statement would write."""


class EngineCrashedError(EngineError):
    """The engine's process has ended while it worked."""

    def __init__(self, reason: str, *, by_statement: bool) -> None:
        super().__init__(reason)
        self.by_statement = by_statement
        """Whether the statement did it; else somebody has ended the process, or it could not be started."""


class EngineFaultError(EngineError):
    """The machine, not the statement: the disk is full, a file cannot be written."""


class GraphEngine(Protocol):
    """Executes statements on the graph of this peer, which is in one file with how far the log was applied.

    All methods raise EngineCrashedError or EngineFaultError. One request is executed after the other.
    """

    async def position(self) -> Position:
        """Return how far the log was applied."""

    async def read(self, statement: str, params: dict[str, Any], *, limit: int, deadline_s: float) -> Answer:
        """Return the rows of a statement that reads. Raises StatementError or NotAReadError."""

    async def try_out(self, entry: Queued, *, deadline_s: float) -> None:
        """Execute a statement that writes, and undo it. Raises StatementError."""

    async def apply(self, entries: Sequence[Queued], *, answer_for: Sequence[str], limit: int) -> list[Applied]:
        """Execute entries in order, and store that. Those that were applied before are left out of the answer.

        The rows of entries whose ids are in `answer_for` are in the answer.
        """

    async def count_crash(self, sequence: int) -> int:
        """Store that an entry has crashed the engine, and return how often it has."""

    async def facts(self) -> Facts:
        """Return what the graph holds."""

    async def start_anew(self, keep_as: str = "") -> None:
        """Forget everything. The file is kept under another name if one is given."""

    async def rest(self) -> None:
        """End what runs; it is started again when it is needed."""
