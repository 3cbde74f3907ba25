"""Processes of one program, started by a fork of one that has imported what it needs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIME_LIMIT = 120
SMALL = 4096
"""A text that a pipe takes before anybody reads it."""
SERVER, TERMINATOR = "server.py", "terminator"
"""Scripts of servers: the second one makes terminals of a person's."""
KEPT = ("PATH", "PYTHONPATH", "LANG", "PYTHONDONTWRITEBYTECODE")


class ForkServer:
    """Starts processes of one program from one that has imported its libraries (see server.py)."""

    def __init__(self, program: Path, *options: str, script: str = SERVER, **extra: str) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, *options, str(Path(__file__).with_name(script)), str(program)]
        with theirs:
            kept = {name: value for name, value in os.environ.items() if name in KEPT}
            environment = {**kept, "HOME": "/nonexistent", **extra}
            self._process = subprocess.Popen(command, stdin=theirs.fileno(), env=environment)

    def start(self, words: Sequence[str | bytes], streams: list[int], **request: object) -> int:
        """Have the program run with these streams, and return its pid. One program at a time: `wait` comes next."""
        message = json.dumps({"words": [os.fsdecode(word) for word in words], **request}).encode() + b"\n"
        self._socket.settimeout(TIME_LIMIT)
        sent = socket.send_fds(self._socket, [message], streams)
        self._socket.sendall(message[sent:])
        return self._number(TIME_LIMIT)

    def wait(self, limit_s: float = TIME_LIMIT) -> int:
        """Return the exit code of the program, negative if a signal ended it. Raises TimeoutError."""
        return self._number(limit_s)

    def capture(
        self,
        words: Sequence[str | bytes],
        folder: Path,
        environment: dict[str, str],
        stdin: bytes = b"",
        **request: object,
    ) -> tuple[int, bytes, bytes]:
        """Have the program run behind pipes; return its exit code and what it printed. Takes a short standard input."""
        (given, put), (out, to_out), (err, to_err) = os.pipe(), os.pipe(), os.pipe()
        os.write(put, stdin)
        os.close(put)
        with ThreadPoolExecutor(2) as readers, os.fdopen(out, "rb") as output, os.fdopen(err, "rb") as errors:
            read = readers.submit(output.read), readers.submit(errors.read)
            try:
                self.start(words, [given, to_out, to_err], folder=str(folder), environment=environment, **request)
            finally:
                for stream in (given, to_out, to_err):
                    os.close(stream)
            code = self.wait()
            return code, read[0].result(), read[1].result()

    def _number(self, limit_s: float) -> int:
        """Read a line, which is short and arrives whole."""
        self._socket.settimeout(max(limit_s, 0.001))
        line = b""
        while not line.endswith(b"\n"):
            byte = self._socket.recv(1)
            assert byte, "the fork server has ended"
            line += byte
        return int(line)

    def close(self) -> None:
        self._socket.close()
        self._process.wait(TIME_LIMIT)


class ForkServers:
    """As many fork servers of one program as processes of it run at the same time, asked for by any thread."""

    def __init__(self, program: Path, *options: str, script: str = SERVER, **extra: str) -> None:
        self.options = options
        self._program = program
        self._script = script
        self._extra = extra
        self._idle: list[ForkServer] = []
        self._all: list[ForkServer] = []
        self._lock = threading.Lock()

    def take(self) -> ForkServer:
        """Return a server for one process. `give_back` is called when that has ended, and not when it has not."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        server = ForkServer(self._program, *self.options, script=self._script, **self._extra)
        with self._lock:
            self._all.append(server)
        return server

    def give_back(self, server: ForkServer) -> None:
        with self._lock:
            self._idle.append(server)

    def capture(
        self,
        words: Sequence[str | bytes],
        folder: Path,
        environment: dict[str, str],
        stdin: bytes = b"",
        **request: object,
    ) -> tuple[int, bytes, bytes]:
        """Have the program run behind pipes; return its exit code and what it printed. Takes a short standard input."""
        server = self.take()
        captured = server.capture(words, folder, environment, stdin, **request)
        self.give_back(server)
        return captured

    def close(self) -> None:
        for server in self._all:
            server.close()
