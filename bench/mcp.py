"""How long MCP takes: from the start of `covey mcp` to its first answer, and one call beside other ways to ask.

    ./run python bench/mcp.py

Prints a table; the ratios are of medians measured side by side in one run.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from covey.contract import OPERATIONS
from covey.kernel.client import Client

if TYPE_CHECKING:
    from collections.abc import Callable

COVEY = [sys.executable, "-m", "covey.cli"]
STARTS, CALLS = 5, 100
PANES = next(operation for operation in OPERATIONS if operation.name == "list.panes")
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Server:
    """A `covey mcp`, and requests to it one after the other."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [*COVEY, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin
        assert self.process.stdout
        self._in: IO[bytes] = self.process.stdin
        self._out: IO[bytes] = self.process.stdout
        self._id = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._id += 1
        self._in.write(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode())
        self._in.write(b"\n")
        self._in.flush()
        return json.loads(self._out.readline())["result"]

    def begin(self) -> None:
        self.ask("initialize", INITIALIZE)
        self._in.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._in.flush()

    def end(self) -> None:
        self._in.close()
        self.process.wait()
        self._out.close()


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def start(env: dict[str, str]) -> None:
    server = Server(env)
    server.begin()
    server.end()


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    env = {**os.environ, "COVEY_HOME": str(folder / "home"), "TMUX_TMPDIR": str(folder)}
    try:
        subprocess.run([*COVEY, "up"], env=env, check=True, capture_output=True)
        client = Client(str(folder / "home" / "node" / "sock"))
        server = Server(env)
        server.begin()

        def command() -> None:
            subprocess.run([*COVEY, "ps", "--json"], env=env, check=True, capture_output=True)

        spent: dict[str, list[float]] = {"socket": [], "mcp": [], "command": [], "start": []}
        for number in range(CALLS):
            spent["socket"].append(timed(lambda: client.call(PANES, {})))
            spent["mcp"].append(timed(lambda: server.ask("tools/call", {"name": "list_agents", "arguments": {}})))
            if number < CALLS // 10:
                spent["command"].append(timed(command))
            if number < STARTS:
                spent["start"].append(timed(lambda: start(env)))
        server.end()
    finally:
        subprocess.run([*COVEY, "down"], env=env, check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
    names = {
        "socket": "list_agents over the raw socket",
        "mcp": "list_agents over covey mcp",
        "command": "covey ps --json",
        "start": "covey mcp: start, initialize, end",
    }
    base = statistics.median(spent["socket"])
    print(f"{'':34} {'median':>10} {'p95':>10} {'x socket':>9}")
    for key, label in names.items():
        ordered = sorted(spent[key])
        middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
        print(f"{label:34} {middle * 1e3:7.1f} ms {high * 1e3:7.1f} ms {middle / base:8.1f}x")


if __name__ == "__main__":
    main()
