"""A program that asks, drawn as Claude Code or Copilot CLI draw it, by the name under which it is started.

`claude LOG` asks for approvals that digits answer; `copilot LOG` asks a question whose mark the arrows move. It writes
each answer as a line of JSON. SIGUSR1 puts another dialog in the place of the one that is open; SIGUSR2 opens the next
one. A key counts for a dialog only if tmux had drawn that dialog when it sent the key: the report of the cursor, which
it asks for after each drawing, comes before such keys.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import sys
import termios
import tty
from pathlib import Path

LOG = Path(sys.argv[1])
NAME = Path(sys.argv[0]).name
REPORT = re.compile(rb"\x1b\[\d+;\d+R")
KEYS = {b"\x1b[A": "Up", b"\x1b[B": "Down", b"\x1bOA": "Up", b"\x1bOB": "Down", b"\x1b": "Escape", b"\r": "Enter"}
KEY = re.compile(rb"\x1b\[200~.*?\x1b\[201~|\x1b\[\d+;\d+R|\x1b[\[O][A-Z]|\x1b|.", re.DOTALL)
SIGN = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
OPTIONS = ("First", "Second", "Other (type your answer)")


class Agent:
    def __init__(self) -> None:
        self.number = 0
        self.asks = True
        self.drawn = ""
        """The dialog that tmux is known to show."""
        self.unknown: list[str] = []
        """Dialogs that were drawn since then."""
        self.mark = 0
        self.text = ""

    @property
    def dialog(self) -> str:
        return f"touch file-{self.number}" if self.asks else ""

    def run(self) -> None:
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.signal(signal.SIGUSR2, lambda *_: None)
        os.write(1, b"\x1b[?2004h")
        self.draw()
        while True:
            ready = select.select([0, wake], [], [])[0]
            if wake in ready:
                os.read(wake, 100)
                self.number += 1
                self.asks, self.mark, self.text = True, 0, ""
                self.draw()
            elif not self.take(os.read(0, 65536)):
                return

    def take(self, data: bytes) -> bool:
        for found in KEY.finditer(data):
            key = found[0]
            if REPORT.fullmatch(key):
                self.drawn = self.unknown.pop(0)
            elif key == b"\x03":
                return False
            elif self.drawn:
                self.press(KEYS.get(key) or key.removeprefix(b"\x1b[200~").removesuffix(b"\x1b[201~").decode())
        return True

    def press(self, key: str) -> None:
        if NAME == "copilot" and key in {"Up", "Down"}:
            self.mark = (self.mark + (1 if key == "Down" else -1)) % len(OPTIONS)
        elif NAME == "copilot" and key != "Enter":
            self.text += key
        else:
            chosen = self.text or OPTIONS[self.mark]
            with LOG.open("a") as log:
                print(json.dumps([self.drawn, chosen if NAME == "copilot" else key]), file=log)
            self.asks = self.asks and self.drawn != self.dialog
        self.draw()

    def draw(self) -> None:
        columns, rows = shutil.get_terminal_size()
        lines = [line[:columns] for line in (self.question if NAME == "copilot" else self.approval)(columns)][-rows:]
        self.unknown.append(self.dialog)
        os.write(1, b"\x1b[2J\x1b[H" + "\r\n".join(lines).encode() + b"\x1b[6n")

    def approval(self, columns: int) -> list[str]:
        rule = "─" * columns
        if not self.asks:
            return ["● Done.", "", rule, f"{SIGN}\u00a0", rule, "  ? for shortcuts"]
        return [
            f"{SIGN} do it",
            "",
            rule,
            " Bash command",
            "",
            f"   {self.dialog} && printf '%s, 100% #{{pid}}' \"$HOME\"",
            "   Write a file",
            "",
            " Do you want to proceed?",
            f" {SIGN} 1. Yes",
            "   2. Yes, and don't ask again for touch commands in /here",
            "   3. No",
            "",
            " Esc to cancel · Tab to amend",
        ]

    def question(self, columns: int) -> list[str]:
        rule = "─" * columns
        if not self.asks:
            return [" ● Done.", "", " /here", rule, SIGN, rule, " ← open sidebar · / commands · ? help"]
        marks = [f" {SIGN if at == self.mark else ' '} {label}" for at, label in enumerate(OPTIONS)]
        box = [rule, f"{SIGN} {self.text or 'Type your answer...'}", rule] if self.mark == len(OPTIONS) - 1 else []
        asked = [rule, " Copilot needs information.", f" Which of the two ways, {self.number}?", "", " Way:"]
        return [*asked, *marks, "", " ↑/↓ select · enter accept · ctrl+d decline · esc cancel", rule, *box]


def main() -> None:
    kept = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        Agent().run()
    finally:
        termios.tcsetattr(0, termios.TCSANOW, kept)


if __name__ == "__main__":
    main()
