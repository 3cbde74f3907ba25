"""What an agent asks a person for by a hook, as a value, and what its hook prints to answer.

The `approvals.py` of an agent defines APPROVALS, an `Approvals`. Without IO; the form of a payload is not trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from covey.agents.json_values import canonical, json_object, json_objects, string
from covey.policy.tool_call import ToolCall  # noqa: TC001 - a Struct reads its annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDS = frozenset({"PostToolUse", "PostToolUseFailure"})
"""Events that report the end of a call."""
APPROVAL: Final = "approval"
PLAN: Final = "plan"
QUESTION: Final = "question"


class Question(Struct, frozen=True, kw_only=True):
    """One question with the answers that are offered; a person may also answer in words of their own."""

    text: str
    options: tuple[str, ...] = ()
    several: bool = False
    """Whether more than one option may be chosen."""


class PermissionRequest(Struct, frozen=True, kw_only=True):
    """What an agent asks for."""

    kind: Literal["approval", "plan", "question"]
    tool: str
    input: dict[str, Any]
    """The whole input of the tool, as the agent gave it."""
    command: str
    """The whole input as a person reads it (`agents/call_text`): what hides in it is spelt out, and nothing is cut."""
    call: ToolCall
    """What it is for the policy, by the declaration of the agent's tool."""
    folder: str = ""
    helper: bool = False
    """Whether a helper asks, and not the conversation that the person sees."""
    hidden: bool
    """Whether the agent shows its dialog only after the hook has ended."""
    suggestions: tuple[dict[str, Any], ...] = ()
    """The rules that the agent offers to remember."""
    questions: tuple[Question, ...] = ()
    call_id: str = ""
    """The agent's own name of the request, where it has one."""

    @property
    def call_key(self) -> bytes:
        """Which call it is about: by its id, or else by the tool and its input, for most requests do not name it."""
        return self.call_id.encode() or call_key(self.tool, self.input)


class Approvals:
    """How one agent asks, and how it is answered. Each answer is what the hook prints."""

    always_refused = "it remembers no rules that a hook gives it"
    """Why `allow` cannot be for always; empty if it can."""
    one_dialog = True
    """Whether a request on the screen shows that the one before it was answered."""

    def read(self, payload: object) -> PermissionRequest | None:
        """Return what a payload asks for; None if it asks for nothing that the hook could answer."""
        raise NotImplementedError

    def ended_call(self, payload: object) -> bytes | None:
        """Return the key of the call whose end a payload reports; None if it reports none, or a helper's."""
        given = json_object(payload)
        ended = string(given.get("hook_event_name")) in ENDS and not given.get("agent_id")
        return call_key(string(given.get("tool_name")), json_object(given.get("tool_input"))) if ended else None

    def ran_call(self, payload: object) -> bytes | None:
        """Return the key of the call that a payload shows to have been allowed; None if it shows none."""
        return self.ended_call(payload)

    def allows_all(self, command_lines: Sequence[str]) -> bool:
        """Return whether the agent was started so that it asks nobody, by the command lines of its processes."""
        del command_lines
        return False

    def allow(self, request: PermissionRequest, *, always: bool) -> dict[str, Any]:
        raise NotImplementedError

    def deny(self, request: PermissionRequest, message: str) -> dict[str, Any]:
        """Refuse, and tell the model why. The turn goes on."""
        raise NotImplementedError

    def answer(self, request: PermissionRequest, answers: Sequence[str]) -> dict[str, Any]:
        """Answer the questions of a request, each with one text."""
        raise NotImplementedError


def envelope(decision: dict[str, Any]) -> dict[str, Any]:
    """Return a decision in the form of Claude Code, which others have adopted."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def call_key(tool: str, given: dict[str, Any]) -> bytes:
    """Return the same bytes for the same call."""
    return canonical([tool, given])


def given_input(value: object) -> dict[str, Any]:
    """Return the input of a tool as an object; what is not one is kept under a name."""
    return value if isinstance(value, dict) else {} if value is None else {"tool_input": value}


def questions_in(given: dict[str, Any]) -> tuple[Question, ...]:
    """Return the questions that a tool was given to ask."""
    return tuple(
        Question(
            text=string(one.get("question")),
            options=tuple(string(option.get("label")) for option in json_objects(one.get("options"))),
            several=one.get("multiSelect") is True or one.get("multiple") is True,
        )
        for one in json_objects(given.get("questions"))
    )
