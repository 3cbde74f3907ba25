"""A program that looks like Claude Code at its prompt, keeps its files, and answers what it is told.

It stays at work while a file called `hold` is beside its log. `ask` makes it ask for leave.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from composing_agent import LOG, Agent, main  # type: ignore[import-not-found]

SESSION = "11111111-1111-4111-8111-111111111111"
CONFIG = Path(os.environ["CLAUDE_CONFIG_DIR"])
TRANSCRIPT = CONFIG / "projects" / "p" / f"{SESSION}.jsonl"
RULE = "─" * 60
SIGN = "\u276f"
DIALOG = f"""\
 Bash command

   rm -rf build/

 Do you want to proceed?
 {SIGN} 1. Yes
   2. No

 Esc to cancel""".replace("\n", "\r\n")


class Claude(Agent):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        TRANSCRIPT.parent.mkdir(parents=True)
        (CONFIG / "sessions").mkdir()
        self.status("idle")

    def enter(self) -> None:
        said = self.text
        super().enter()
        self.write("user", message={"role": "user", "content": said.rstrip().replace("\t", "    ")})
        self.status("waiting" if self.asks else "busy", waitingFor="permission" if self.asks else "")
        if self.asks:
            return
        self.draw()
        while LOG.with_name("hold").exists():
            time.sleep(0.01)
        reply = [{"type": "text", "text": f"You said {len(said)} characters.\n\n  The last: {said[-4:]}"}]
        message = {"id": said, "role": "assistant", "content": reply, "stop_reason": "end_turn"}
        self.write("assistant", message=message)
        self.write("system", subtype="turn_duration", durationMs=1)
        self.status("idle")

    def status(self, status: str, **more: str) -> None:
        began = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        content = {
            "pid": os.getpid(),
            "procStart": began,
            "sessionId": SESSION,
            "status": status,
            "statusUpdatedAt": int(time.time() * 1000),
            **more,
        }
        (CONFIG / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(content))

    def write(self, kind: str, **more: object) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 1_000_000 % 1000:03d}Z"
        line = {"type": kind, "sessionId": SESSION, "uuid": os.urandom(8).hex(), "timestamp": stamp, **more}
        with TRANSCRIPT.open("a") as file:
            print(json.dumps(line), file=file)

    def draw(self) -> None:
        last = self.text.rpartition("\n")[2][-50:]
        body = DIALOG if self.asks else f"{RULE}\r\n{SIGN}\u00a0{last}\r\n{RULE}\r\n  ? for shortcuts"
        os.write(1, b"\x1b[2J\x1b[H" + f"hello\r\n\r\n{body}".encode())


if __name__ == "__main__":
    main(Claude)
