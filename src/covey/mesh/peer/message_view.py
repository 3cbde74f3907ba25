"""A message of the inbox as operations and events show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from covey.kernel.clock import timestamp
from covey.mesh.names import EVERYBODY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.mesh.directory.directory import Directory
    from covey.mesh.inbox.inbox import HeldBack, Message


def message_view(message: Message, mesh: str, own_name: str) -> dict[str, Any]:
    """Return the shape `MeshMessage` of a message. `own_name` is the name of this member, for mentions."""
    everybody = message.topic == EVERYBODY
    return {
        "cursor": message.position,
        "id": message.id,
        "mesh": mesh,
        "kind": "broadcast" if everybody else message.kind,
        "from": message.sender,
        "from_name": message.sender_name,
        "from_agent": message.from_agent,
        "to_agent": message.agent,
        "topic": message.topic if message.topic and not everybody else None,
        "text": message.text,
        "priority": message.priority,
        "meta": message.meta or {},
        "reply_to_id": message.reply_to or None,
        "mentions": message.mentions,
        "mentioned": mentions(message, own_name),
        "hops": message.hops,
        "sent_at": _moment(message.sent_at),
        "received_at": _moment(message.received_at),
        "late": message.late,
    }


def held_view(held: Sequence[HeldBack], directory: Directory) -> list[dict[str, Any]]:
    """Return the shapes `MeshHeld` of messages that are held back."""
    return [
        {
            "member": one.sender,
            "name": directory.name_of(one.sender),
            "messages": one.messages,
            "until": _moment(one.until),
        }
        for one in held
    ]


def mentions(message: Message, name: str) -> bool:
    """Return whether a member is mentioned: by the sender's list, or as @name in the text."""
    if any(one.removeprefix("@").lower() == name.lower() for one in message.mentions):
        return True
    return re.search(rf"(?<![\w@])@{re.escape(name)}(?![\w-])", message.text, re.IGNORECASE) is not None


def _moment(seconds: float) -> str:
    return timestamp(min(max(seconds, 0.0), 253402300799.0))
