"""A session's folder whose FIFOs the test reads and writes as the daemon does, and adapters as processes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

LIMIT_S = 120.0


def until(condition: Callable[[], Any], seconds: float = LIMIT_S) -> Any:
    """Wait until something is true and return it."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return found


class Session:
    """The folder of a kept session, from the daemon's side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.readers: dict[str, dict[int, bytes]] = {}
        """Descriptors of each channel, also of a FIFO that was replaced, with what was read and is not whole."""
        self._whole: dict[str, list[bytes]] = {}

    def read(self, channel: str) -> None:
        """Begin to read a channel, as soon as it is there."""
        until((self.folder / f"in.{channel}").exists)
        self.readers[channel] = {}
        self._whole[channel] = []
        self._follow(channel)

    def stop_reading(self, channel: str) -> None:
        """Let go of a channel as a daemon does that is killed."""
        for reader in self.readers.pop(channel):
            os.close(reader)

    def message(self, channel: str) -> dict[str, Any]:
        """Wait for the next message in a channel."""
        if channel not in self.readers:
            self.read(channel)
        until(lambda: self._whole[channel] or self._read_some(channel))
        found: dict[str, Any] = json.loads(self._whole[channel].pop(0))
        assert set(found) == {"channel", "content", "ts", "meta"}
        assert found["channel"] == channel
        return found

    def silent(self, channel: str) -> bool:
        """Return whether nothing waits in a channel now."""
        waiting = select.select(list(self.readers[channel]), [], [], 0)[0]
        return not self._whole[channel] and not waiting

    def _follow(self, channel: str) -> None:
        """Open the FIFO if it is not the one that is read already."""
        try:
            inode = (self.folder / f"in.{channel}").stat().st_ino
            if inode not in {os.fstat(reader).st_ino for reader in self.readers[channel]}:
                reader = os.open(self.folder / f"in.{channel}", os.O_RDONLY | os.O_NONBLOCK)
                self.readers[channel][reader] = b""
        except FileNotFoundError:
            pass

    def _read_some(self, channel: str) -> bool:
        self._follow(channel)
        readers = self.readers[channel]
        for reader in select.select(list(readers), [], [], 0.05)[0]:
            with contextlib.suppress(BlockingIOError):
                *lines, readers[reader] = (readers[reader] + os.read(reader, 65_536)).split(b"\n")
                self._whole[channel] += lines
        return bool(self._whole[channel])

    def say(self, channel: str, text: str) -> None:
        """Write to a channel what the agent says."""
        path = self.folder / f"out.{channel}"
        until(path.exists)
        framed = f"\0{text}\0" if "\n" in text else f"{text}\n"
        writer = until(lambda: _opened(path))
        try:
            os.write(writer, framed.encode())
        finally:
            os.close(writer)

    def close(self) -> None:
        for channel in list(self.readers):
            self.stop_reading(channel)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


class Adapter:
    """A running adapter."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log = log

    def lines(self, message: str = "") -> list[dict[str, Any]]:
        """Return the lines of the log so far with this message."""
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in found if message in line["msg"]]

    def end(self) -> None:
        """Send SIGTERM, and wait for the end."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(LIMIT_S) == 128 + signal.SIGTERM


Start = Callable[..., Adapter]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "session"
    folder.mkdir(mode=0o700)
    found = Session(folder)
    yield found
    found.close()


@pytest.fixture
def start(session: Session, tmp_path: Path) -> Iterator[Start]:
    """Starts adapters of the session, and ends them."""
    running: list[subprocess.Popen[str]] = []

    def started(kind: str, *, env: dict[str, str] | None = None, **settings: Any) -> Adapter:
        log = tmp_path / f"log{len(running)}"
        words = [sys.executable, "-m", f"covey.keeper.adapters.{kind}", str(session.folder), json.dumps(settings)]
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                words,
                cwd=tmp_path,
                env={**os.environ, **(env or {})},
                stderr=stderr,
                stdin=subprocess.DEVNULL,
                text=True,
            )
        running.append(process)
        return Adapter(process, log)

    yield started
    for process in running:
        process.kill()
        process.wait()


class Web:
    """A server on loopback that records what is posted to it; `answers` are the statuses of the next answers."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, Any]]] = []
        self.answers: list[int] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = web.answers.pop(0) if web.answers else 200
                if status == 200:
                    web.posted.append((self.path, body))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.port: int = self._server.server_address[1]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def web() -> Iterator[Web]:
    found = Web()
    yield found
    found.close()
