"""What is stored of a kept session: how it was started, and what became of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from covey.kernel.store.migrations import Migration
from murli import not_found, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from covey.kernel.store.store import Store

MIGRATION = Migration(
    "keeper.sessions",
    "CREATE TABLE kept_session (name TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;",
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
"""What tmux takes as the name of a session and a file system as that of a folder."""


class FormerName(NamedTuple):
    """A name that a session had until it was renamed."""

    name: str
    until: float


class KeptSession(Struct, frozen=True, kw_only=True):
    """One kept session. Everything that starts its agent again is here."""

    name: str
    former: tuple[FormerName, ...] = ()
    """Its names before that, the oldest first."""
    agent: str
    cwd: str
    args: tuple[str, ...] = ()
    env: dict[str, str | None] = {}
    """Variables for the agent; None: the value that the daemon has when the agent is started."""
    model: str = ""
    permission_mode: str = ""
    worktree: str = ""
    """The worktree that was made for the session; `cwd` is in it. Empty if there is none."""
    branch: str = ""
    keep: bool = False
    """Whether it is started again after a restart of the machine."""
    wanted: bool = True
    """Whether its agent is to run."""
    why: str = ""
    """Why its agent does not run."""
    conversation: str = ""
    """The id of the conversation, as far as it is known."""
    launch: str = ""
    """The id of the last start, which every process below the agent has in its environment."""
    launched_at: float = 0.0
    boot: str = ""
    """The boot of the machine in which it was last started."""
    pane_id: str = ""
    restarts: int = 0
    created_at: float
    folder: str
    """Where its channels are."""
    socket: str
    """Of the tmux server."""

    def name_at(self, time: float) -> str:
        """Return what the session was called then; empty before it was made."""
        if time < self.created_at:
            return ""
        return next((former.name for former in self.former if time < former.until), self.name)


class Records:
    """The kept sessions, in the database and in memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.by_name: dict[str, KeptSession] = {}

    async def load(self) -> None:
        """Read what the last daemon stored."""
        rows: list[tuple[str]] = await self._store.read(
            lambda db: db.execute("SELECT record FROM kept_session ORDER BY name").fetchall()
        )
        records = [msgspec.json.decode(text, type=KeptSession) for (text,) in rows]
        self.by_name = {record.name: record for record in records}

    async def put(self, record: KeptSession) -> None:
        """Store a session, new or changed."""
        self.by_name[record.name] = record
        await self._store.write(lambda db: _put(db, record))

    async def rename(self, before: str, record: KeptSession, also: Callable[[sqlite3.Connection], None]) -> None:
        """Store a session under the name that it has now, and what `also` changes, in one transaction."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM kept_session WHERE name = ?", (before,))
            _put(db, record)
            also(db)

        await self._store.write(work)
        self.by_name.pop(before, None)
        self.by_name[record.name] = record

    async def forget(self, name: str, also: Callable[[sqlite3.Connection], None]) -> None:
        """Remove a session, and what `also` removes, in one transaction."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM kept_session WHERE name = ?", (name,))
            also(db)

        await self._store.write(work)
        self.by_name.pop(name, None)

    def find(self, name: str) -> KeptSession:
        """Return the session of that name. Raises AgentError if there is none."""
        if record := self.by_name.get(name):
            return record
        error = not_found(
            f"there is no kept session {name[:60]!r}",
            f"Start one: covey keep start {name}" if NAME.fullmatch(name) else "See which there are: covey keep list",
            field="name",
        )
        error.valid_values = sorted(self.by_name)
        raise error


def _put(db: sqlite3.Connection, record: KeptSession) -> None:
    text = msgspec.json.encode(record).decode()
    db.execute("INSERT OR REPLACE INTO kept_session VALUES (?, ?)", (record.name, text))


def checked_name(name: str, field: str = "name") -> str:
    """Return a name that a session may have. Raises AgentError about the field."""
    if NAME.fullmatch(name):
        return name
    raise user_error(
        f"{name[:60]!r} cannot be the name of a session",
        "Use up to 40 letters, digits, - and _, the first one a letter or a digit.",
        field=field,
    )


def parse_variables(words: Iterable[str]) -> dict[str, str | None]:
    """Return variables by name, from NAME=VALUE or NAME. Raises AgentError."""
    found: dict[str, str | None] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise user_error(f"{name[:60]!r} is not the name of a variable", "Use --env NAME=VALUE.", field="env")
        found[name] = value if equals else None
    return found


def resolved_variables(variables: Mapping[str, str | None], environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables with their values now; None for one that the daemon does not have either."""
    return {name: environ.get(name) if value is None else value for name, value in variables.items()}
