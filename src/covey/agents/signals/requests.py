"""What has to be remembered between the hooks of an agent: which requests are open, and which conversation is the
person's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.claim import WAITING
from covey.agents.json_values import canonical, string
from covey.agents.signals.signals import SESSION_STARTED

if TYPE_CHECKING:
    from covey.agents.signals.signals import Notice, StateReport


class OpenRequests:
    """Requests that wait for the person, from the agent and from its helpers.

    Other calls go on meanwhile and must not be taken for the answer. A request does not name its call: it belongs to
    the last call with the same tool and arguments.
    """

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._open: dict[str, StateReport] = {}

    @property
    def first(self) -> StateReport | None:
        """The state that the oldest open request says."""
        return next(iter(self._open.values()), None)

    def record_call(self, payload: dict[str, Any]) -> None:
        """Remember the id of a call, by which its answer will be known."""
        self._calls[_call(payload)] = string(payload.get("tool_use_id"))

    def open(self, payload: dict[str, Any], report: StateReport) -> None:
        """Remember a request until its call has ended."""
        call = _call(payload)
        self._open[self._calls.get(call) or call] = report

    def close(self, payload: dict[str, Any]) -> bool:
        """Forget the request of a call that has ended. Returns whether there was one."""
        by_id = self._open.pop(string(payload.get("tool_use_id")), None)
        return bool(by_id or self._open.pop(_call(payload), None))

    def clear(self) -> None:
        self._calls.clear()
        self._open.clear()


def notice_of_call(requests: OpenRequests, step: str, payload: dict[str, Any], notice: Notice, bare: Notice) -> Notice:
    """Return what a step of a call (`call`, `ask` or `end`) says, given the requests that are open.

    `notice` is what the step says by itself, `bare` the same without a state.
    """
    if step == "call":
        requests.record_call(payload)
    if notice.state in WAITING:
        requests.open(payload, (notice.state, notice.reason, notice.detail))
        return notice
    answered = step == "end" and requests.close(payload)
    waiting = requests.first
    if waiting:
        return bare.with_state(*waiting) if answered else bare
    from_helper = bool(payload.get("agent_id"))
    return notice if answered or not from_helper else bare


def _call(payload: dict[str, Any]) -> str:
    return canonical([payload.get("tool_name"), payload.get("tool_input")]).decode()


class MainConversation:
    """The conversation of an agent that the person sees. Helpers, title writers and nested runs have their own."""

    def __init__(self) -> None:
        self._id = ""
        self._helpers: set[str] = set()

    def exclude(self, session_id: str) -> None:
        """Take a conversation for a helper's."""
        self._helpers.add(session_id)

    def includes(self, notice: Notice) -> bool:
        """Return whether a notice is about the person's conversation: the first one, and any that begins later."""
        if notice.session_id in self._helpers:
            return False
        if notice.kind == SESSION_STARTED or not self._id:
            self._id = notice.session_id
        return notice.session_id in {"", self._id}
