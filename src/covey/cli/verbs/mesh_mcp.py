"""`covey mesh mcp register`: how a server is reached is said on the command line, and secrets come from its caller."""

from __future__ import annotations

import os

from covey.cli.perform import ask, show
from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def register(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Offer a server to the mesh."""
    sources = [bool(params["transport"]), bool(params["command"]), bool(params["url"])]
    if sum(sources) != 1:
        raise user_error(
            "say once how the server is reached: a command after --, --url or --transport",
            "For example: covey mesh mcp register weather --tools forecast -- python3 weather.py",
            field="transport",
        )
    transport = params["transport"]
    if params["command"]:
        transport = {
            "type": "stdio",
            "command": params["command"],
            "env": {name: _variable(name) for name in params["env"] or ()},
            "cwd": os.getcwd(),
        }
    elif params["url"]:
        transport = {"type": "http", "url": params["url"], "headers": dict(map(_header, params["header"] or ()))}
    show(operation, ask(home, operation, {**params, "transport": transport}))
    return 0


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise user_error(f"{name} is not set in this environment", "Set it, then try again.", field="env")
    return value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise user_error(f"{name!r} is not a header", "Write it as Name: value.", field="header")
    return name.strip(), value.strip()
