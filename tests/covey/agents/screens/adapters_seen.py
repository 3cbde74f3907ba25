"""What several tests of the adapters need: all built-in adapters, and captures as they would be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.agents.screens.registry import load

if TYPE_CHECKING:
    from covey.agents.screens.patterns import Reading
    from tests.captured import Capture

REGISTRY = load(packages=False)


class Seen(NamedTuple):
    """A process as an adapter wants it."""

    name: str
    argv: tuple[str, ...]
    exe: str = ""


def processes(capture: Capture) -> list[Seen]:
    return [Seen(one["name"], tuple(one["command"].split(" "))) for one in capture.processes]


def read(capture: Capture, screen: str | None = None, escapes: str | None = None) -> Reading | None:
    """The capture as the agent drew it, whatever tmux showed instead, or another screen in its place."""
    adapter = REGISTRY.adapters[capture.about["agent"]].at(capture.about["version"])
    return adapter.read_screen(
        capture.screen if screen is None else screen,
        capture.escapes if escapes is None else escapes,
        capture.pane["pane_title"],
    )


def at_rest(state: str) -> str:
    """On a screen a completed turn and an idle agent are one."""
    return "idle" if state == "completed" else state
