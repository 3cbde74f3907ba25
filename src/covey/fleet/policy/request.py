"""What an agent asks permission for, as far as a policy looks at it."""

from __future__ import annotations

from msgspec import Struct


class PolicyRequest(Struct, frozen=True, kw_only=True):
    """One request for permission. `target` is the machine, `folder` the folder that the agent works in."""

    agent: str
    tool: str
    command: str = ""
    paths: tuple[str, ...] = ()
    target: str = ""
    folder: str = ""
