"""A real daemon in a home of its own, asked over its socket as the command does, and killed where a race wants that."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract import OPERATIONS
from covey.kernel.client import Client
from lab import processes
from lab.at_terminal import decides, requesting, typed
from lab.races.race import Sent
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_S = 60.0
LOOK_S = 0.02
SENDERS = 64
"""The most calls at once."""
BY_NAME = {operation.name: operation for operation in OPERATIONS}
COVEY = str(Path(sys.executable).parent / "covey")


class NodeError(RuntimeError):
    """The daemon does not do what every race needs; the message says what."""


class Node:
    """The daemon of one stage."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self.home = home
        self.environment = {**environment, "COVEY_HOME": str(home)}
        self._pool = ThreadPoolExecutor(SENDERS)
        self._seat = home / "node"

    async def up(self) -> None:
        await self.command("up")

    async def down(self) -> None:
        with contextlib.suppress(NodeError):
            await self.command("down")
        self._pool.shutdown(wait=False)

    async def kill(self) -> None:
        """End the daemon as a crash would, and return when it is gone."""
        pid = int((self._seat / "pid").read_text())
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(LIMIT_S):
            while processes.alive(pid):
                await asyncio.sleep(LOOK_S)

    async def call(self, name: str, /, **params: Any) -> Any:
        """Return the result of an operation. Raises AgentError."""
        if BY_NAME[name].consent:
            return await self._decided(name, params)
        client = Client(str(self._seat / "sock"), timeout=LIMIT_S)
        return await asyncio.get_running_loop().run_in_executor(self._pool, client.call, BY_NAME[name], params)

    async def _decided(self, name: str, params: Mapping[str, Any]) -> Any:
        """Return the result of a decision that a person takes at a terminal. Raises AgentError."""
        operation = BY_NAME[name]
        asked = requesting(str(self._seat / "sock"), operation.method, operation.route, params)
        asking = await asyncio.create_subprocess_exec(*asked, stdout=subprocess.PIPE)
        status, _, body = (await asking.communicate())[0].decode().partition(" ")
        answer = json.loads(body)
        if status != "200":
            raise AgentError.from_envelope(answer)
        return answer

    async def send(self, ref: str, token: str, text: str, arrives: str | None = None, **more: Any) -> Sent:
        """Send a text; the result has how the call ended, whichever way. `arrives` is the text as it must arrive."""
        began = time.monotonic()
        try:
            answer = await self.call("send", ref=ref, text=text, **more)
        except AgentError as error:
            took = time.monotonic() - began
            return Sent(token, arrives or text, error=error.error, message=error.message, seconds=took)
        receipt = answer["receipt"]
        took = time.monotonic() - began
        return Sent(token, arrives or text, rung=receipt["rung"], why=receipt["why"], seconds=took)

    async def row(self, pane: str) -> dict[str, Any] | None:
        """Return the row of the agent in a pane; None if there is none."""
        with contextlib.suppress(AgentError):
            rows = (await self.call("list.panes"))["items"]
            return next((row for row in rows if row["identity"]["pane_id"] == pane), None)
        return None

    async def cursor(self) -> int:
        """Return the cursor of the newest event."""
        found = await self._events(limit=1)
        return int(found[-1]["id"]) if found else 0

    async def audited(self, since: int) -> list[str]:
        """Return the errors, empty for success, of the calls of `send` that are in the journal after a cursor."""
        found = await self._events(since=str(since), kind=["audit.call"])
        return [event["data"]["data"]["error"] or "" for event in found if event["data"]["subject"] == "send"]

    async def receipts(self, limit: int = 200) -> list[dict[str, Any]]:
        return list((await self.call("receipts.list", limit=limit))["items"])

    async def reached(self, token: str, rung: str, limit_s: float) -> bool:
        """Return whether the receipt of a text comes to a rung in time; it is read from the database itself."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._reached, token, rung, limit_s)

    def _reached(self, token: str, rung: str, limit_s: float) -> bool:
        rungs = ("accepted", "typed", "submitted", "seen")
        enough = rungs[rungs.index(rung) :]
        end = time.monotonic() + limit_s
        with contextlib.closing(sqlite3.connect(f"file:{self._seat / 'node.db'}?mode=ro", uri=True)) as database:
            while time.monotonic() < end:
                with contextlib.suppress(sqlite3.OperationalError):
                    row = database.execute(
                        "SELECT rung FROM receipt WHERE instr(text, ?) ORDER BY id DESC LIMIT 1", (token,)
                    ).fetchone()
                    if row and row[0] in enough:
                        return True
                time.sleep(0.001)
        return False

    async def _events(self, **params: Any) -> list[dict[str, Any]]:
        client = Client(str(self._seat / "sock"), timeout=LIMIT_S)

        def read() -> list[dict[str, Any]]:
            return list(client.stream(BY_NAME["events"], params))

        return await asyncio.get_running_loop().run_in_executor(self._pool, read)

    async def command(self, *words: str) -> str:
        """Run the `covey` command in this home, and return what it prints. Raises NodeError if it fails."""

        line = typed([COVEY, *words]) if decides(words) else [COVEY, *words]

        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                line, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )

        ended = await asyncio.get_running_loop().run_in_executor(self._pool, run)
        if ended.returncode:
            raise NodeError(f"covey {' '.join(words)} failed: {ended.stderr.strip()[-400:]}")
        return ended.stdout
