"""A program that looks like Claude Code, takes its options for a conversation, and goes on with one that is stored.

It writes the options and the environment of each start to `starts` beside its log. Ctrl-C ends it with exit code 0, a
prompt `crash` with 3. At a message `ask` it runs the script `asks` beside the log. A file `starting` there keeps it
from showing its prompt. With a file `outlives` there, it goes on without its terminal, and finishes its turn when it is
sent SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import composing_claude as base  # type: ignore[import-not-found]

LOG = base.LOG
OPTIONS = sys.argv[2:]


def conversation() -> str:
    for option in ("--session-id", "--resume"):
        if option in OPTIONS:
            return OPTIONS[OPTIONS.index(option) + 1]
    return str(base.SESSION)


class Claude(base.Claude):  # type: ignore[misc]
    def __init__(self) -> None:
        base.SESSION = conversation()
        base.TRANSCRIPT = base.CONFIG / "projects" / "p" / f"{base.SESSION}.jsonl"
        for folder in (base.TRANSCRIPT.parent, base.CONFIG / "sessions"):
            folder.mkdir(parents=True, exist_ok=True)
        super(base.Claude, self).__init__()
        with LOG.with_name("starts").open("a") as file:
            print(json.dumps({"options": OPTIONS, "env": dict(os.environ), "cwd": str(Path.cwd())}), file=file)
        if LOG.with_name("outlives").exists():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda *_: LOG.with_name("hold").unlink(missing_ok=True))
        while LOG.with_name("starting").exists():
            time.sleep(0.01)
        self.status("idle")

    def enter(self) -> None:
        if self.text == "crash":
            sys.exit(3)
        if self.text.endswith(" ask"):
            subprocess.Popen(["sh", str(LOG.with_name("asks"))])
        super().enter()

    def write(self, kind: str, **more: object) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 1_000_000 % 1000:03d}Z"
        line = {"type": kind, "sessionId": base.SESSION, "uuid": os.urandom(8).hex(), "timestamp": stamp, **more}
        with base.TRANSCRIPT.open("a") as file:
            print(json.dumps(line, separators=(",", ":")), file=file)


if __name__ == "__main__":
    base.main(Claude)
