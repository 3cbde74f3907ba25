"""What an agent asks permission for, as far as a policy looks at it."""

from __future__ import annotations

import posixpath

from msgspec import Struct

from covey.policy.tool_call import ToolCall  # noqa: TC001 - a Struct reads its annotations


class PolicyRequest(Struct, frozen=True, kw_only=True):
    """One request for permission. `target` is the machine, `folder` the folder that the agent works in."""

    agent: str
    tool: str
    call: ToolCall
    target: str = ""
    folder: str = ""

    @property
    def runs_in(self) -> str:
        """Return the folder in which the call runs: that of the agent, unless its input names another."""
        return posixpath.join(self.folder, self.call.folder) if self.call.folder else self.folder
