"""Programs that make the same calls with each SDK, and say what comes of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sdk.generate.__main__ import SDK
from tests.sdk.tools import built_typescript, go_module, run

FOLDER = Path(__file__).parent / "probe"
LIMIT_S = 25
"""Less than the 30 s for which a daemon is waited for that has gone: what is wrong at once is not tried again."""

Probes = Mapping[str, list[str]]


def built_probes(folder: Path) -> Probes:
    """Return the command of the program in each language."""
    go_module(folder)
    shutil.copy(FOLDER / "main.go", folder)
    run("go", "build", "-o", "probe", ".", folder=folder)
    project = built_typescript()
    shutil.copy(FOLDER / "probe.mjs", project)
    return {
        "Python": [sys.executable, str(FOLDER / "probe.py")],
        "Go": [str(folder / "probe")],
        "TypeScript": ["node", str(project / "probe.mjs")],
    }


def said(command: list[str], *calls: str, home: Path, folder: Path | None = None, **extra: str) -> list[str]:
    """Return what a program says of each call. Raises TimeoutExpired if it waits for what will not come."""
    own = {"HOME": str(home.parent), "COVEY_HOME": str(home), "PYTHONPATH": str(SDK / "python"), **extra}
    environment = {"PATH": os.environ["PATH"], **own}
    place = folder or home.parent
    ended = subprocess.run(
        [*command, *calls], cwd=place, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    return (ended.stdout + ended.stderr).splitlines()
