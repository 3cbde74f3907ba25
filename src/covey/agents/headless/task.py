"""What an agent is asked to do without a terminal, as far as an agent has to know it. A beat is one."""

from __future__ import annotations

from typing import Protocol

MAX_TURNS = 3
"""The limit of turns for a task that names none, where the agent knows such a limit."""


class Limits(Protocol):
    """The most that may be spent; None where there is no limit."""

    @property
    def run_usd(self) -> float | None: ...

    @property
    def day_usd(self) -> float | None: ...

    @property
    def month_usd(self) -> float | None: ...

    @property
    def run_tokens(self) -> int | None: ...


class Task(Protocol):
    """One prompt to be run, and its limits."""

    @property
    def name(self) -> str: ...

    @property
    def workspace(self) -> str:
        """The folder in which the agent works."""
        ...

    @property
    def model(self) -> str:
        """The model; empty for the agent's own choice."""
        ...

    @property
    def max_turns(self) -> int | None: ...

    @property
    def deny(self) -> tuple[str, ...]:
        """Patterns of the tools that are refused; empty if permissions are skipped."""
        ...

    @property
    def budget(self) -> Limits: ...
