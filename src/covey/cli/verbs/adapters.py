"""`covey adapters explain`: a running agent through the daemon, a saved screen in this process.

A saved screen is read with the descriptions as they are now, so that an author of one sees at once what it does.
"""

from __future__ import annotations

import os
import sys

from murli import user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

LARGEST = 512 * 1024
"""Bytes; a longer text is not a screen."""


def explain(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show which state a screen shows, and which pattern says so."""
    from pathlib import Path

    from covey.agents.screens.explain import explained
    from covey.agents.screens.registry import load
    from covey.cli.cells import clean
    from covey.cli.perform import ask, show

    out = writer()
    if bool(params["pane"]) == bool(params["screen"]):
        suggestion = "Pass --pane %5 for a running agent, or the name of an agent and --screen FILE for a saved screen."
        raise user_error("either a pane or a saved screen is needed", suggestion, field="pane")
    if params["pane"]:
        live = ask(home, operation, params)
        out.success(_report, live)
        return 0
    registry = load(Path(home.path) / "adapters")
    for problem in registry.problems:
        out.log(clean(f"left out: {problem}. {problem.suggestion}"), "warning")
    result = explained(registry, {**params, "screen": read_screen(params["screen"])})
    show(operation, result)
    return 0


def _report(result: dict[str, Any]) -> str:
    """Return the report with its columns as they are, without characters that would act on a terminal."""
    return "\n".join(
        "".join(letter for letter in line if letter.isprintable()) for line in result["report"].split("\n")
    )


def read_screen(source: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raises a user error if it cannot be read."""
    try:
        if source == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with open(os.path.expanduser(source), "rb") as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise user_error(
            f"{source} cannot be read: {why}", "Save one with: tmux capture-pane -p > screen.txt", field="screen"
        ) from error
    if len(data) > LARGEST:
        raise user_error(
            f"{source} is larger than {LARGEST} bytes, and no screen is",
            "Save one with: tmux capture-pane -p > screen.txt",
            field="screen",
        )
    return data.decode("utf-8", "replace")
