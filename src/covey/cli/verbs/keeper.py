"""`covey keep attach`: the part that needs the caller's terminal."""

from __future__ import annotations

import os

from covey.cli.perform import ask
from covey.contract import OPERATIONS
from murli import user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def attach(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Become the tmux client that shows a kept session."""
    named = ask(home, _operation("keep.path"), params)
    session = ask(home, _operation("keep.status"), {"name": named["name"]})["session"]
    if session["phase"] == "stopped":
        raise user_error(
            f"{session['name']} does not run: {session['why']}",
            f"Start it: covey keep start {session['name']}",
            error="not_running",
        )
    socket, target = session["socket"], f"={session['name']}"
    inside = os.environ.get("TMUX", "").rsplit(",", 2)[0]
    command = ["tmux", "-S", socket, "attach-session", "-t", target]
    if not (writer().is_tty and os.isatty(0) and os.isatty(1)):
        import shlex

        raise user_error(
            "there is no terminal that could attach", f"From a terminal: {shlex.join(command)}", error="no_terminal"
        )
    if inside and os.path.realpath(inside) == os.path.realpath(socket):
        command = ["tmux", "-S", socket, "switch-client", "-t", target]
    elif inside:
        writer().log("this is a tmux inside your tmux: press the prefix twice to reach the inner one", "warning")
    kept = inside and command[3] == "switch-client"
    environment = {name: value for name, value in os.environ.items() if kept or name not in {"TMUX", "TMUX_PANE"}}
    os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted


def _operation(name: str) -> Operation:
    return next(operation for operation in OPERATIONS if operation.name == name)
