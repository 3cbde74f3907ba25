"""The book of targets: which machines are looked at. It stands in the database; of a machine behind ssh it holds the alias and nothing else.

AgentError
├── TargetExists         E_TARGET_EXISTS: the name is taken, or the machine is known under another
└── TargetInvalid        E_TARGET_INVALID: that cannot be a target
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.fleet.view import target_not_found
from covey.kernel.migrations import Migration
from murli import EXIT_CONFLICT, EXIT_USER_ERROR, AgentError

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.clock import Clock
    from covey.kernel.store import Store

LOCAL, SSH = "local", "ssh"
SEEN_EVERY_S = 60.0
"""How exactly the database knows when a target was last seen, while nothing else changes."""
MIGRATION = Migration(
    "fleet.targets",
    """
CREATE TABLE target (
    target_id      INTEGER PRIMARY KEY,
    target_name    TEXT NOT NULL UNIQUE,
    kind           TEXT NOT NULL CHECK (kind IN ('local', 'ssh')),
    connection_ref TEXT NOT NULL,
    is_default     INTEGER NOT NULL,
    health         TEXT NOT NULL CHECK (health IN ('ok', 'degraded', 'down')),
    last_seen_at   REAL,
    updated_at     REAL NOT NULL
) STRICT;
INSERT INTO target (target_name, kind, connection_ref, is_default, health, updated_at) VALUES ('host', 'local', '', 1, 'ok', 0);
""",
    digest="7331fe9e22c16b2b",
)
"""This machine is a target from the beginning; whoever removes it, or gives it another name, is not contradicted at the next start."""

_SSH_TARGET = re.compile(r"[\w\[][\w.@:%\[\]/+-]*")
"""Without what a shell would take for more than a name: an alias may get into commands that people copy."""
_PASSWORD = re.compile(r"^(?:[a-z]+://)?[^@/\[]*:[^@]*@")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_READ = "SELECT target_name, kind, connection_ref, is_default, health, last_seen_at FROM target ORDER BY target_id"
_ADD = (
    "INSERT INTO target (target_name, kind, connection_ref, is_default, health, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
)
_SEEN = "UPDATE target SET health = ?, last_seen_at = ?, updated_at = ? WHERE target_name = ?"


class TargetExists(AgentError):  # noqa: N818 - a state of the world
    """It is there already."""

    def __init__(self, message: str, field: str = "name") -> None:
        suggestion = "See `covey target list`; `covey target remove` forgets one."
        super().__init__(
            message, code=EXIT_CONFLICT, error="E_TARGET_EXISTS", suggestion=suggestion, recoverable=True, field=field
        )


class TargetInvalid(AgentError):  # noqa: N818 - as above
    """That cannot be a target."""

    def __init__(self, message: str, suggestion: str, field: str) -> None:
        super().__init__(
            message,
            code=EXIT_USER_ERROR,
            error="E_TARGET_INVALID",
            suggestion=suggestion,
            recoverable=True,
            field=field,
        )


class Known(Struct, frozen=True, kw_only=True):
    """A target as the book has it."""

    name: str
    kind: str
    connection_ref: str = ""
    """The alias for ssh; nothing for this machine."""
    is_default: bool = False
    """The machine that Covey runs on."""
    health: str = "degraded"
    last_seen_at: float | None = None


class Targets:
    """All of them, in the order in which they were added. At most one is this machine."""

    def __init__(self, store: Store, clock: Clock, known: list[Known]) -> None:
        self._store = store
        self._clock = clock
        self._known = {one.name: one for one in known}

    @classmethod
    async def open(cls, store: Store, clock: Clock) -> Targets:
        def read(connection: sqlite3.Connection) -> list[Known]:
            return [
                Known(
                    name=name, kind=kind, connection_ref=ref, is_default=bool(default), health=health, last_seen_at=seen
                )
                for name, kind, ref, default, health, seen in connection.execute(_READ)
            ]

        return cls(store, clock, await store.read(read))

    @property
    def all(self) -> list[Known]:
        return list(self._known.values())

    def get(self, name: str) -> Known:
        """`E_TARGET_NOT_FOUND` if there is none of that name."""
        if name not in self._known:
            raise target_not_found(name, self._known)
        return self._known[name]

    async def add(self, name: str, kind: str, alias: str = "") -> Known:
        """A new target, in the database when this returns."""
        if not _NAME.fullmatch(name):
            raise TargetInvalid(
                f"{name[:80]!r} is no name for a target",
                "Use letters, digits, dots, dashes and underscores; at most 63.",
                "name",
            )
        if kind == LOCAL and alias:
            raise TargetInvalid(
                "this machine is not reached by ssh", "Leave --ssh-target out, or pass --kind ssh.", "ssh_target"
            )
        alias = (alias or name) if kind == SSH else ""
        if _PASSWORD.search(alias):
            raise TargetInvalid(
                "an ssh target cannot hold a password",
                "Pass user@host or an alias; set up a key, or an agent, with ssh itself.",
                "ssh_target",
            )
        if alias and not _SSH_TARGET.fullmatch(alias):
            raise TargetInvalid(
                f"{alias[:80]!r} is no ssh alias", "Pass what you would give to ssh: ssh <alias>.", "ssh_target"
            )
        if name in self._known:
            raise TargetExists(f"there is a target {name!r} already")
        for other in self._known.values():
            if (other.kind, other.connection_ref) == (kind, alias):
                machine = f"ssh {alias}" if alias else "this machine"
                raise TargetExists(f"{machine} is the target {other.name!r} already", "ssh_target" if alias else "kind")
        known = self._known[name] = Known(name=name, kind=kind, connection_ref=alias, is_default=kind == LOCAL)
        row = (name, kind, alias, known.is_default, known.health, self._clock.time())
        try:
            await self._store.write(lambda connection: connection.execute(_ADD, row).rowcount)
        except BaseException:
            self._known.pop(name, None)
            raise
        return known

    async def remove(self, name: str) -> None:
        """Forget one, for good when this returns."""
        known = self.get(name)
        del self._known[name]
        try:
            await self._store.write(
                lambda connection: connection.execute("DELETE FROM target WHERE target_name = ?", (name,)).rowcount
            )
        except BaseException:
            self._known.setdefault(name, known)
            raise

    async def seen(self, name: str, health: str, at: float | None) -> None:
        """How a target is. Written when its health is another, and once in a while that it was seen."""
        known = self._known.get(name)
        if known is None or (
            known.health == health and (at is None or at - (known.last_seen_at or 0.0) < SEEN_EVERY_S)
        ):
            return
        self._known[name] = replace(known, health=health, last_seen_at=at or known.last_seen_at)
        values = (health, self._known[name].last_seen_at, self._clock.time(), name)
        await self._store.write(lambda connection: connection.execute(_SEEN, values).rowcount)
