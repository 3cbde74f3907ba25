"""A stand-in for the daemon at its socket: takes requests, notes them, and answers as told."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Listener:
    answer: bytes
    requests: list[bytes] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def until(self, count: int, limit: float) -> bool:
        with self.came:
            return self.came.wait_for(lambda: len(self.requests) >= count, limit)

    @property
    def payloads(self) -> list[Any]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]

    def headers(self, number: int = 0) -> dict[str, str]:
        return headers(self.requests[number])

    def take(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            content = b""
            while b"\r\n\r\n" not in content or len(content.partition(b"\r\n\r\n")[2]) < int(
                headers(content)["Content-Length"]
            ):
                if not (part := connection.recv(1 << 16)):
                    break
                content += part
            with self.came:
                self.requests.append(content)
                self.came.notify_all()
            connection.sendall(self.answer)


def headers(request: bytes) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:])


@contextlib.contextmanager
def listening(home: Path, answer: bytes = b"HTTP/1.1 204 No Content\r\n\r\n") -> Iterator[Listener]:
    """A daemon for a while, at the socket of a Covey home."""
    (home / "node").mkdir(parents=True, exist_ok=True)
    path = home / "node" / "sock"
    listener = Listener(answer)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(64)
        server.settimeout(0.05)
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = server.accept()
                    connection.settimeout(5)
                    listener.take(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener
        finally:
            ended.set()
            thread.join()
            path.unlink()
