"""The table of tasks in the replica: what is searched for when somebody wants the next one, or a list."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.store.migrations import Migration
from covey.mesh.services.replica import document_of
from covey.mesh.services.tasks.task import COMPLETED, read_task

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from covey.mesh.services.document import Document

MIGRATIONS = (
    Migration(
        "task.items",
        """
CREATE TABLE task_item (
    id         TEXT PRIMARY KEY,
    status     TEXT NOT NULL,
    rank       INTEGER NOT NULL, -- of its priority: the first to be done is the lowest
    created_at REAL NOT NULL,
    until      REAL NOT NULL,
    holder     TEXT NOT NULL,
    member     TEXT NOT NULL, -- of its assignee, as the next two
    agent      TEXT NOT NULL,
    team       TEXT NOT NULL,
    ended_at   REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX task_item_next ON task_item (rank, created_at, id) WHERE status IN ('open', 'claimed');
CREATE TABLE task_tag (
    tag TEXT NOT NULL,
    id  TEXT NOT NULL,
    PRIMARY KEY (tag, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_tag_id ON task_tag (id);
CREATE TABLE task_need (
    id    TEXT NOT NULL,
    needs TEXT NOT NULL,
    PRIMARY KEY (id, needs)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_need_needs ON task_need (needs);
""",
    ),
)
RANKS = {"now": 0, "next": 1, "low": 2}
_BLOCKED = (
    "EXISTS (SELECT 1 FROM task_need LEFT JOIN task_item AS needed ON needed.id = task_need.needs "
    "WHERE task_need.id = item.id AND coalesce(needed.status, '') <> 'completed')"
)
_FREE = "(item.status = 'open' OR (item.status = 'claimed' AND item.until <= :now))"


class Counts(NamedTuple):
    """How many tasks there are of which nobody has claimed one, that wait for others, and that somebody has."""

    open: int
    blocked: int
    claimed: int


class Free(NamedTuple):
    """A task that nobody has and that waits for none, with its assignee."""

    id: str
    rank: int
    member: str
    agent: str
    team: str


def project(database: sqlite3.Connection, document: Document) -> None:
    """Derive the rows of a task from its newest version."""
    for table in ("task_item", "task_tag", "task_need"):
        database.execute(f"DELETE FROM {table} WHERE id = ?", (document.key,))  # noqa: S608 - constants
    task = None if document.value is None else read_task(document.value)
    if task is None:
        return
    database.execute(
        "INSERT INTO task_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.key,
            task.status,
            RANKS[task.priority],
            task.created_at,
            task.until,
            task.holder.member,
            task.assignee.member,
            task.assignee.agent,
            task.assignee.group,
            task.ended_at,
        ),
    )
    database.executemany("INSERT OR IGNORE INTO task_tag VALUES (?, ?)", [(tag, document.key) for tag in task.tags])
    database.executemany(
        "INSERT OR IGNORE INTO task_need VALUES (?, ?)", [(document.key, one) for one in task.depends_on]
    )


def free_tasks(
    database: sqlite3.Connection, now: float, tags: Sequence[str], fits: Callable[[Free], bool], limit: int
) -> list[Free]:
    """Return the best of the tasks that nobody has and that wait for none, of those that fit."""
    rows = database.execute(
        f"SELECT item.id, rank, member, agent, team FROM task_item AS item WHERE status IN ('open', 'claimed') "  # noqa: S608 - constants
        f"AND {_FREE} AND NOT {_BLOCKED} {_tagged(tags)} ORDER BY rank, created_at, id",
        {"now": now, **_named(tags)},
    )
    return list(islice((free for row in rows if fits(free := Free(*row))), limit))


def counts(database: sqlite3.Connection, now: float) -> Counts:
    """Return how many tasks there are that are to be done."""
    row = database.execute(
        f"SELECT count(*) FILTER (WHERE {_FREE} AND NOT {_BLOCKED}), count(*) FILTER (WHERE {_FREE} AND {_BLOCKED}), "  # noqa: S608 - constants
        f"count(*) FILTER (WHERE NOT {_FREE}) FROM task_item AS item WHERE status IN ('open', 'claimed')",
        {"now": now},
    ).fetchone()
    return Counts(*row)


def next_expiry(database: sqlite3.Connection, now: float) -> float | None:
    """Return when the next claim expires; None if nothing is claimed."""
    found: float | None = database.execute(
        "SELECT min(until) FROM task_item WHERE status = 'claimed' AND until > ?", (now,)
    ).fetchone()[0]
    return found


def needed_first(database: sqlite3.Connection, id_: str) -> list[str]:
    """Return the tasks that have to be completed before this one and are not."""
    rows = database.execute(
        "SELECT needs FROM task_need LEFT JOIN task_item AS needed ON needed.id = needs "
        "WHERE task_need.id = ? AND coalesce(needed.status, '') <> ? ORDER BY needs",
        (id_, COMPLETED),
    )
    return [needs for (needs,) in rows]


def listed(
    database: sqlite3.Connection,
    now: float,
    *,
    statuses: Sequence[str],
    holder: str,
    tags: Sequence[str],
    after: str,
    limit: int,
) -> list[Document]:
    """Return tasks with one of the statuses at this moment, in the order in which they are to be done.

    `holder` restricts them to those that a member has, if it is not empty.
    """
    wanted = ", ".join(f":status{index}" for index in range(len(statuses)))
    rows = database.execute(
        "SELECT service, key, value, revision, author, at, private FROM task_item AS item JOIN document "  # noqa: S608 - constants
        "ON document.service = 'task' AND NOT private AND key = item.id WHERE "
        f"CASE WHEN {_FREE} THEN 'open' ELSE status END IN ({wanted}) {_tagged(tags)} "
        f"AND (:holder = '' OR (holder = :holder AND NOT {_FREE})) AND (:after = '' OR "
        "(rank, created_at, item.id) > (SELECT rank, created_at, id FROM task_item WHERE id = :after)) "
        "ORDER BY rank, created_at, item.id LIMIT :limit",
        {
            "now": now,
            "holder": holder,
            "after": after,
            "limit": limit,
            **{f"status{index}": status for index, status in enumerate(statuses)},
            **_named(tags),
        },
    )
    return [document_of(row) for row in rows]


def outdated(database: sqlite3.Connection, before: float) -> list[str]:
    """Return tasks that ended before a time and that no task waits for which has not ended."""
    rows = database.execute(
        "SELECT id FROM task_item AS item WHERE status IN ('completed', 'failed') AND ended_at < ? AND NOT EXISTS "
        "(SELECT 1 FROM task_need JOIN task_item AS later ON later.id = task_need.id WHERE task_need.needs = item.id "
        "AND later.status IN ('open', 'claimed')) LIMIT 1000",
        (before,),
    )
    return [id_ for (id_,) in rows]


def _tagged(tags: Sequence[str]) -> str:
    return "".join(
        f"AND EXISTS (SELECT 1 FROM task_tag WHERE tag = :tag{index} AND task_tag.id = item.id) "  # noqa: S608 - a number
        for index in range(len(tags))
    )


def _named(tags: Sequence[str]) -> dict[str, str]:
    return {f"tag{index}": tag for index, tag in enumerate(tags)}
