"""Captures: everything that can be seen of an agent at a moment whose true state is known."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab import processes
from lab.normalise import Normaliser
from lab.size import DEFAULT
from lab.timeline import at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.play import Run

FOLDER = Path(__file__).parent.parent / "tests" / "captures"
NUMBERS = {"pane_pid"}
LINES = 60
"""Of a file that grows, the last lines are kept."""


@dataclass(frozen=True)
class Look:
    """Everything that was seen at one moment, unchanged."""

    case: str
    at: float
    screen: str
    escapes: str
    pane: dict[str, str]
    tree: list[processes.Process]
    lines: dict[str, list[str]]
    files: dict[str, str]


class Capturer:
    """Collects looks while runs play and writes them when a run has ended, because only then its truth is known."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._looks: dict[str, list[Look]] = {}

    async def look(self, run: Run, case: str) -> None:
        lines = {
            "hooks.jsonl": _tail([run.setup.hooks]),
            "notify.jsonl": _tail([run.setup.notices]),
            "transcript.jsonl": _tail(run.agent.transcripts(run.setup)),
        }
        files = {
            file.name: file.read_text(encoding="utf-8", errors="replace") for file in run.agent.session_files(run.setup)
        }
        screen, escapes = await run.pane.both_screens()
        look = Look(
            case, time.time(), screen, escapes, await run.pane.facts(), processes.tree(run.pane.pid), lines, files
        )
        self._looks.setdefault(run.name, []).append(look)

    def write(self, run: Run) -> list[Path]:
        """Write a run's cases, and return their folders."""
        looks = self._looks.pop(run.name, [])
        timeline = run.timeline()
        pids = [process.pid for look in looks for process in look.tree]
        normaliser = Normaliser(run.setup.root, run.agent.program, run.started, pids)
        return [self._write(run, look, at(timeline, look.at), normaliser) for look in looks]

    def _write(self, run: Run, look: Look, state: str, normaliser: Normaliser) -> Path:
        folder = (
            self._folder
            / run.agent.name
            / run.agent.version
            / (look.case if run.size == DEFAULT else f"{look.case}@{run.size}")
        )
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        about = {
            "agent": run.agent.name,
            "version": run.agent.version,
            "stand_in": run.agent.stand_in,
            "case": look.case,
            "size": str(run.size),
            "scenario": run.scenario.name,
            "about": run.scenario.about,
            "state": state,
        }
        pane = {key: int(value) if key in NUMBERS else value for key, value in look.pane.items()}
        tree = [asdict(process) for process in look.tree]
        for process in tree:
            process["parent"] = normaliser.pid(process["parent"])
        _dump(folder / "case.json", json.dumps(about, indent=2, ensure_ascii=False))
        _dump(folder / "screen.txt", normaliser.text(look.screen))
        _dump(folder / "screen.ansi", normaliser.escapes(look.escapes))
        _dump(folder / "pane.json", normaliser.text(json.dumps(pane, indent=2, ensure_ascii=False)))
        _dump(folder / "processes.json", normaliser.text(json.dumps(tree, indent=2, ensure_ascii=False)))
        if run.size != DEFAULT:
            return folder  # what is written to files does not depend on the size of the terminal
        for name, lines in look.lines.items():
            if lines:
                _dump(folder / name, "\n".join(map(normaliser.line, lines)))
        for name, text in look.files.items():
            _dump(folder / "session" / normaliser.text(name), "\n".join(map(normaliser.line, text.splitlines())))
        return folder


def _tail(files: Iterable[Path]) -> list[str]:
    lines = [
        line
        for file in files
        if file.is_file()
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip()
    ]
    return lines[-LINES:]


def _dump(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{text.rstrip()}\n", encoding="utf-8")
