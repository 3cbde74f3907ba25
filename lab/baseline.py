"""The baseline observer: what most tools do.

Twice a second it hashes every pane's screen; a changed screen means running, a question on it means waiting for
approval, anything else means idle. Its confidence is always high.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab.observer import SOCKET, TIMELINE

PERIOD = 0.5
PROMPT = re.compile(
    r"\(y/n\)|\[y/N\]|Do you want to|Would you like to|Allow (once|execution)|❯ 1\. Yes|Permission required",
    re.IGNORECASE,
)
SHELLS = {"bash", "zsh", "fish", "sh"}


def tmux(socket: str, *arguments: str) -> str:
    return subprocess.run(["tmux", "-u", "-S", socket, *arguments], capture_output=True, text=True, check=False).stdout


def judge(screen: str, before: str, now: str) -> str:
    if now != before:
        return "running"
    return "waiting_approval" if PROMPT.search(screen) else "idle"


def main() -> None:
    socket, timeline = os.environ[SOCKET], Path(os.environ[TIMELINE])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    hashes: dict[str, str] = {}
    claimed: dict[str, str] = {}
    with timeline.open("a", encoding="utf-8", buffering=1) as out:
        while True:
            listing = [
                line.split()
                for line in tmux(socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_current_command}").splitlines()
            ]
            for pane, command in listing:
                screen = tmux(socket, "capture-pane", "-p", "-t", pane)
                now = hashlib.sha256(screen.encode()).hexdigest()
                state = "gone" if command in SHELLS else judge(screen, hashes.get(pane, ""), now)
                hashes[pane] = now
                if claimed.get(pane) != state:
                    claimed[pane] = state
                    out.write(
                        json.dumps({"at": time.time(), "pane": pane, "state": state, "confidence": "high"}) + "\n"
                    )
            time.sleep(PERIOD)


if __name__ == "__main__":
    main()
