"""`covey attach`, `covey next` and `covey back`: the part that needs the caller's terminal."""

from __future__ import annotations

import os

from covey.cli.perform import ask, show
from murli import AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

NOT_FOUND = 5


def attach(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Go to the pane of one agent."""
    given = with_place(params)
    result = ask(home, operation, given)
    return _go(operation, result, result, given)


def next_agent(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Go to the agent that needs the person most."""
    given = with_place(params)
    result = ask(home, operation, given)
    return _go(operation, result, result["attachment"], given)


def back(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Return to where the person was."""
    show(operation, ask(home, operation, with_place(params)))
    return 0


def with_place(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the place of the caller, if it is a person at a terminal or names a tmux client.

    An agent in a pane has the same variables as the person who looks at it, and must not move that person's screen.
    """
    terminal = "" if params["client"] else _terminal()
    if not params["client"] and not terminal:
        return params
    inside = os.environ.get("TMUX", "")
    place = {"tmux": f"{inside},{os.environ.get('TMUX_PANE', '')}" if inside else "", "terminal": terminal}
    return {name: value or place.get(name, value) for name, value in params.items()}


def _terminal() -> str:
    """Return the name of the terminal at which a person reads and types; nothing if there is none."""
    if not writer().is_tty or not os.isatty(0) or not os.isatty(1):
        return ""
    try:
        return os.ttyname(0)
    except OSError:
        return ""


def _go(operation: Operation, result: Any, attachment: dict[str, Any] | None, given: dict[str, Any]) -> int:
    """Become the program that attaches this terminal, unless a tmux client has gone there or nobody is to go."""
    if attachment is None or attachment["went"] or not given["terminal"]:
        show(operation, result)
        return 0
    if attachment["nested"]:
        writer().log("this is a tmux inside your tmux: press the prefix twice to reach the inner one", "warning")
    command = attachment["command"]
    environment = {name: value for name, value in os.environ.items() if name not in {"TMUX", "TMUX_PANE"}}
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise AgentError(
            f"{command[0]} cannot be started: {error.strerror}",
            code=NOT_FOUND,
            error="program_not_found",
            suggestion=f"Install {command[0]}, and try again.",
            recoverable=True,
        ) from None
