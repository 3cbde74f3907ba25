"""`./run demo mesh`, as a newcomer runs it: it shows what it promises, and leaves nothing behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.examples.test_demo import LIMIT_S, ROOT, environment, folder, left_behind

__all__ = ["folder"]
COMMAND = [str(ROOT / "run"), "demo", "mesh"]
PROMISED = (
    "you are alice, its authority",
    "you are bob, its member",
    "2 of 2 peers online",
    "in the inbox of bob",
    "the build on main is red",
    "v2.1 is out",
    "bob is offline",
    "call me when you are back",
    "bob is removed and disconnected",
    "the broker refuses this member",
)


def test_a_newcomer_sees_two_hosts_talk(folder: Path) -> None:
    ended = subprocess.run(
        COMMAND, env=environment(folder), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    places = [ended.stdout.find(text) for text in PROMISED]
    assert -1 not in places, ended.stdout
    assert left_behind(folder) == []
