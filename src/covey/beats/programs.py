"""Where the agents' programs are. A daemon that a service manager has started knows few folders; people install agents into many."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

USUAL = (
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
    """The daemon's own folders first, then the usual ones, then those of node's version managers."""
    managed = sorted(Path("~/.nvm/versions/node").expanduser().glob("*/bin"), reverse=True)
    folders = [
        *os.environ.get("PATH", "").split(os.pathsep),
        *(os.path.expanduser(folder) for folder in USUAL),  # noqa: PTH111 - texts
        *map(str, managed),
    ]
    return os.pathsep.join(
        dict.fromkeys(folder for folder in folders if folder.startswith("/"))
    )  # others would be in the workspace


def find(program: str) -> str | None:
    """The program's path, or None if it is not installed."""
    return shutil.which(program, path=search_path())
