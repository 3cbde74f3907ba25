"""A program with a composer, as agents have one: what is typed stands behind `> `, Enter submits it.

It writes each message that was submitted, and each Enter that answered a dialog, as a line of JSON to the file that its
argument names. `ask` makes it ask, which any Enter approves; `work` makes it work until Escape. A file called `ask`
beside its log makes it ask at once, whatever stands in the composer. Escape denies, Ctrl-U empties the composer.
"""

from __future__ import annotations

import json
import os
import select
import sys
import termios
import tty
from pathlib import Path

LOG = Path(sys.argv[1])
BEGIN, END = b"\x1b[200~", b"\x1b[201~"


def main(kind: type[Agent]) -> None:
    kept = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, b"\x1b[?2004h")
    try:
        kind().run()
    finally:
        termios.tcsetattr(0, termios.TCSANOW, kept)


class Agent:
    def __init__(self) -> None:
        self.text = ""
        self.asks = self.works = False
        self.pending = b""

    def run(self) -> None:
        self.draw()
        while True:
            wants_to_ask = LOG.with_name("ask").exists() and not self.asks
            if select.select([0], [], [], 0 if wants_to_ask else 0.005)[0]:
                data = os.read(0, 65536)
                if not data or data == b"\x03":
                    return
                self.pending += data
                self.take()
                self.draw()
            elif wants_to_ask:  # what was typed before is the composer's
                self.asks = True
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
                LOG.with_name("ask").unlink(missing_ok=True)
                self.asks = self.works = False
            elif key == b"\x15":
                self.text = ""
            elif not self.asks:
                self.text += key.decode(errors="replace")

    def enter(self) -> None:
        with LOG.open("a") as log:
            print(json.dumps({"approved": True} if self.asks else {"message": self.text}), file=log)
        if self.asks:
            LOG.with_name("ask").unlink(missing_ok=True)
        self.works = not self.asks and self.text == "work"
        self.asks = not self.asks and self.text == "ask"
        self.text = ""

    def draw(self) -> None:
        last = self.text.rpartition("\n")[2][4 - os.get_terminal_size().columns // 2 :]  # one row, if it is wide
        row = "[ask] rm -rf build/" if self.asks else "[work]" if self.works else f"> {last}"
        os.write(1, b"\x1b[2J\x1b[H" + f"hello\r\n{row}".encode())


if __name__ == "__main__":
    main(Agent)
