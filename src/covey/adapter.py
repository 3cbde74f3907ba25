"""Channels of a kept session, for programs that connect it to the world.

An adapter is a program that sends to a session what comes from somewhere, and carries away what the agent sends to the
adapter's channel. This one passes on each line of a log that speaks of an error, and stores what the agent answers:

    import subprocess
    from covey.adapter import Channel

    with Channel("syslog") as channel, open("answers.txt", "a") as answers:
        log = subprocess.Popen(["tail", "-F", "/var/log/syslog"], stdout=subprocess.PIPE, text=True)
        for line in log.stdout:
            if "error" in line:
                channel.send(line)
            for answer in channel.messages(timeout=0):
                print(answer, file=answers, flush=True)

The FIFOs `in.syslog` and `out.syslog` in the session's folder are the channel: the daemon sees them come and go. One
file, the standard library only: copy it to where Covey is not installed, and set COVEY_RUNTIME_DIR there.

Exception
├── ChannelClosed         nobody reads the channel, or there is no session to connect it to
└── ValueError
    └── MessageTooLong    the daemon would refuse a message of that length
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType, TracebackType
    from typing import Self

__all__ = ["Channel", "ChannelClosed", "MessageTooLong", "find_folder"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
WAIT_S = 60.0
"""How long `send` waits for the daemon unless it is told otherwise."""
_PAUSE_S = 0.02
"""Between two attempts at a FIFO that nobody reads: that somebody does now cannot be waited for."""
_LOOK_S = 5.0
"""How often a reader looks whether its FIFO is still there."""
_EMPTY_S = 0.5
"""How long a FIFO is left in place at the end, for the daemon to read what is in it."""
_CANNOT_LOCK = (errno.EOPNOTSUPP, errno.EINVAL)
"""macOS has no locks on FIFOs."""
_PIECE = 65_536
_COMMAND_S = 30.0


class ChannelClosed(Exception):  # noqa: N818 - part of the interface: it reads as what happened
    """The channel cannot be used. The message says why, and what to do."""


class MessageTooLong(ValueError):  # noqa: N818 - part of the interface: it reads as what happened
    """A message has more bytes than the session takes, as `keeper.message_bytes` says. It was not sent."""


class Channel:
    """A channel of a kept session: `send` is what the agent gets, `messages` is what it answers.

    The FIFOs exist while the `with` block runs. SIGTERM ends the block as an exception would, unless the program
    handles it itself. Several threads may use one channel. With `receives=False` the agent cannot send to it, with
    `sends=False` it only receives.
    """

    def __init__(
        self,
        name: str,
        session: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        sends: bool = True,
        receives: bool = True,
    ) -> None:
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a channel: use up to 64 letters, digits, dots, dashes and underscores,"
                " and begin with a letter or a digit"
            )
        self.name = name
        self.folder = Path(folder) if folder is not None else find_folder(session)
        self._in = self.folder / f"in.{name}" if sends else None
        self._out = self.folder / f"out.{name}" if receives else None
        self._made: dict[Path, int] = {}
        self._ended = threading.Event()
        self._sending = threading.Lock()
        self._receiving = threading.Lock()
        self._writer: int | None = None
        self._readers: list[int] = []
        self._received = b""
        self._before: Any = None
        self._making: Path | None = None
        """The FIFO that is being made."""

    def __enter__(self) -> Self:
        _check_folder(self.folder)
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            self._before = signal.signal(signal.SIGTERM, _terminate)
        try:
            if self._in is not None:
                self._make(self._in)
            if self._out is not None:
                self._listen(self._out)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        with self._sending:
            if self._writer is not None:
                deadline = time.monotonic() + _EMPTY_S
                while not _is_empty(self._writer) and time.monotonic() < deadline:
                    time.sleep(_PAUSE_S / 10)
                os.close(self._writer)
                self._writer = None
        if self._making is not None:  # a signal came just after it was made
            self._making.unlink(missing_ok=True)
        for path, inode in self._made.items():
            with contextlib.suppress(OSError):
                if path.lstat().st_ino == inode:
                    path.unlink()
        with self._receiving:
            self._stop_listening()
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
            self._before = None

    def close(self) -> None:
        """End whatever waits: `send` in other threads raises `ChannelClosed`, `messages` ends."""
        self._ended.set()
        with contextlib.suppress(OSError, IndexError):
            os.write(self._readers[1], b"\n")  # wakes the thread that reads

    def send(
        self, text: str, meta: Mapping[str, Any] | None = None, at: float | None = None, *, wait_s: float = WAIT_S
    ) -> None:
        """Put a message for the agent into the channel, whole; return when it is there.

        `meta` is what else there is to know, as JSON has it; `at` is when it was said, in seconds since 1970, now
        unless given. While the daemon is down this waits, up to `wait_s`; then it raises `ChannelClosed`. Raises
        `MessageTooLong` if the message, as JSON, is longer than the session takes, and ValueError if it is empty.
        """
        if self._in is None:
            raise ValueError(f"the channel {self.name} was opened with sends=False")
        if not text.strip():
            raise ValueError("a message needs a text")
        entry = {"channel": self.name, "content": text, "ts": time.time() if at is None else at, "meta": meta or {}}
        data = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        longest = self._longest_message()
        if longest is not None and len(data) - 1 > longest:
            raise MessageTooLong(
                f"the message has {len(data) - 1} bytes as JSON, and the session takes {longest}: shorten it, or set "
                "keeper.message_bytes"
            )
        deadline = time.monotonic() + wait_s
        with self._sending:
            while not self._written(self._in, data, deadline):
                pass

    def messages(self, timeout: float | None = None) -> Iterator[str]:
        """Iterate over what the agent sends to the channel, as it comes.

        With a timeout the iteration ends when nothing has come for so many seconds; it can be taken up again. Only one
        thread may iterate at a time.
        """
        if self._out is None:
            raise ValueError(f"the channel {self.name} was opened with receives=False")
        quiet_since = time.monotonic()
        while not self._ended.is_set():
            message, self._received = _first_message(self._received)
            if message is not None:
                if message.strip():
                    yield message
                    quiet_since = time.monotonic()
                continue
            left = _LOOK_S if timeout is None else quiet_since + timeout - time.monotonic()
            if not self._receive(self._out, min(max(left, 0.0), _LOOK_S)) and timeout is not None and left <= 0:
                return

    def _longest_message(self) -> int | None:
        """Return how many bytes a message may have; None if the folder does not tell, as before the daemon's start."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "message_bytes").read_text())
        return None

    def _make(self, path: Path) -> None:
        """Make a FIFO, or take over one that an adapter left behind."""
        self._making = None if path.exists() else path
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        found = path.lstat()
        if not stat.S_ISFIFO(found.st_mode) or found.st_uid != os.getuid():
            raise ChannelClosed(f"{path} is not a FIFO of yours: remove it, or choose a different name for the channel")
        self._made[path] = found.st_ino
        self._making = None

    def _listen(self, path: Path) -> None:
        """Open a FIFO for reading, and for writing too: with a writer of its own it never comes to an end."""
        self._stop_listening()
        self._received = b""
        try:
            self._make(path)
        except FileNotFoundError:  # the folder is gone: look again later
            self._made.pop(path, None)
            return
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            del self._made[path]  # it is the other adapter's, who removes it
            raise ChannelClosed(
                f"another program reads {path}: end it, or choose a different name for the channel"
            ) from None
        self._readers.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        self._readers.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))

    def _stop_listening(self) -> None:
        while self._readers:
            os.close(self._readers.pop())

    def _receive(self, path: Path, seconds: float) -> bool:
        """Wait for something to read and return whether it came. A FIFO that is gone is made anew."""
        with self._receiving:
            if self._ended.is_set():
                return False
            if _inode(path) != self._made.get(path) or not self._readers:
                self._listen(path)
            if not self._readers:
                self._ended.wait(_PAUSE_S)
                return False
            waits = select.poll()
            waits.register(self._readers[0], select.POLLIN)
            if not waits.poll(seconds * 1000):
                return False
            self._received += os.read(self._readers[0], _PIECE)
            return True

    def _written(self, path: Path, data: bytes, deadline: float) -> bool:
        """Write to whoever reads the FIFO now; return False if the reader ended meanwhile and does not have it all."""
        writer = self._open_writer(path, deadline)
        try:
            if len(data) <= select.PIPE_BUF:
                self._write(writer, data, deadline)
            else:
                while not _is_empty(writer):  # the messages before this one: the next reader is to find them
                    self._pause(None, deadline)
                self._write_alone(path, writer, data, deadline)
        except BrokenPipeError:
            return False
        finally:
            if self._writer is not None:
                fcntl.flock(writer, fcntl.LOCK_UN)
        return True

    def _write_alone(self, path: Path, writer: int, data: bytes, deadline: float) -> None:
        """Write a message that the kernel does not keep together; return when it was read.

        The FIFO loses its name to a new one first. So if the reader is killed in the middle of the message, the next
        reader does not take the rest for a message; BrokenPipeError is raised, and the message is sent again.
        """
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        os.mkfifo(beside, 0o600)
        beside.rename(path)
        self._made[path] = path.lstat().st_ino
        try:
            self._write(writer, data, deadline)
            while not _is_empty(writer):
                if _is_unread(writer):
                    raise BrokenPipeError
                self._pause(None, deadline)
        finally:
            os.close(writer)
            self._writer = None

    def _write(self, writer: int, data: bytes, deadline: float) -> None:
        while data:
            try:
                data = data[os.write(writer, data) :]
            except BlockingIOError:
                self._pause(writer, deadline)

    def _open_writer(self, path: Path, deadline: float) -> int:
        """Return a descriptor that somebody reads from, with a lock that keeps other adapters out.

        It stays open between messages: what the daemon has not read yet when it is killed is then there for the next.
        """
        while True:
            try:
                self._make(path)
                writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                pass  # the folder is gone, or the FIFO was removed just now
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
            else:
                if self._writer is not None:
                    os.close(self._writer)
                self._writer = writer
                if _is_locked_now(writer) and _inode(path) == os.fstat(writer).st_ino:
                    return writer
            self._pause(None, deadline)

    def _pause(self, writer: int | None, deadline: float) -> None:
        """Wait for a moment, or for room in the FIFO. Raises ChannelClosed when the time is over."""
        if self._ended.is_set():
            raise ChannelClosed(f"the channel {self.name} was closed before the message was sent")
        if time.monotonic() >= deadline:
            raise ChannelClosed(
                f"nobody reads {self._in}: start the daemon with `covey up`, and look whether the session is kept with"
                " `covey keep list`; the message was not sent"
            )
        if writer is None:
            self._ended.wait(_PAUSE_S)
        else:
            waits = select.poll()
            waits.register(writer, select.POLLOUT)
            waits.poll(_PAUSE_S * 1000)


def find_folder(session: str | None = None) -> Path:
    """Return the folder of a session; without a name, of the one in COVEY_RUNTIME_DIR or of the default session.

    Raises ChannelClosed if the `covey` command cannot tell.
    """
    if session is None and (given := os.environ.get("COVEY_RUNTIME_DIR")):
        return Path(given)
    command = shutil.which("covey") or str(Path(sys.executable).with_name("covey"))
    words = [command, "keep", "path", *([session] if session else [])]
    try:
        ended = subprocess.run(words, capture_output=True, text=True, timeout=_COMMAND_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ChannelClosed(f"`covey keep path` cannot be run ({error}): set COVEY_RUNTIME_DIR to the folder") from None
    if ended.returncode:
        raise ChannelClosed(f"`covey keep path` failed: {_last_words(ended.stderr)}; see `covey keep list`")
    return Path(_path_in(ended.stdout.strip()))


def _path_in(printed: str) -> str:
    """Return the path in what `covey keep path` printed: the path alone, or JSON with the path as its result."""
    if not printed.startswith("{"):
        return printed
    result = json.loads(printed)["result"]
    return str(result["path"] if isinstance(result, dict) else result)


def _last_words(text: str) -> str:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(text)["message"])
    return " ".join(text.split())[-300:] or "it did not say why"


def _check_folder(folder: Path) -> None:
    try:
        found = folder.stat()
    except OSError as error:
        raise ChannelClosed(f"the session's folder cannot be used ({error}): see `covey keep list`") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ChannelClosed(f"{folder} is not a folder of yours: give that of a kept session, see `covey keep path`")


def _first_message(data: bytes) -> tuple[str | None, bytes]:
    """Return the first message in the bytes, or None if there is no whole one, and what comes after it.

    A message is a line; one of several lines stands between two NULs.
    """
    framed = data.startswith(b"\0")
    message, end, rest = data[framed:].partition(b"\0" if framed else b"\n")
    return (message.decode("utf-8", "replace"), rest) if end else (None, data)


def _is_empty(descriptor: int) -> bool:
    """Return whether everything in a FIFO was read."""
    left = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, left)
    return not left[0]


def _is_unread(descriptor: int) -> bool:
    """Return whether nobody reads a FIFO any more."""
    states = select.poll()
    states.register(descriptor, 0)
    return bool(states.poll(0))


def _is_locked_now(descriptor: int) -> bool:
    """Lock a FIFO and return True; return False if somebody else has the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _CANNOT_LOCK:
            raise
    return True


def _inode(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return path.lstat().st_ino
    return None


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
