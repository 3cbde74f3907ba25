"""`covey bar`: the fleet on one line for a status bar.

A bar shows standard output and nothing else, and an empty one would mean that no agent needs you.
"""

from __future__ import annotations

from covey.cli.perform import ask
from covey.kernel.client import NotAnswered, NotRunning
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

ABSENT = {
    "tmux": "#[dim]covey is not running#[default]\n",
    "swiftbar": "covey is not running\n---\nStart it in a terminal: covey up\n",
}
SILENT = {
    "tmux": "#[dim]covey does not answer#[default]\n",
    "swiftbar": "covey does not answer\n---\nEnd it in a terminal: covey down && covey up\n",
}
"""Texts for bars that would otherwise be empty or vanish; scripts that read the plain form have the exit code."""


def bar(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print the fleet on one line, or that the daemon is not there."""
    out = writer()
    try:
        result = ask(home, operation, params)
    except (NotRunning, NotAnswered) as error:
        shown = ABSENT if isinstance(error, NotRunning) else SILENT
        if params["format"] in shown:
            out.raw(shown[params["format"]])
        raise
    out.success(lambda shown: str(shown["text"]), result)
    return 0
