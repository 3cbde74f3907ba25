"""Captures of real agents, made by `./run lab capture`: what could be seen at moments whose true state is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lab import agents

FOLDER = Path(__file__).parent / "captures"


@dataclass(frozen=True)
class Capture:
    folder: Path

    def __str__(self) -> str:
        return self.folder.relative_to(FOLDER).as_posix()

    @cached_property
    def about(self) -> dict[str, Any]:
        """agent, version, stand_in, case, scenario, about, state."""
        return self._json("case.json")

    @property
    def state(self) -> str:
        return str(self.about["state"])

    @property
    def screen(self) -> str:
        return self._text("screen.txt")

    @property
    def escapes(self) -> str:
        """The screen with its colours and attributes."""
        return self._text("screen.ansi")

    @property
    def pane(self) -> dict[str, Any]:
        """What tmux says about the pane."""
        return self._json("pane.json")

    @property
    def processes(self) -> list[dict[str, Any]]:
        """The pane's process tree, parents first."""
        found: list[dict[str, Any]] = json.loads(self._text("processes.json"))
        return found

    def lines(self, name: str) -> list[dict[str, Any]]:
        """`hooks`, `notify` or `transcript`: the payloads so far, in order; none when the agent wrote none."""
        file = self.folder / f"{name}.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    @property
    def session_files(self) -> dict[str, str]:
        return {file.name: file.read_text(encoding="utf-8") for file in sorted((self.folder / "session").glob("*"))}

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._text(name))
        return found


def captures(agent: str = "*") -> list[Capture]:
    """Captures of the newest release in a terminal of the usual size, of all agents or of one."""
    newest = {name: agents.find(name).version for name in agents.NAMES}
    return [
        one
        for one in all_captures(agent)
        if one.about["version"] == newest[one.about["agent"]] and "@" not in one.folder.name
    ]


def all_captures(agent: str = "*") -> list[Capture]:
    """Captures of every release and size, of all agents or of one; a size other than 120x40 is named CASE@SIZE."""
    return [Capture(file.parent) for file in sorted(FOLDER.glob(f"{agent}/*/*/case.json"))]
