"""A kind of event, declared once: the name under which it is appended and consumed, and what it carries."""

from __future__ import annotations

from covey.contract.operation import shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self


class EventKind(str):
    """The name of a kind of event, such as `agent.state`, with its declaration.

    It is a string, so that it can be compared with the kind of an event that was read from the journal. `subject` says
    what the subject of such an event is, `data` is the JSON Schema of its data.
    """

    __slots__ = ("data", "subject", "summary")

    data: dict[str, Any]
    subject: str
    summary: str

    def __new__(cls, name: str, summary: str, *, subject: str = "", data: Mapping[str, Any] | None = None) -> Self:
        """Declare a kind. Without `subject` its events have none, without `data` they carry none."""
        kind = super().__new__(cls, name)
        kind.summary = summary
        kind.subject = subject
        kind.data = dict(data or shape())
        return kind
