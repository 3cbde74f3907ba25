"""One request of one agent that can be answered through its hook, from its opening to its end. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from covey.agents.approvals import PermissionRequest  # noqa: TC001 - a Struct reads its annotations
from covey.agents.call_text import CUT
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    from covey.fleet.answers.view import Row

OPEN: Final = "open"
ANSWERED: Final = "answered"
WITHDRAWN: Final = "withdrawn"
EXPIRED: Final = "expired"
HOOK, TERMINAL, POLICY = "hook", "terminal", "policy"
ALLOW, DENY, ANSWER = "allow", "deny", "answer"
RECORDED_CHARACTERS = 16_000
"""Of the command in an event, and after the end of an approval."""
SHOWS_ALL = "covey approvals"
"""The command that shows whole what is asked."""
ID_END = 6
"""Characters at the end of an id by which people name an approval."""


class Approval(Struct, frozen=True, kw_only=True):
    """A request, who asks, until when, and what came of it."""

    id: str
    runtime_id: str
    ref: str
    target: str
    agent: str
    pid: int
    """Of the agent."""
    request: PermissionRequest
    opened_at: float
    expires_at: float
    status: Literal["open", "answered", "withdrawn", "expired"] = OPEN
    decision: Literal["", "allow", "deny", "answer"] = ""
    message: str = ""
    always: bool = False
    via: Literal["", "hook", "terminal", "policy"] = ""
    by: dict[str, Any] = {}
    why: str = ""
    closed_at: float | None = None
    left_out: int = 0
    """Characters of the request's text that an event, or what is kept after the end, does not have."""

    @property
    def short_id(self) -> str:
        return self.id[-ID_END:]

    @property
    def commands(self) -> list[str]:
        """The commands that settle it."""
        return settling(self.short_id, question=bool(self.request.questions))

    def closed(self, status: Literal["answered", "withdrawn", "expired"], now: float, **changes: Any) -> Approval:
        """Return it as it is after its end."""
        return replace(self, status=status, closed_at=now, **changes)

    def shortened(self) -> Approval:
        """Return it with a command of limited length, and without the input if there was more: for what is kept."""
        command = self.request.command
        if len(command) <= RECORDED_CHARACTERS:
            return self
        missing = len(command) - RECORDED_CHARACTERS
        where = f"{SHOWS_ALL} shows them" if self.status == OPEN else "they were not kept"
        cut = f"{command[:RECORDED_CHARACTERS]}…\n{CUT} {missing:,} more characters: {where}"
        call = replace(self.request.call, command="", texts=())
        request = replace(self.request, command=cut, input={}, questions=(), call=call)
        return replace(self, request=request, left_out=missing)

    def for_audit(self) -> dict[str, Any]:
        """Return what an answer acts on, for the audit."""
        return {"action_id": self.id, "runtime_id": self.runtime_id, "ref": self.ref, "state": self.status}

    def as_event(self) -> dict[str, Any]:
        """Return it as the journal has it: without the input of the tool, if that is long."""
        kept = self.shortened()
        return {**kept._fields(), "input": kept.request.input}

    def as_dict(self, now: float) -> dict[str, Any]:
        """Return it for an answer."""
        age = (now if self.closed_at is None else self.closed_at) - self.opened_at
        return {
            **self._fields(),
            "input": self.request.input,
            "suggestions": list(self.request.suggestions),
            "age_ms": max(0, round(age * 1000)),
            "commands": self.commands if self.status == OPEN else [],
        }

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = to_builtins(self)
        request = fields.pop("request")
        own = {name: request[name] for name in ("kind", "tool", "command", "folder", "helper", "questions")}
        call = self.request.call
        return {
            **fields,
            **own,
            "tool_kind": call.kind,
            "shell_command": call.command,
            "paths": list(call.paths),
            "deep": call.deep,
            "runs_in": call.folder,
            "unread": call.unread,
            "on_screen": not request["hidden"],
            "opened_at": timestamp(self.opened_at),
            "expires_at": timestamp(self.expires_at),
            "closed_at": None if self.closed_at is None else timestamp(self.closed_at),
        }


def settling(name: str, *, question: bool) -> list[str]:
    """Return the commands that settle an approval of this name."""
    return [f"covey answer {name} --option …"] if question else [f"covey approve {name}", f"covey deny {name}"]


def opened(id_: str, row: Row, request: PermissionRequest, now: float, limit_s: float) -> Approval:
    """Return the approval that an agent with this row asks for."""
    return Approval(
        id=id_,
        runtime_id=row.runtime_id,
        ref=row.ref,
        target=row.target,
        agent=row.agent,
        pid=row.pid or 0,
        request=request,
        opened_at=now,
        expires_at=now + limit_s,
    )
