"""What an agent's hooks leave to be remembered: who waits for the person, and which conversation is the person's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.signals.parsing import canonical, text
from covey.agents.signals.signals import SESSION_STARTED

if TYPE_CHECKING:
    from covey.agents.signals.signals import Notice, Word


WAITING = frozenset({"waiting_approval", "waiting_input"})


class Requests:
    """Requests that wait for the person, of the main line and of helpers alike. Other calls go on meanwhile and must not be taken for the answer.

    A request does not name its call: it is the last one with the same tool and arguments.
    """

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._open: dict[str, Word] = {}

    @property
    def first(self) -> Word | None:
        return next(iter(self._open.values()), None)

    def call(self, said: dict[str, Any]) -> None:
        self._calls[_call(said)] = text(said.get("tool_use_id"))

    def ask(self, said: dict[str, Any], word: Word) -> None:
        call = _call(said)
        self._open[self._calls.get(call) or call] = word

    def answered(self, said: dict[str, Any]) -> bool:
        """Whether the end of a call is the answer to a request."""
        return bool(self._open.pop(text(said.get("tool_use_id")), None) or self._open.pop(_call(said), None))

    def clear(self) -> None:
        self._calls.clear()
        self._open.clear()


def called(requests: Requests, step: str, said: dict[str, Any], heard: Notice, plain_notice: Notice) -> Notice:
    """What a step of a call (`call`, `ask` or `end`) says, given the requests that are open. `heard` is what it says by itself."""
    helper = bool(said.get("agent_id"))
    if step == "call":
        requests.call(said)
    if heard.state in WAITING:
        requests.ask(said, (heard.state, heard.reason, heard.detail))
        return heard
    answer = step == "end" and requests.answered(said)
    waits = requests.first
    if waits:
        return plain_notice.says(*waits) if answer else plain_notice
    return heard if answer or not helper else plain_notice


def _call(said: dict[str, Any]) -> str:
    return canonical([said.get("tool_name"), said.get("tool_input")]).decode()


class Conversation:
    """Which of an agent's conversations is the one that the person sees. Helpers, title writers and nested runs have their own."""

    def __init__(self) -> None:
        self._id = ""
        self._helpers: set[str] = set()

    def helper(self, session_id: str) -> None:
        self._helpers.add(session_id)

    def holds(self, notice: Notice) -> bool:
        """Whether a notice is about the person's conversation. The first one heard of is, and any that begins later."""
        if notice.session_id in self._helpers:
            return False
        if notice.kind == SESSION_STARTED or not self._id:
            self._id = notice.session_id
        return notice.session_id in {"", self._id}
