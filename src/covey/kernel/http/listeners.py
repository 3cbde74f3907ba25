"""The sockets that the daemon listens on, and the files that say where they are."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import struct
import sys
from typing import Any

from covey.kernel.quoting import quoted
from covey.kernel.regular_file import NotRegularError, identity_of, read_regular
from murli import tool_error

BACKLOG = 2048
SHORTEST_TOKEN, LONGEST_TOKEN = 32, 4096


class Listeners:
    """Holds the bound sockets and the file with the port, and removes them at the end."""

    def __init__(self, socket_path: str, port_file: str, *, tcp: bool, port: int = 0) -> None:
        self._socket_path = socket_path
        self._port_file = port_file
        self.unix = _bind_unix(socket_path)
        self._bound = identity_of(socket_path)
        self.tcp: socket.socket | None = None
        self.port: int | None = None
        if tcp:
            try:
                self.tcp = _bind_tcp(port)
            except OSError as error:
                self.close()
                if port:
                    raise tool_error(
                        f"port {port} on 127.0.0.1, which the setting http.port names, cannot be had: "
                        f"{error.strerror or error}",
                        "Find out who has it (ss -ltnp), or set another: covey config set http.port 0   "
                        "for one that is free",
                    ) from error
                raise tool_error(
                    f"no port on 127.0.0.1 can be had: {error}", "Do without it: covey config set http.tcp false"
                ) from error
            self.port = self.tcp.getsockname()[1]
            self._write_port()
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(port_file)

    @property
    def sockets(self) -> list[socket.socket]:
        return [self.unix] + ([self.tcp] if self.tcp else [])

    @property
    def socket_is_lost(self) -> bool:
        """Whether the path of the socket does not lead to us any more."""
        return identity_of(self._socket_path) != self._bound

    def bind_again(self) -> str:
        """Bind a new socket to the path, as `unix`, and return the path. The caller closes the socket from before."""
        self.unix = _bind_unix(self._socket_path)
        self._bound = identity_of(self._socket_path)
        return self._socket_path

    def restore_port(self) -> str:
        """Write the file with the port if it was removed; return its path, or an empty text if it was there."""
        if self.port is None or os.path.exists(self._port_file):
            return ""
        self._write_port()
        return self._port_file

    def close(self) -> None:
        """Close the sockets and remove their files, unless somebody else has bound the path since."""
        ours = not self.socket_is_lost
        for sock in self.sockets:
            sock.close()
        for path in (self._socket_path, self._port_file) if ours else ():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _write_port(self) -> None:
        _write(self._port_file, f"{self.port}\n", 0o644)


def peer(sock: Any) -> tuple[int, int | None]:
    """Return the user id and, where the system knows it, the process id at the other end of a Unix socket."""
    if sys.platform == "linux":
        pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return int(uid), int(pid)
    else:  # noqa: RET505 - the type checker knows one system at a time
        # macOS: SOL_LOCAL with LOCAL_PEERCRED, a struct xucred, and with LOCAL_PEERPID
        credentials = sock.getsockopt(0, 1, struct.calcsize("2ih16i"))
        try:
            pid = int(sock.getsockopt(0, 2)) or None
        except OSError:  # the peer has gone
            pid = None
        return int(struct.unpack_from("2i", credentials)[1]), pid


def make_token(path: str) -> str:
    """Return the bearer token of the TCP listener, which is kept across restarts and readable by its owner only."""
    try:
        kept = read_regular(path, LONGEST_TOKEN).decode("ascii").strip()
        if len(kept) >= SHORTEST_TOKEN and not os.stat(path).st_mode & 0o077:
            return kept
    except (FileNotFoundError, NotRegularError, UnicodeDecodeError):
        pass
    token = secrets.token_urlsafe(32)
    try:
        _write(path, f"{token}\n", 0o600)
    except OSError as error:
        raise tool_error(
            f"{path} cannot be written: {error.strerror or error}",
            f"Move it away: mv {quoted(path)} {quoted(path + '.old')}",
        ) from error
    return token


def _bind_unix(path: str) -> socket.socket:
    """Bind under a temporary name and rename, so that a client never finds a socket that does not listen."""
    temporary = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        old = os.umask(0o177)
        try:
            sock.bind(temporary)
        finally:
            os.umask(old)
        sock.listen(BACKLOG)
        os.rename(temporary, path)
    except OSError as error:
        sock.close()
        raise tool_error(
            f"the socket {path} cannot be made: {error}", "Check that Covey's home is on a local, writable file system."
        ) from error
    sock.setblocking(False)  # noqa: FBT003 - the socket module takes it so
    return sock


def _bind_tcp(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)  # noqa: FBT003 - the socket module takes it so
    return sock


def _write(path: str, text: str, mode: int) -> None:
    temporary = f"{path}.new"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
    os.replace(temporary, path)
