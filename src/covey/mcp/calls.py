"""Calls of tools: arguments checked, the daemon asked over its socket, and its answer or error put into an envelope."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from covey.kernel.client import Client
from covey.kernel.moments import seconds
from covey.kernel.operations.validate import validate
from covey.kernel.seat_choice import chosen_seat, joined_names
from covey.kernel.visible_text import shown_values
from covey.mcp.act import act_off
from covey.mcp.tools import by_name, offered, result_of
from murli import AgentError, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.home import Home
    from covey.mcp.tools import Tool

WAIT_S, LONGEST_WAIT_S = 30.0, 50.0
"""Agents give up on a tool after a minute or more."""
GRACE_S = 10.0
EVENTS, MOST_EVENTS = 50, 500


class Calls:
    """Performs tools for one MCP client after the other. Everything is read anew for each call.

    So a daemon that was started or restarted, and a setting that was changed, count from the next call on.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def listed(self) -> dict[str, Tool]:
        """Return the tools that are offered now, as the configuration file has it.

        Those of a mesh are offered when one was joined.
        """
        found = self._configured_tools()
        return {name: tool for name, tool in found.items() if tool.operation.seat is None or self._is_there(tool)}

    def _configured_tools(self) -> dict[str, Tool]:
        wanted = _configured(self._home.node.config_file)
        added = wanted.get("tools")
        return offered(added if isinstance(added, list) else [], act=wanted.get("act") is True)

    def _is_there(self, tool: Tool) -> bool:
        return bool(joined_names(self._home, tool.operation.served_by))

    def perform(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the envelope of a call: `data` or `error`, and `ok`. No text in it is hidden from people."""
        try:
            tool = self._tool(name)
            params = validate(tool.operation, arguments)
            return {"ok": True, "data": shown_values(result_of(tool, self._ask(tool, params)))}
        except AgentError as error:
            return {"ok": False, "error": shown_values(_error(error))}

    def _tool(self, name: str) -> Tool:
        """Return a tool that is offered, or one that acts: while acting is off, the daemon refuses that and records it.

        Raises AgentError for any other.
        """
        listed = self.listed()
        tool = listed.get(name) or by_name(name)
        if tool is None:
            error = not_found(f"there is no tool {name[:60]!r}", "Call one of the tools that are listed.", field="name")
            error.valid_values = list(listed)
            raise error
        if name not in listed and not tool.operation.mutating and name not in self._configured_tools():
            raise not_found(
                f"the tool {name} is not offered",
                f"The person at this machine can add it: covey config set mcp.tools {tool.operation.name}",
                field="name",
            )
        return tool

    def _ask(self, tool: Tool, params: dict[str, Any]) -> Any:
        operation = tool.operation
        if operation.seat is not None:
            return self._ask_seat(tool, params)
        socket = self._home.seat(operation.served_by).socket
        if operation.name == "wait":
            longest = WAIT_S if params["timeout"] is None else seconds(params["timeout"], "timeout")
            longest = min(longest, LONGEST_WAIT_S)
            client = Client(socket, surface="mcp", deadline=monotonic() + longest + GRACE_S)
            messages = client.stream(operation, {**params, "timeout": f"{longest:g}s"})
            return [_data(message) for message in messages][-1]
        client = Client(socket, surface="mcp")
        if operation.name == "events":
            limit = EVENTS if params["limit"] is None else min(params["limit"], MOST_EVENTS)
            return {"items": [_data(message) for message in client.stream(operation, {**params, "limit": limit})]}
        return client.call(operation, params, idempotency_key=os.urandom(16).hex() if operation.mutating else "")

    def _ask_seat(self, tool: Tool, params: dict[str, Any]) -> Any:
        """Ask one of several daemons of a kind: the one that is named, or the only one. Raises AgentError."""
        operation = tool.operation
        if operation.mutating and _configured(self._home.node.config_file).get("act") is not True:
            raise act_off(operation.name)  # the node refuses its own operations itself, and records that
        seat = chosen_seat(self._home, operation.served_by, params.get(operation.seat_parameter))
        sent = {name: value for name, value in params.items() if name != operation.seat_parameter}
        client = Client(seat.socket, surface="mcp", seat=seat)
        return client.call(operation, sent, idempotency_key=os.urandom(16).hex() if operation.mutating else "")


def _data(message: dict[str, Any]) -> Any:
    """Return what a message of a stream carries. Raises AgentError if it is an error."""
    if message.get("event") == "covey.error":
        raise AgentError.from_envelope(message["data"])
    return message["data"]


def _error(error: AgentError) -> dict[str, Any]:
    told = error.envelope()
    kept = ("message", "suggestion", "field", "valid_values", "recoverable")
    return {"code": error.error, **{name: told[name] for name in kept if name in told}}


def _configured(path: str) -> dict[str, Any]:
    """Return the section `mcp` of a configuration; an empty one if it has none, or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            section = tomllib.load(file).get("mcp")
    except (OSError, ValueError, RecursionError):
        return {}
    return section if isinstance(section, dict) else {}
