"""A server that answers a client with given bytes, and the operations that the client calls."""

from __future__ import annotations

import fcntl
import itertools
import socket
import struct
import termios
import threading
from collections.abc import Sequence

from covey.contract import Operation, Parameter

LIMIT_S = 120
GET = Operation(
    "get",
    "Get.",
    cli=["get"],
    route="/v1/get",
    parameters=[Parameter("q", "Q."), Parameter("many", "M.", multiple=True)],
)
PUT = Operation(
    "put",
    "Put.",
    cli=["put"],
    method="PUT",
    route="/v1/put/{name}",
    mutating=True,
    parameters=[Parameter("name", "N."), Parameter("value", "V.")],
)
STREAM = Operation("stream", "Stream.", cli=["stream"], route="/v1/stream", streaming=True, media="text/event-stream")


class Server:
    """Answers each connection with given bytes, in given pieces: a piece is sent when the one before has been read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.pieces: Sequence[bytes] = ()
        self.stay = False
        """Whether to keep the connection open after the last piece."""
        self.read = True
        """Whether to read the request before the answer."""
        self.requests: list[bytes] = []
        self._done = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._done.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(LIMIT_S)
        self._listener.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(LIMIT_S)
            with connection:
                try:
                    self._answer(connection)
                except OSError:
                    continue  # the client left, as it may

    def _answer(self, connection: socket.socket) -> None:
        if self.read:
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65536)
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
        for piece in self.pieces:
            connection.sendall(piece)
            while len(self.pieces) > 1 and struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]:
                pass
        if self.stay:
            connection.recv(1)


def sized(body: bytes, media: str = "application/json", status: str = "200 OK") -> bytes:
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: {media}\r\nCovey-Version: 9.9\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


def chunked(parts: Sequence[bytes], media: str = "application/json") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def pieces(whole: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = [0, *sorted(cut % len(whole) for cut in cuts), len(whole)]
    return [whole[start:end] for start, end in itertools.pairwise(places) if start < end]
