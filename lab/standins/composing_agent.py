"""A program with a composer, as agents have one: what is typed stands behind `> `, Enter submits it.

It writes each message that was submitted, and each Enter that answered a dialog, as a line of JSON to the file that its
argument names. `ask` makes it ask, which any Enter approves and Escape denies. A file called `ask` beside its log makes
it ask at once, whatever stands in the composer. Ctrl-U deletes what stands there.
"""

from __future__ import annotations

import json
import os
import select
import sys
import termios
import tty
from pathlib import Path

BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def main(log: Path) -> None:
    kept = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    try:
        Agent(log).run()
    finally:
        termios.tcsetattr(0, termios.TCSANOW, kept)


class Agent:
    def __init__(self, log: Path) -> None:
        self.log = log
        self.asked = log.with_name("ask")
        self.text = ""
        self.asks = False
        self.pending = b""

    def run(self) -> None:
        self.draw()
        while True:
            if self.asked.exists() and not self.asks:
                self.asks = True
                self.draw()
            if select.select([0], [], [], 0.005)[0]:
                data = os.read(0, 65536)
                if not data or data == b"\x03":
                    return
                self.pending += data
                self.take()
                self.draw()

    def take(self) -> None:
        while self.pending:
            if self.pending.startswith(BEGIN):
                if END not in self.pending:
                    return
                pasted, _, self.pending = self.pending[len(BEGIN) :].partition(END)
                if not self.asks:  # as agents do: a dialog ignores a paste
                    self.text += pasted.decode()
                continue
            key, self.pending = self.pending[:1], self.pending[1:]
            if key == b"\r":
                self.enter()
            elif key == b"\x1b":
                self.asked.unlink(missing_ok=True)
                self.asks = False
            elif key == b"\x15":
                self.text = ""
            elif not self.asks:
                self.text += key.decode(errors="replace")

    def enter(self) -> None:
        with self.log.open("a") as log:
            print(json.dumps({"approved": True} if self.asks else {"message": self.text}), file=log)
        if self.asks:
            self.asked.unlink(missing_ok=True)
        self.asks = not self.asks and self.text == "ask"
        self.text = ""

    def draw(self) -> None:
        shown = os.get_terminal_size().columns // 2 - 4  # one row, also of wide characters
        last = self.text.rpartition("\n")[2][-shown:]
        row = "[ask] rm -rf build/" if self.asks else f"> {last}"
        os.write(1, b"\x1b[2J\x1b[H" + f"hello\r\n{row}".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
