"""What a hook answers on its standard output: a JSON object, or nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

REPLY_BYTES = 64 * 1024
PRIORITIES = ("now", "next", "low")
CHANGEABLE = ("message", "priority", "meta")
DEEPEST = 32
"""How deep the values of an answer may be nested."""
SHOWN_NAMES = 3


class AnswerError(Exception):
    """The answer is not what it has to be; the message says what it is."""


class Gate(NamedTuple):
    """The decision of `pre-send` on a message."""

    allowed: bool
    document: dict[str, Any]
    """The message as it is to be sent."""
    reason: str = ""
    """Why it is not to be sent."""


def parse(out: bytes) -> dict[str, Any]:
    """Return the object that a hook wrote; empty if it wrote nothing but white space. Raises `AnswerError`."""
    if not out.strip():
        return {}
    try:
        value = msgspec.json.decode(out)
    except (ValueError, RecursionError) as error:
        msg = f"its output is not JSON: {error}"
        raise AnswerError(msg) from None
    if not isinstance(value, dict):
        raise AnswerError("its output is JSON, but not an object")
    if _is_deep(value):
        raise AnswerError(f"its output is nested deeper than {DEEPEST} levels")
    return value


def reply_of(answer: dict[str, Any]) -> str | None:
    """Return the reply in an answer; None if there is none. Raises `AnswerError` if it cannot be sent."""
    reply = answer.get("reply")
    if reply is None or reply == "":
        return None
    if not isinstance(reply, str):
        raise AnswerError("its reply is not a text")
    if len(reply.encode()) > REPLY_BYTES:
        raise AnswerError(f"its reply is longer than {REPLY_BYTES} bytes")
    return reply


def changed(document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the changes of `pre-send`. Raises `AnswerError` if it may not change what it did change.

    What is repeated as it was is not a change: a hook may print the whole document.
    """
    before = msgspec.json.decode(msgspec.json.encode(document))  # as the hook has seen it
    changes = {name: value for name, value in answer.items() if name not in before or before[name] != value}
    if others := sorted(set(changes) - set(CHANGEABLE)):
        shown = ", ".join(repr(name[:40]) for name in others[:SHOWN_NAMES])
        raise AnswerError(f"it changed {shown}, and may change only {', '.join(CHANGEABLE)}")
    if not isinstance(changes.get("message", ""), str):
        raise AnswerError("its message is not a text")
    if changes.get("priority", PRIORITIES[0]) not in PRIORITIES:
        raise AnswerError(f"its priority is not one of {', '.join(PRIORITIES)}")
    if not isinstance(changes.get("meta", {}), dict):
        raise AnswerError("its meta is not an object")
    return {**document, **changes}


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            item
            for parent in level
            if isinstance(parent, (dict, list))
            for item in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True
