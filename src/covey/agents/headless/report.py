"""What a run of an agent amounts to, whichever agent it was."""

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
"""`crash`: the agent, or the machine under it, ended without an answer. `interrupted`: somebody ended it.

`api`: the provider failed in another way. `withdrawn`: it was due and never begun.
"""


class Failure(Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    kind: ErrorKind
    message: str
    retry_at: float | None = None
    """When the provider says that it will serve again; never a guess."""


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A tool, as it was called and what it answered."""

    name: str
    input: dict[str, Any]
    output: str | None = None
    duration_ms: int | None = None


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A part of the conversation: what the assistant said and called, or how it ended."""

    role: Literal["assistant", "result"]
    text: str | None = None
    tool_calls: list[ToolCall] | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    num_turns: int | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What was spent, as far as the agent says."""

    cost_usd: float | None = None
    tokens: int | None = None
    """In and out together, cached ones included."""
    list_usd: float | None = None
    """What these tokens cost at the highest list price of the agent's provider: an estimate while no cost is told."""


class Report(Struct, frozen=True, kw_only=True):
    """All that is known of a run when it has ended."""

    text: str = ""
    """The final answer."""
    turns: tuple[Turn, ...] = ()
    usage: Usage = Usage()
    num_turns: int | None = None
    denials: tuple[str, ...] = ()
    """What the agent wanted and was refused, such as `Bash(sudo ls)`."""
    failure: Failure | None = None


class Step(Struct, frozen=True, kw_only=True):
    """Something that happens while an agent runs: a tool is called, or text is said."""

    kind: Literal["tool", "text"]
    name: str = ""
    text: str = ""
    """What is said; of a tool, its input in short."""
