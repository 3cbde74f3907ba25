"""What the `integration.py` of an agent defines: how Covey's hooks get into its settings.

If the file is also written by others, it is a `table.HooksTable`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, ClassVar, Self

from covey.agents.integration.edit import NotEditable
from covey.agents.versions import compare, version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from covey.agents.agent import Agent
    from covey.agents.integration.user_environment import Launch, UserEnvironment


QUICK_S = 5
"""How long an agent may wait for a hook that only tells something."""
WAITING_S = 3600
"""How long an agent may wait for a hook that a person answers; `hook.HELD_S` is a little less."""


class Integration:
    """A file that is ours alone, as a whole."""

    agent: ClassVar[Agent]
    remarks: ClassVar[tuple[str, ...]] = ()
    """What a person should know who has just installed the hooks."""
    events: tuple[str, ...] = ()
    """The events for which hooks are installed."""
    waiting: ClassVar[frozenset[str]] = frozenset()
    """The events whose hook may wait for a person's decision."""
    since: ClassVar[Mapping[str, str]] = {}
    """The first version that knows an event; other events are known to every version that was tried."""
    tried: ClassVar[tuple[str, ...]] = ()
    """Versions that were really started with these hooks, oldest first."""
    strict: ClassVar[str] = ""
    """What the agent does about an event that it does not know; empty if it ignores it."""

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def title(self) -> str:
        return self.agent.title

    @property
    def program(self) -> str:
        return self.agent.program

    def for_versions(self, versions: Sequence[str]) -> Self:
        """This integration with the events that all of these versions know; with all events if no version is given."""
        known = [version(one) for one in versions]
        limited = copy.copy(self)
        limited.events = tuple(
            event
            for event in self.events
            if all(compare(one, version(self.since.get(event, "0"))) >= 0 for one in known)
        )
        return limited

    def variants(self) -> list[Self]:
        """This integration as it is for each group of versions that know the same events, newest first."""
        found = {one.events: one for first in {"", *self.since.values()} for one in self._around(first)}
        return sorted(found.values(), key=lambda one: len(one.events), reverse=True)

    def _around(self, first: str) -> list[Self]:
        """For the version with which something began, and for those before it."""
        begun = version(first)
        before = (*begun[:-1], begun[-1] - 1) if begun else ()
        return [self.for_versions([".".join(map(str, one))] if one else []) for one in (begun, before)]

    def limit_s(self, event: str) -> int:
        """Return how many seconds the agent is told to wait for the hook of an event."""
        return WAITING_S if event in self.waiting else QUICK_S

    @property
    def adds(self) -> str:
        """What its file gets, for a person."""
        return "a file of Covey's own, beside the agent's settings"

    def file(self, user: UserEnvironment) -> Path:
        """Where the agent reads its hooks."""
        raise NotImplementedError

    def content(self, user: UserEnvironment) -> bytes:
        """What our file says."""
        raise NotImplementedError

    def installed(self, path: Path, before: bytes | None, user: UserEnvironment) -> bytes:
        """The file with our hooks, in their present form."""
        if before is not None and not self.has_ours(path, before):
            raise NotEditable(
                path,
                "is in the place of Covey's own file, but is not Covey's",
                f"Move it away: mv '{path}' '{path}.mine'",
            )
        return self.content(user)

    def removed(self, path: Path, before: bytes) -> bytes | None:
        """The file without our hooks; `None` when it is no longer needed."""
        return None if self.has_ours(path, before) else before

    def has_ours(self, path: Path, content: bytes) -> bool:
        """Whether any of our hooks is there, in whatever form."""
        del path
        return b"covey-hook" in content

    def warnings(self, path: Path, content: bytes) -> list[str]:
        """What in the file keeps our hooks from running."""
        del path, content
        return []

    def launch(self, user: UserEnvironment) -> Launch | None:
        """How to start the agent with our hooks and without touching its settings; `None` if it knows no way."""
        del user
        return None
