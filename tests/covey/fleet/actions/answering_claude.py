"""A program that is Claude Code as far as Covey can see, and answers what it is told."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.covey.fleet.actions.conftest import PROGRAM
from tests.covey.fleet.living import Fleet

FOLDER = Path(__file__).parent


class AnsweringClaude:
    """The program in a pane that a daemon watches."""

    def __init__(self, fleet: Fleet) -> None:
        self.covey = fleet.covey
        self.log = fleet.covey.folder / "told"
        for file in (PROGRAM, FOLDER / "composing_claude.py"):
            shutil.copy(file, fleet.covey.folder)
        program = fleet.covey.folder / "composing_claude.py"
        environment = {
            "CLAUDE_CONFIG_DIR": str(fleet.covey.folder / "claude"),
            "PYTHONHOME": sys.base_prefix,
            "PYTHONPATH": "",
        }
        words = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        script = f"exec -a claude {sys.executable} {program} {self.log}"
        size = ("-x", "80", "-y", "24")
        self.pane = fleet.tmux("new-session", "-d", *size, *words, "-P", "-F", "#{pane_id}", "bash", "-c", script)
        fleet.up()
        fleet.row(self.pane, "idle")

    def send(self, text: str, *words: str) -> tuple[int, dict[str, Any]]:
        answer = self.covey.run("send", self.pane, "--text", text, "--yes", *words)
        return answer.code, json.loads(answer.stdout)["result"]
