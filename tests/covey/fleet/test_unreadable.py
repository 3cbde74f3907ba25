"""A tmux whose answers cannot be read: that is said wherever a person looks, and is never an empty list."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from covey.tmux import message
from tests.covey.conftest import Covey
from tests.covey.fleet.room import until

SHORT = 0xFFFF
"""Of a length: newer clients mark in the rest that a descriptor comes along."""


def answer(connection: socket.socket, path: str) -> None:
    """Speak tmux's protocol with one client: say who it is, and print everything else with its tabs escaped."""
    waiting, asked = b"", b""
    while not asked:
        data = connection.recv(65536)
        if not data:
            return
        waiting += data
        while len(waiting) >= message.HEADER.size and len(waiting) >= (
            length := message.HEADER.unpack_from(waiting)[1] & SHORT
        ):
            if message.HEADER.unpack_from(waiting)[0] == message.COMMAND:
                asked = waiting[:length]
            waiting = waiting[length:]
    introduced = b"#{version}" in asked
    out = (
        f"9.9 {os.getpid()} 1 {path}\n".encode()
        if introduced
        else asked.split(b"\0")[-2].replace(b"\t", b"\\011") + b"\n"
    )
    connection.sendall(message.encode(message.WRITE_OPEN, message.NUMBER.pack(1) * 2 + message.NUMBER.pack(0)))
    connection.recv(65536)
    connection.sendall(
        message.encode(message.WRITE, message.NUMBER.pack(1) + out)
        + message.encode(message.EXIT, message.NUMBER.pack(0))
    )
    connection.recv(65536)


@contextmanager
def odd_server(path: Path) -> Iterator[None]:
    """What listens where a tmux server would."""
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        answer(connection, str(path))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(30)


def test_an_answer_that_cannot_be_read_is_said_by_ps_status_and_doctor(covey: Covey) -> None:
    with odd_server(covey.folder / f"tmux-{os.getuid()}" / "default"):
        assert covey.run("up").code == 0
        (target,) = until(
            lambda: [one for one in covey.run("status").result["fleet"]["targets"] if "printed" in one["reason"]]
        )
        assert target["health"] == "degraded"
        assert "tmux was asked for who it is and printed" in target["reason"]
        assert "tmux 9.9" in target["reason"]
        shown = covey.run("ps", "--output", "text").stdout
        assert "degraded: tmux was asked for who it is and printed" in shown
        assert "degraded (tmux was asked" in covey.run("status", "--output", "text", COLUMNS="200").stdout
        assert "degraded: tmux was asked" in " ".join(covey.run("doctor", "--output", "text").stdout.split())
        log = Path(covey.node / "daemon.log").read_text()
        assert log.count("tmux server cannot be monitored") == 1
