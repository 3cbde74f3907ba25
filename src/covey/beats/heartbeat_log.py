"""The heartbeat log: one JSON object per line and run, each run once; and the last conversation of each workspace."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any

from covey.beats.run_folder import make_private
from covey.kernel.regular_file import descriptor_of, open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "heartbeats.jsonl"
TAIL_BYTES = 4 * 1024 * 1024
"""How far back a run is searched for that may have been written before a crash."""


class HeartbeatLog:
    """The log and the conversations in one folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._folder = folder

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append a line, which is on the disk when this returns. An incomplete line of a crash is ended first."""
        line = memoryview(json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        make_private(self._folder)
        fd = descriptor_of(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                os.write(fd, b"\n")
            while line:
                line = line[os.write(fd, line) :]  # a disk that is nearly full writes a part
            os.fsync(fd)
        finally:
            os.close(fd)

    def has(self, run_id: str) -> bool:
        """Tell whether a run is among the latest lines."""
        with contextlib.suppress(OSError), open_regular(self.path) as file:
            file.seek(max(file.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
            return any(run_id.encode() in line and _run_id(line) == run_id for line in file)
        return False

    def keep_conversation(self, workspace: str, conversation: Mapping[str, Any]) -> None:
        """Write the conversation of the last run in a workspace, replacing the one before."""
        make_private(self._folder)
        path = self._folder / f"last-beat-{slug(workspace)}.json"
        # Runs in one workspace may end at the same time: each has a draft of its own.
        fd, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=self._folder)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - by descriptor
            file.write(json.dumps(conversation, ensure_ascii=False, indent=2) + "\n")
        os.replace(draft, path)  # noqa: PTH105 - a text


def _run_id(line: bytes) -> str | None:
    """Return the id of the run that a complete line is about, or None."""
    with contextlib.suppress(ValueError, AttributeError):
        found = json.loads(line).get("run")
        return found if line.endswith(b"\n") else None
    return None


def slug(workspace: str) -> str:
    """Return a workspace as part of a file name.

    A name that differs from the path by more than its slashes gets a digest, so that /a/b and /a-b have two files.
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace).strip("-")[-120:] or "root"
    if f"/{name.replace('-', '/')}" == workspace or workspace == "/":
        return name
    return f"{name}-{hashlib.sha256(workspace.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
