"""A pretended `claude` for tests of the daemon: it notes each start, obeys a file, and ends with a result line."""

from __future__ import annotations

import json
import sys
import time
import uuid
from pathlib import Path
from typing import Any

PROGRAM = """\
#!{python}
import json, os, subprocess, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "starts"), "a") as starts:
    starts.write(os.environ.get("COVEY_RUN", "?") + "\\n")
sys.stdin.read()
wish = json.load(open(os.path.join(folder, "wish.json")))
if wish["children"]:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    subprocess.Popen(["sleep", "1000"])
call = {{"type": "tool_use", "id": "t1", "name": "Bash", "input": {{"command": "ls"}}}}
message = {{"id": "m1", "usage": {{"input_tokens": wish["streams"]}}, "content": [call]}}
print(json.dumps({{"type": "assistant", "parent_tool_use_id": None, "message": message}}), flush=True)
while wish["waits"] and not os.path.exists(os.path.join(folder, "go")):
    time.sleep(0.02)
time.sleep(wish["seconds"])
if wish["dies"]:
    os.kill(os.getpid(), 9)
print(json.dumps({{
    "type": "result",
    "is_error": False,
    "result": wish["says"],
    "total_cost_usd": wish["cost"],
    "num_turns": 2,
    "usage": {{"input_tokens": 100, "output_tokens": 20}},
    "permission_denials": [],
}}), flush=True)
sys.exit(wish["code"])
"""


def new_run() -> str:
    """The id of a run that no other test has: processes are found by it on the whole machine."""
    return f"01TEST{uuid.uuid4().hex.upper()}"


class Pretended:
    """Lives in a folder that is put on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "claude"
        program.write_text(PROGRAM.format(python=sys.executable))
        program.chmod(0o755)
        self.wish()

    def wish(
        self,
        *,
        says: str = "HEARTBEAT_OK",
        seconds: float = 0.0,
        cost: float = 0.25,
        code: int = 0,
        children: bool = False,
        streams: int = 100,
        dies: bool = False,
        waits: bool = False,
    ) -> None:
        """Set how the next runs go.

        `streams`: the tokens reported at once. `dies`: killed before a result. `waits`: until `let_go`.
        """
        wish = {
            "says": says,
            "seconds": seconds,
            "cost": cost,
            "code": code,
            "children": children,
            "streams": streams,
            "dies": dies,
            "waits": waits,
        }
        draft = self.folder / "draft"
        draft.write_text(json.dumps(wish))
        draft.replace(self.folder / "wish.json")

    def let_go(self) -> None:
        """End the waiting of all runs, now and later."""
        (self.folder / "go").touch()

    @property
    def starts(self) -> list[str]:
        """The runs that were started, in order."""
        file = self.folder / "starts"
        return file.read_text().split() if file.exists() else []


def logged(home: Path) -> list[dict[str, Any]]:
    """The log of heartbeats."""
    file = home / "beats" / "heartbeats.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def until(true: Any, what: str, seconds: float = 60.0) -> None:
    """Wait for something that has to come."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)
