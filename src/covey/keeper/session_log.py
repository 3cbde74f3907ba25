"""What happened to a kept session, from the journal, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract import keeper_events
from covey.kernel.clock import timestamp
from covey.kernel.events.event import Kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.keeper.sessions.record import KeptSession
    from covey.kernel.events.events import Events
    from covey.kernel.events.journal import Reader


async def read_log(events: Events, session: KeptSession, limit: int) -> list[dict[str, Any]]:
    """Return the last records about a session, the latest last, also those under its former names."""

    def work(reader: Reader) -> list[dict[str, Any]]:
        found = list[dict[str, Any]]()
        for event in reader.backwards(Kinds(list(SENTENCES))):
            if event.time < session.created_at:
                break
            if event.subject == session.name_at(event.time):
                text = SENTENCES[event.kind](event.data)
                found.append({"at": timestamp(event.time), "kind": event.kind, "text": text})
            if len(found) >= limit:
                break
        return found[::-1]

    return await events.read(work)


def _started(data: Mapping[str, Any]) -> str:
    conversation = "with its conversation" if data["resumed"] else "with a new conversation"
    return f"started, pid {data['pid']}, {conversation}: {data['why']}"


def _ended(data: Mapping[str, Any]) -> str:
    if "starts_in" in data:
        return f"crashed: {data['why']}; it is started again in {data['starts_in']:g} s"
    return f"ended: {data['why']}"


def _delivered(data: Mapping[str, Any]) -> str:
    again = ", sent again" if data.get("again") else ""
    return f"messages: {data['messages']} {data['rung']} by the agent, from {', '.join(data['channels'])}{again}"


SENTENCES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    keeper_events.SESSION_STARTED: _started,
    keeper_events.SESSION_ENDED: _ended,
    keeper_events.MESSAGE_ACCEPTED: lambda data: f"messages: {data['messages']} came in on {data['channel']}",
    keeper_events.MESSAGE_DELIVERED: _delivered,
    keeper_events.TURN_FINISHED: lambda data: (
        f"turn {'interrupted' if data['interrupted'] else 'finished'}, {len(data['turn'])} blocks"
    ),
}
