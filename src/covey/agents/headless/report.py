"""The report of a run, the same for every agent."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

ErrorKind = Literal[
    "agent_missing",
    "auth",
    "rate_limit",
    "timeout",
    "max_turns",
    "budget",
    "crash",
    "interrupted",
    "prompt_missing",
    "probe",
    "api",
    "withdrawn",
]
"""`crash`: the agent or its machine ended without an answer. `interrupted`: somebody ended it.

`api`: the provider failed in another way. `withdrawn`: the run was due and never begun.
"""


class Failure(Struct, frozen=True, kw_only=True):
    """Why a run has no answer."""

    kind: ErrorKind
    message: str
    retry_at: float | None = None
    """When the provider says that it will serve again; never a guess."""


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A call of a tool, and its result."""

    name: str
    input: dict[str, Any]
    output: str | None = None
    duration_ms: int | None = None


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A part of the conversation: what the assistant wrote and called, or how it ended."""

    role: Literal["assistant", "result"]
    text: str | None = None
    tool_calls: list[ToolCall] | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    num_turns: int | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What was spent, as far as the agent reports it."""

    cost_usd: float | None = None
    tokens: int | None = None
    """Input and output tokens together, including cached ones."""
    list_usd: float | None = None
    """What these tokens cost at the highest list price of the agent's provider: an estimate without a reported cost."""


class Report(Struct, frozen=True, kw_only=True):
    """All that is known of an agent's run when it has ended."""

    text: str = ""
    """The final answer."""
    turns: tuple[Turn, ...] = ()
    usage: Usage = Usage()
    num_turns: int | None = None
    denials: tuple[str, ...] = ()
    """Tool calls that were refused, such as `Bash(sudo ls)`."""
    failure: Failure | None = None


class Step(Struct, frozen=True, kw_only=True):
    """Something that happens while an agent runs: it calls a tool or writes text."""

    kind: Literal["tool", "text"]
    name: str = ""
    text: str = ""
    """The text; for a tool, its input in short."""
