"""Kept sessions with tokens and channels, the daemon that serves them, and the server of MCP in front of it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from covey.kernel.home import Home
from covey.mcp.address import KEEPER, recorded_port
from covey.mcp.channel_http import token_file
from tests.covey.conftest import TIME_LIMIT, Covey
from tests.covey.fleet.room import until
from tests.covey.mcp import channel_daemon


class Keeper:
    """The sessions api and web, each with a token and the channels alerts and telegram, and the processes for them."""

    def __init__(self, covey: Covey) -> None:
        self.seat = Home(str(covey.home)).node
        self.seat.prepare()
        self.environment = {**covey.environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        for session in ("api", "web"):
            file = token_file(self.seat, session)
            file.parent.mkdir(parents=True)
            file.write_text(f"token of {session}\n")
            channels = channel_daemon.folder(covey.home, session)
            channels.mkdir(parents=True)
            for channel in ("alerts", "telegram"):
                (channels / channel).touch()

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-m", channel_daemon.__name__, self.seat.home]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                assert "pid" in json.loads(process.stdout.readline())
                yield process
            finally:
                process.kill()

    @contextmanager
    def server(self, port: int = 0) -> Iterator[subprocess.Popen[str]]:
        """The server, once it has said where it listens."""
        command = [sys.executable, "-m", "covey.mcp.channel_http", self.seat.home, str(port)]
        with subprocess.Popen(command, env=self.environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                until(lambda: recorded_port(self.seat, process.pid, KEEPER) or process.poll() is not None)
                yield process
            finally:
                process.kill()

    @property
    def port(self) -> int:
        return recorded_port(self.seat, server=KEEPER) or 0

    def written(self, session: str, channel: str) -> list[str]:
        """The messages on a channel, all of which came over MCP."""
        lines = (channel_daemon.folder(self.seat.home, session) / channel).read_text().splitlines()
        assert all(json.loads(line)[0] == "mcp" for line in lines)
        return [json.loads(line)[1] for line in lines]

    def ask(self, method: str, path: str, message: object = None, **headers: str) -> int:
        """Send one request and return the status of its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIME_LIMIT)
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            connection.request(method, path, json.dumps(message) if message else None, {**usual, **headers})
            return connection.getresponse().status
        finally:
            connection.close()
