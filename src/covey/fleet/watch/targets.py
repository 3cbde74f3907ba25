"""The targets in the database: which machines are watched. Of a machine behind ssh, only the alias is kept.

AgentError
├── TargetExists         target_exists: the name is taken, or the machine is known under another
└── TargetInvalid        target_invalid: that cannot be a target
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.fleet.answers.view import target_not_found
from covey.kernel.store.migrations import Migration
from murli import EXIT_CONFLICT, EXIT_USER_ERROR, AgentError

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.clock import Clock
    from covey.kernel.store.store import Store

LOCAL, SSH = "local", "ssh"
SEEN_EVERY_S = 60.0
"""How often it is written that a target was seen, while nothing else changes."""
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
INSERT INTO target (target_name, kind, connection_ref, is_default, health, updated_at)
VALUES ('host', 'local', '', 1, 'ok', 0);
""",
    digest="7331fe9e22c16b2b",
)
"""This machine is a target from the beginning. If it is removed or renamed, the next start does not add it again."""

_SSH_TARGET = re.compile(r"[\w\[][\w.@:%\[\]/+-]*")
"""An alias without characters that mean something to a shell: it may get into commands that people copy."""
_PASSWORD = re.compile(r"^(?:[a-z]+://)?[^@/\[]*:[^@]*@")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_READ = "SELECT target_name, kind, connection_ref, is_default, health, last_seen_at FROM target ORDER BY target_id"
_ADD = (
    "INSERT INTO target (target_name, kind, connection_ref, is_default, health, updated_at) VALUES (?, ?, ?, ?, ?, ?)"
)
_SEEN = "UPDATE target SET health = ?, last_seen_at = ?, updated_at = ? WHERE target_name = ?"


class TargetExists(AgentError):  # noqa: N818 - a state of the world
    """The name is taken, or the machine is a target already."""

    def __init__(self, message: str, field: str = "name") -> None:
        suggestion = "See `covey target list`; `covey target remove` forgets one."
        super().__init__(
            message, code=EXIT_CONFLICT, error="target_exists", suggestion=suggestion, recoverable=True, field=field
        )


class TargetInvalid(AgentError):  # noqa: N818 - as above
    """That cannot be a target."""

    def __init__(self, message: str, suggestion: str, field: str) -> None:
        super().__init__(
            message,
            code=EXIT_USER_ERROR,
            error="target_invalid",
            suggestion=suggestion,
            recoverable=True,
            field=field,
        )


class TargetRecord(Struct, frozen=True, kw_only=True):
    """A target as the database has it."""

    name: str
    kind: str
    connection_ref: str = ""
    """The alias for ssh; nothing for this machine."""
    is_default: bool = False
    """The machine that Covey runs on."""
    health: str = "degraded"
    last_seen_at: float | None = None


class Targets:
    """All targets, in the order in which they were added. At most one is this machine."""

    def __init__(self, store: Store, clock: Clock, known: list[TargetRecord]) -> None:
        self._store = store
        self._clock = clock
        self._known = {one.name: one for one in known}

    @classmethod
    async def open(cls, store: Store, clock: Clock) -> Targets:
        def read(connection: sqlite3.Connection) -> list[TargetRecord]:
            return [
                TargetRecord(
                    name=name, kind=kind, connection_ref=ref, is_default=bool(default), health=health, last_seen_at=seen
                )
                for name, kind, ref, default, health, seen in connection.execute(_READ)
            ]

        return cls(store, clock, await store.read(read))

    @property
    def all(self) -> list[TargetRecord]:
        return list(self._known.values())

    def get(self, name: str) -> TargetRecord:
        """Return the target of that name. Raises AgentError (`target_not_found`) if there is none."""
        if name not in self._known:
            raise target_not_found(name, self._known)
        return self._known[name]

    async def add(self, name: str, kind: str, alias: str = "") -> TargetRecord:
        """Add a target; it is in the database when this returns. Raises TargetInvalid or TargetExists."""
        if not _NAME.fullmatch(name):
            raise TargetInvalid(
                f"{name[:80]!r} cannot be the name of a target",
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
                f"{alias[:80]!r} is not an ssh alias", "Pass what you would give to ssh: ssh <alias>.", "ssh_target"
            )
        if name in self._known:
            raise TargetExists(f"there is a target {name!r} already")
        for other in self._known.values():
            if (other.kind, other.connection_ref) == (kind, alias):
                machine = f"ssh {alias}" if alias else "this machine"
                raise TargetExists(f"{machine} is the target {other.name!r} already", "ssh_target" if alias else "kind")
        known = self._known[name] = TargetRecord(name=name, kind=kind, connection_ref=alias, is_default=kind == LOCAL)
        row = (name, kind, alias, known.is_default, known.health, self._clock.time())
        try:
            await self._store.write(lambda connection: connection.execute(_ADD, row).rowcount)
        except BaseException:
            self._known.pop(name, None)
            raise
        return known

    async def remove(self, name: str) -> None:
        """Remove a target, from the database when this returns. Raises AgentError if there is none of that name."""
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
        """Note how a target is. Written when its health has changed, and from time to time that it was seen."""
        known = self._known.get(name)
        if known is None or (
            known.health == health and (at is None or at - (known.last_seen_at or 0.0) < SEEN_EVERY_S)
        ):
            return
        self._known[name] = replace(known, health=health, last_seen_at=at or known.last_seen_at)
        values = (health, self._known[name].last_seen_at, self._clock.time(), name)
        await self._store.write(lambda connection: connection.execute(_SEEN, values).rowcount)
