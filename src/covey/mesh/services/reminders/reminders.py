"""Reminders: made by a member, for itself or for others; each recipient's own peer lets them come."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from msgspec import structs

from covey.kernel.clock import sleep_until, timestamp
from covey.kernel.cron import NEVER, cron_problem, timezone_problem
from covey.kernel.local_zone import local_zone
from covey.kernel.moments import seconds
from covey.mesh.names import EVERYBODY
from covey.mesh.services.addressee import Addressee, find_addressee
from covey.mesh.services.holder import Holder, calling_holder, holder_view
from covey.mesh.services.keys import is_key
from covey.mesh.services.reminders.firing import Firing, reminder_id
from covey.mesh.services.reminders.reminder import Reminder, parse_reminder, read_reminder, written
from covey.mesh.services.removal import remove_now_and_then
from covey.mesh.services.replica import document_of
from covey.mesh.services.service import Service
from murli import AgentError, not_found, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings

LONGEST_MESSAGE = 16 * 1024
LOOK_S = 30.0
"""A sleep does not notice that the machine slept too, or that the clock was set."""
BEGIN_S = 10.0
SOONEST_S = 0.001
"""After it was made, a reminder comes: one that is due when it is made would never have been ahead."""
KEPT_S = 30 * 86_400.0
"""How long a reminder is kept that does not come any more, for peers that do not run meanwhile."""


class Reminders(Service):
    """The service `reminder`. A document is a `Reminder` under `<author>/<id>`; only its author may change it."""

    name = "reminder"

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._firing = Firing(documents, surroundings)
        self._changed = asyncio.Event()

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.remind": self.remind,
            "mesh.reminder.list": self.coming,
            "mesh.reminder.cancel": self.cancel,
        }

    def allows(self, key: str, author: str) -> bool:
        """Return whether this author may write that document: nobody speaks for another."""
        return key.partition("/")[0] == author

    def imported(self, key: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the reminder as one of this member; None if it does not come any more, or is for nobody here."""
        author, _, id_ = key.partition("/")
        found = parse_reminder(value)
        if found is None or not id_ or not is_key(id_) or "/" in id_:
            raise ValueError("it is not a reminder")
        own, now = self.documents.member, self.documents.now()
        if author == own:
            return key, value
        to = structs.replace(found.to, member=own) if found.to.member == author else found.to
        reminder = structs.replace(found, to=to, created_at=now)
        gone = to.member and not self.surroundings.directory.is_member(to.member)
        return None if gone or reminder.next_after(now) == NEVER else (f"{own}/{id_}", written(reminder))

    async def run(self) -> None:
        """Let reminders come when they are due, as long as the peer runs."""
        clock = self.surroundings.context.clock
        await self._begin()
        while True:
            self._changed.clear()
            soonest = await self._firing.fire(await self._all())
            await sleep_until(self._changed, clock, min(max(soonest - self.documents.now(), 0.0), LOOK_S))

    async def _begin(self) -> None:
        """Wait a little for the connection: with it come the broker's time, and news of what was cancelled."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEGIN_S):
                await self.surroundings.link.tried.wait()
                if self.surroundings.link.session is not None:
                    await self.documents.caught_up.wait()

    async def changed(self, change: Change) -> None:
        """Look whether a new one is due sooner."""
        del change
        self._changed.set()

    async def remind(self, call: Call) -> dict[str, Any]:
        """Make a reminder."""
        params, now = call.params, self.documents.now()
        if not params["message"].strip() or len(params["message"].encode()) > LONGEST_MESSAGE:
            raise user_error(f"a message has 1 to {LONGEST_MESSAGE} bytes", "Give one.", field="message")
        holder = await calling_holder(call, self.surroundings)
        private = not params["to"]
        everybody = params["to"] == EVERYBODY
        to = Addressee(member=self.documents.member)
        if not private and not everybody:
            to = find_addressee(params["to"], self.surroundings.directory, "to")
        tz = params["tz"] or local_zone()
        at, cron = _when(params, tz, now)
        reminder = Reminder(
            message=params["message"],
            to=Addressee() if everybody else to,
            everybody=everybody,
            at=at,
            cron=cron,
            tz=tz,
            created_at=now,
            agent=holder.agent,
        )
        id_ = base64.b32encode(os.urandom(5)).decode().lower()
        call.note(about=id_)
        key = f"{self.documents.member}/{id_}"
        return self._view(await self.documents.put(self.name, key, written(reminder), private=private, after=0))

    async def cancel(self, call: Call) -> dict[str, Any]:
        """Delete a reminder of this member."""
        key = f"{self.documents.member}/{call.params['id']}"
        found = self.documents.get(self.name, key, private=True) or self.documents.get(self.name, key)
        if found is None or read_reminder(found) is None:
            raise not_found(f"you have no reminder {call.params['id']!r}", "See `covey mesh reminders`.", field="id")
        await self.documents.put(self.name, key, None, private=found.private, after=found.revision)
        return self._view(found)

    async def coming(self, call: Call) -> dict[str, Any]:
        """Return the reminders that still come, the next one first."""
        views = [self._view(one) for one in await self._all() if read_reminder(one) is not None]
        found = [view for view in views if view["next_at"] is not None]
        found.sort(key=lambda view: (view["next_at"], view["id"]))
        limit = call.params["limit"]
        return {"items": found[:limit], "more": len(found) > limit}

    async def serve(self, session: Session) -> None:
        """Remove own reminders that do not come any more, now and then."""
        await remove_now_and_then(session, self.surroundings.context.clock, self.prune)

    async def prune(self) -> None:
        """Remove own reminders that came for the last time long ago."""
        before = self.documents.now() - KEPT_S
        for document in await self._all():
            reminder = read_reminder(document)
            if document.author == self.documents.member and reminder is not None and not reminder.cron:
                if reminder.at >= before:
                    continue
                try:
                    await self.documents.put(
                        self.name, document.key, None, private=document.private, after=document.revision
                    )
                except AgentError:
                    return

    async def _all(self) -> list[Document]:
        def read(database: sqlite3.Connection) -> list[Document]:
            rows = database.execute(
                "SELECT service, key, value, revision, author, at, private FROM document WHERE service = 'reminder' "
                "AND value IS NOT NULL ORDER BY key"
            )
            return [document_of(row) for row in rows]

        return await self.documents.replica.read(read)

    def _view(self, document: Document) -> dict[str, Any]:
        reminder = read_reminder(document)
        assert reminder is not None  # it was read as one before
        coming = reminder.next_after(self.documents.now())
        return {
            "id": reminder_id(document.key),
            "message": reminder.message,
            "to": EVERYBODY if reminder.everybody else reminder.to.label(self.surroundings.directory),
            "at": None if reminder.cron else timestamp(reminder.at),
            "cron": reminder.cron or None,
            "tz": reminder.tz,
            "next_at": None if coming == NEVER else timestamp(coming),
            "created_by": holder_view(Holder(document.author, reminder.agent), self.surroundings),
            "created_at": timestamp(reminder.created_at),
            "private": document.private,
        }


def _when(params: Mapping[str, Any], tz: str, now: float) -> tuple[float, str]:
    """Return when a reminder comes: a time, or a cron expression. Raises AgentError."""
    given = [name for name in ("in", "at", "cron") if params[name]]
    if len(given) != 1:
        raise user_error("a reminder comes at one time", "Give one of --in, --at and --cron.", field="at")
    if problem := timezone_problem(tz):
        raise user_error(problem, "See `timedatectl list-timezones`.", field="tz")
    if params["in"]:
        return now + max(seconds(params["in"], "in"), SOONEST_S), ""
    if params["at"]:
        return _moment(params["at"], tz, now), ""
    expression = " ".join(params["cron"].split())
    if problem := cron_problem(expression):
        raise user_error(f"{expression[:60]!r} {problem}", "Such as '0 9 * * 1-5'.", field="cron")
    return 0.0, expression


def _moment(text: str, tz: str, now: float) -> float:
    try:
        parsed = datetime.fromisoformat(text.strip())
        at = (parsed if parsed.tzinfo else parsed.replace(tzinfo=ZoneInfo(tz))).timestamp()
    except (ValueError, OverflowError):
        raise user_error(
            f"invalid time {text[:60]!r}", f"Pass --at {timestamp(now + 3600)}, or --in 1h.", field="at"
        ) from None
    if at <= now:
        raise user_error(f"{text} is past: it is {timestamp(now)} now", "Pass a time that comes.", field="at")
    return at
