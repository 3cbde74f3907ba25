"""Finds the agents' programs.

A daemon that a service manager has started has a short PATH; people install agents into many folders.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

USUAL_FOLDERS = (
    "~/.local/bin",
    "~/.npm-global/bin",
    "~/.claude/local",
    "~/.bun/bin",
    "~/.volta/bin",
    "~/.opencode/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
)


def search_path() -> str:
    """Return a PATH: the daemon's own folders first, then the usual ones, then those of node's version managers."""
    managed = sorted(Path("~/.nvm/versions/node").expanduser().glob("*/bin"), reverse=True)
    folders = [
        *os.environ.get("PATH", "").split(os.pathsep),
        *(os.path.expanduser(folder) for folder in USUAL_FOLDERS),  # noqa: PTH111 - texts
        *map(str, managed),
    ]
    # A relative folder would be one in the workspace.
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if folder.startswith("/")))


def find(program: str) -> str | None:
    """Return the program's path, or None if it is not installed."""
    return shutil.which(program, path=search_path())
