"""Requests as a policy looks at them, from an agent, a tool and its input: the same for a hook and for `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.registry import TOOLS
from covey.kernel import given_json
from covey.policy.patch import BEGIN, END, UPDATE
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import PATCH, SHELL, ToolCall
from covey.policy.tools import Tool, Tools, file_tool
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHELL = Tool(SHELL, {"command": "text"}, needs=("command",), command="command")
_FILE = file_tool("path")


def requests_of(params: Mapping[str, Any]) -> list[PolicyRequest]:
    """Return the request that the parameters of `explain` describe; one for each file if its tool takes one at a time.

    Raises AgentError if they do not describe one.
    """
    agent, tool = params["agent"], params["tool"]
    tools = _tools_of(agent, tool)
    asked_as = tools.asked_as.get(tool, tool) if tools else tool
    return [
        PolicyRequest(agent=agent, tool=asked_as, call=call, target=params["target"], folder=params["folder"])
        for call in _calls(tools, tool, params)
    ]


def _tools_of(agent: str, tool: str) -> Tools | None:
    """Return the tools of an agent; without one, those of the first agent that knows the tool, if there is one."""
    if agent:
        return TOOLS[agent] if agent in TOOLS else Tools({})
    return next((tools for tools in TOOLS.values() if tools.knows(tool)), None)


def _calls(tools: Tools | None, name: str, params: Mapping[str, Any]) -> list[ToolCall]:
    command, paths = params["command"], list(params["path"] or ())
    if params["input"] is not None:
        if command or paths:
            raise _misfit("give --input, or --command and --path")
        return [(tools or Tools({})).read(name, _object(params["input"]))]
    if not name:
        tools, name = Tools({"shell": _SHELL, "file": _FILE}), "shell" if command else "file"
    tools = tools or Tools({})
    return [tools.read(name, given) for given in _inputs(tools.declared.get(name), command, paths)]


def _inputs(tool: Tool | None, command: str, paths: Sequence[str]) -> list[dict[str, object]]:
    """Return the inputs by which a tool would be given a command and files."""
    if tool and tool.kind == PATCH and not command:
        command = "\n".join([BEGIN, *(line for path in paths for line in (UPDATE + path, "@@")), END])
        paths = ()
    given: dict[str, object] = {tool.command or "command" if tool else "command": command} if command else {}
    key = tool.paths[0] if tool and tool.paths else "path"
    return [{**given, key: path} for path in paths] or [given]


def _object(text: str) -> dict[str, Any]:
    try:
        given = given_json.parse(text, "input")
    except ValueError:
        raise _misfit("the input is not JSON") from None
    if not isinstance(given, dict):
        raise _misfit("the input is not a JSON object")
    return given


def _misfit(message: str) -> Exception:
    return user_error(
        message,
        'Give the input as the agent\'s hook does, such as --input \'{"command": "git push"}\'',
        error="argument_error",
        field="input",
    )
