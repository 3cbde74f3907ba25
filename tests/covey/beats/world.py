"""Workspaces with beats and a pretended agent, in which the beats live on a clock that is moved by hand."""

from __future__ import annotations

import json
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.clock import ManualClock
from tests.covey.beats.living import Living, living
from tests.covey.beats.pretended import Pretended


class World:
    """Workspaces and their agent."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.agent = Pretended(folder / "bin")
        monkeypatch.setenv("PATH", f"{self.agent.folder}:{os.environ['PATH']}")
        monkeypatch.setenv("HOME", str(folder))
        self.workspaces: list[Path] = []

    def beat(self, name: str, head: str = "", interval: str = "60s") -> Path:
        workspace = self.folder / name
        workspace.mkdir(exist_ok=True)
        (workspace / "HEARTBEAT.md").write_text(f"---\ninterval: {interval}\ntz: UTC\n{head}\n---\nLook.\n")
        if workspace not in self.workspaces:
            self.workspaces.append(workspace)
        return workspace

    def living(self, clock: ManualClock | None = None, **settings: Any) -> AbstractAsyncContextManager[Living]:
        return living(self.folder, *self.workspaces, clock=clock, **settings)

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "beats" / "heartbeats.jsonl").read_text().splitlines()]
