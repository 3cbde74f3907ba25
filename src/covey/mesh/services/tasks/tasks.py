"""Tasks: created by members, claimed by one of them at a time, completed once."""

from __future__ import annotations

import base64
import os
import random
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from covey.contract.mesh_services import tasks as contract
from covey.mesh.services.addressee import Addressee, find_addressee
from covey.mesh.services.holder import calling_holder
from covey.mesh.services.keys import check_key
from covey.mesh.services.removal import remove_documents, remove_now_and_then
from covey.mesh.services.service import Service
from covey.mesh.services.tasks import table
from covey.mesh.services.tasks.news import news
from covey.mesh.services.tasks.settings import RETENTION_DAYS
from covey.mesh.services.tasks.task import CLAIMED, OPEN, Rules, Task, read_task, written
from covey.mesh.services.tasks.view import TaskViews
from covey.mesh.services.waiting import Waiting, length_of
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, AgentError, not_found, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.holder import Holder
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings
    from covey.mesh.services.tasks.table import Free

LONGEST_TITLE, LARGEST_TEXT = 500, 64 * 1024
MOST_TAGS, MOST_NEEDS = 50, 100
CANDIDATES = 20
"""How many of the best tasks are looked at at once: several claimants do not all try the same one again."""
DAY_S = 86_400.0


class TaskService(Service):
    """The service `task`. A document is a `Task` under its id."""

    name = "task"
    migrations = table.MIGRATIONS

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._views = TaskViews(documents, surroundings)
        self._waiting = Waiting(surroundings.context.clock, documents.now)
        self._claiming: set[str] = set()
        """Tasks that callers of this peer try to claim just now: others of it take different ones."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.task.create": self.create,
            "mesh.task.take": self.take,
            "mesh.task.claim": self.claim,
            "mesh.task.renew": self.renew,
            "mesh.task.complete": self.complete,
            "mesh.task.fail": self.fail,
            "mesh.task.release": self.release,
            "mesh.task.assign": self.assign,
            "mesh.task.show": self.show,
            "mesh.task.list": self.list,
        }

    @staticmethod
    def project(database: sqlite3.Connection, document: Document, before: Document | None) -> None:
        """Keep the tables that are searched."""
        del before
        table.project(database, document)

    def imported(self, key: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return a task; a claim of somebody who is not a member here ends."""
        task = read_task(value)
        if task is None:
            raise ValueError("it is not a task")
        if task.status == CLAIMED and not self.surroundings.directory.is_member(task.holder.member):
            return super().imported(key, written(structs.replace(task, status=OPEN, until=0.0)))
        return super().imported(key, value)

    async def create(self, call: Call) -> dict[str, Any]:
        """Create a task under a new id."""
        params = call.params
        title, description = check_key(params["title"], "title"), params["description"]
        _check_size(description, "description")
        if len(params["tags"]) > MOST_TAGS or len(params["depends_on"]) > MOST_NEEDS:
            raise user_error(f"a task has at most {MOST_TAGS} tags and {MOST_NEEDS} tasks that it depends on")
        for needed in params["depends_on"]:
            self._find(needed)
        creator = await calling_holder(call, self.surroundings)
        task = Task(
            title=title,
            description=description,
            priority=params["priority"],
            tags=sorted({check_key(tag, "tags") for tag in params["tags"]}),
            assignee=self._assignee(params["assignee"]),
            depends_on=sorted(set(params["depends_on"])),
            created_by=creator,
            created_at=self.documents.now(),
            changed_by=creator,
        )
        id_ = base64.b32encode(os.urandom(5)).decode().lower()
        call.note(about=id_)
        return await self._views.view(await self.documents.put(self.name, id_, written(task), after=0))

    async def take(self, call: Call) -> dict[str, Any]:
        """Claim the best task that the caller may have, and wait for one as long as it wants."""
        params = call.params
        caller, length = await calling_holder(call, self.surroundings), length_of(params["ttl"])
        taken = await self._waiting.until_had(
            lambda: self._take(caller, params["tags"], length), self._next_expiry, call
        )
        if taken is not None:
            call.note(about=taken.key)
        counts = await self.documents.replica.read(lambda database: table.counts(database, self.documents.now()))
        return {"task": None if taken is None else await self._views.view(taken), **counts._asdict()}

    async def _take(self, caller: Holder, tags: Sequence[str], length: float) -> Document | None:
        """Claim the best task of all, or another of the best ones if somebody else was quicker."""
        tried: set[str] = set()

        def fits(free: Free) -> bool:
            skipped = free.id in self._claiming or free.id in tried
            return not skipped and self._views.is_for(Addressee(free.member, free.agent, free.team), caller)

        while True:
            now = self.documents.now()
            found = await self.documents.replica.read(
                lambda database, now=now: table.free_tasks(database, now, tags, fits, CANDIDATES)  # type: ignore[misc]
            )
            best = [free.id for free in found if free.rank == found[0].rank and free.id not in self._claiming]
            if not best:
                return None
            id_ = random.choice(best) if tried else best[0]  # noqa: S311 - not a secret
            tried.add(id_)
            self._claiming.add(id_)
            try:
                return await self._claim(id_, caller, length)
            except AgentError as error:
                if error.code not in (EXIT_CONFLICT, EXIT_NOT_FOUND):
                    raise
            finally:
                self._claiming.discard(id_)

    async def _next_expiry(self) -> float | None:
        return await self.documents.replica.read(lambda database: table.next_expiry(database, self.documents.now()))

    async def claim(self, call: Call) -> dict[str, Any]:
        """Claim one task."""
        caller = await calling_holder(call, self.surroundings)
        claimed = await self._claim(call.params["id"], caller, length_of(call.params["ttl"]))
        return await self._views.view(claimed)

    async def _claim(self, id_: str, caller: Holder, length: float) -> Document:
        self._find(id_)
        # What has been completed stays so: what is found not to wait for another does not later, either.
        needed = await self.documents.replica.read(lambda database: table.needed_first(database, id_))
        return await self._change(
            id_, caller, lambda rules, task: rules.claimed(task, self.documents.now() + length, needed)
        )

    async def renew(self, call: Call) -> dict[str, Any]:
        """Make a claim last longer."""
        length = length_of(call.params["ttl"])
        return await self._changed_by(call, lambda rules, task: rules.renewed(task, self.documents.now() + length))

    async def complete(self, call: Call) -> dict[str, Any]:
        """Store the result of a task."""
        result = call.params["result"]
        _check_size(result, "result")
        return await self._changed_by(call, lambda rules, task: rules.completed(task, result))

    async def fail(self, call: Call) -> dict[str, Any]:
        """Store that a task was given up."""
        reason = call.params["reason"]
        _check_size(reason, "reason")
        return await self._changed_by(call, lambda rules, task: rules.failed(task, reason))

    async def release(self, call: Call) -> dict[str, Any]:
        """Make a task open again."""
        return await self._changed_by(call, lambda rules, task: rules.released(task))

    async def assign(self, call: Call) -> dict[str, Any]:
        """Assign a task to others."""
        assignee = self._assignee(call.params["assignee"])
        return await self._changed_by(call, lambda rules, task: rules.reassigned(task, assignee))

    async def show(self, call: Call) -> dict[str, Any]:
        """Return a task."""
        return await self._views.view(self._find(call.params["id"]))

    async def list(self, call: Call) -> dict[str, Any]:
        """Return tasks in the order in which they are to be done."""
        params = call.params
        limit, now = params["limit"], self.documents.now()
        found = await self.documents.replica.read(
            lambda database: table.listed(
                database,
                now,
                statuses=params["status"] or ["open", "claimed"],
                holder=self.documents.member if params["mine"] else "",
                tags=params["tags"],
                after=params["after"] or "",
                limit=limit + 1,
            )
        )
        return {
            "items": [await self._views.view(document, now) for document in found[:limit]],
            "next": found[limit - 1].key if len(found) > limit else None,
        }

    async def _changed_by(self, call: Call, change: Callable[[Rules, Task], Task]) -> dict[str, Any]:
        caller = await calling_holder(call, self.surroundings)
        return await self._views.view(await self._change(call.params["id"], caller, change))

    async def _change(self, id_: str, caller: Holder, change: Callable[[Rules, Task], Task]) -> Document:
        """Write what a caller makes of a task. Raises AgentError if that may not be, or another was quicker."""

        def new_value(document: Document | None) -> dict[str, Any]:
            task = None if document is None else read_task(document.value)
            if task is None:
                raise _unknown(id_)
            rules = Rules(
                id_,
                caller,
                self.documents.now(),
                label=self._views.label,
                assigned=self._views.assigned,
                is_for=self._views.is_for,
                is_member=self.surroundings.directory.is_member,
            )
            return written(change(rules, task))

        return await self.documents.change(self.name, id_, new_value)

    def _find(self, id_: str) -> Document:
        found = self.documents.get(self.name, id_)
        if found is None or read_task(found.value) is None:
            raise _unknown(id_)
        return found

    def _assignee(self, reference: str | None) -> Addressee:
        """Return who is meant; nobody in particular is anybody."""
        return find_addressee(reference, self.surroundings.directory, "assignee") if reference else Addressee()

    async def changed(self, change: Change) -> None:
        """Tell what became of a task, and run the hook if it is for this member."""
        self._waiting.wake()
        for kind, data in news(change, self._views):
            await self.surroundings.context.events.append(kind, change.document.key, data, source="mesh")
            if kind == contract.ASSIGNED and data["yours"]:
                self.surroundings.hooks.fire(["on-task-assigned"], {"event": str(kind), **data})

    async def serve(self, session: Session) -> None:
        """Remove what is old, now and then."""
        await remove_now_and_then(session, self.surroundings.context.clock, self.prune)

    async def prune(self) -> int:
        """Remove tasks that ended too long ago, and return how many this peer has removed."""
        days = float(self.surroundings.context.config.current.get(RETENTION_DAYS))
        before = self.documents.now() - days * DAY_S
        old = await self.documents.replica.read(lambda database: table.outdated(database, before))
        return await remove_documents(self.documents, self.name, old)


def _check_size(value: Any, field: str) -> None:
    size = len(msgspec.json.encode(value))
    if size > LARGEST_TEXT:
        raise user_error(
            f"the {field} has {size} bytes and may have {LARGEST_TEXT}",
            "Share a file, and name it: covey mesh file share <path>",
            field=field,
        )


def _unknown(id_: str) -> AgentError:
    return not_found(f"there is no task {id_!r}", "See `covey mesh task list`.", field="id")
