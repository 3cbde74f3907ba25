"""What JetStream answers to a message that it has stored, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from covey.mesh.link.errors import Full, NotAcknowledged, Occupied, Overtaken

if TYPE_CHECKING:
    from nats.aio.msg import Msg


WRONG_LAST_SEQUENCE = (10071, 10164)
"""JetStream's codes for a message that was to be stored only after another one; the second is that of a cluster in
which the other one is just being stored."""
NO_RESOURCES = 10023
"""JetStream's code for a broker whose disk, or share of it, is full."""


class Acknowledgement(msgspec.Struct, frozen=True):
    """The place of a message in its stream."""

    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(Acknowledgement).decode


def acknowledgement(reply: Msg) -> Acknowledgement:
    """Return what a stream has answered. Raises NotAcknowledged if it has not stored the message.

    Raises Overtaken if it was to be stored only after another message, and that one is not the last any more; Occupied
    if its subject has a message already in a stream that keeps the first; Full if there is no room.
    """
    if reply.headers and reply.headers.get("Status"):
        raise NotAcknowledged(f"the broker cannot store now: status {reply.headers['Status']}")
    try:
        answer = _decode(reply.data)
    except msgspec.DecodeError:
        raise NotAcknowledged("the broker's acknowledgement cannot be read") from None
    if answer.error is not None or not answer.stream:
        if (answer.error or {}).get("err_code") in WRONG_LAST_SEQUENCE:
            raise Overtaken("something else was stored under that subject meanwhile", "Read it again, then try again.")
        said = (answer.error or {}).get("description", "no stream takes it")
        raise _refusal((answer.error or {}).get("err_code"), said)(f"the broker did not store it: {said}")
    return answer


def _refusal(code: int | None, said: str) -> type[NotAcknowledged]:
    """Return the error for what a broker said. Limits of a stream have one code, and differ in their text."""
    if said == "maximum messages per subject exceeded":
        return Occupied
    return Full if code == NO_RESOURCES or said.startswith("maximum messages") else NotAcknowledged


def not_in_time(deadline_s: float) -> NotAcknowledged:
    """Return the error for a message that was not acknowledged in time."""
    return NotAcknowledged(f"the broker did not acknowledge within {deadline_s:g} s")
