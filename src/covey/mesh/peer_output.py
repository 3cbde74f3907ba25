"""What a peer has printed since its last start: why it could not start, if it could not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from covey.contract.mesh_shapes import KIND
from covey.kernel.regular_file import open_regular

if TYPE_CHECKING:
    from covey.kernel.home import Home

STARTS = "--- "
"""How the line begins that the supervisor writes before each start."""
PREAMBLE = "the daemon could not start"
TAIL_BYTES, LONGEST = 16 * 1024, 400


def output_file(home: Home, slug: str) -> Path:
    """Return the file of what a peer prints. Its log is another one."""
    return Path(home.node.directory, "children", f"{KIND}-{slug}.log")


def said_last(home: Home, slug: str) -> str:
    """Return the first line that a peer has printed since its last start; empty if there is none."""
    try:
        with open_regular(output_file(home, slug)) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode(errors="replace")
    except OSError:
        return ""
    lines = text.splitlines()
    begin = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].startswith(STARTS)), len(lines))
    said = [line.strip() for line in lines[begin + 1 :] if line.strip() and line.strip() != PREAMBLE]
    traceback = next((at for at, line in enumerate(said) if line.startswith("Traceback ")), None)
    found = said[-1:] if traceback is not None else said[:1]
    return "".join(letter if letter.isprintable() else "?" for letter in "".join(found))[:LONGEST]
