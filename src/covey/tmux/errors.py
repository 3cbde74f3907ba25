"""The errors of a conversation with a tmux server.

TmuxError
├── TmuxRefusedError          the server refused a command; the message is tmux's own
├── TmuxGoneError             no server runs behind this socket
├── TmuxReplacedError         a server runs there, but it is not the one that was asked before
├── TmuxUnreadableError       the server answered, and the answer cannot be parsed
└── TmuxUnreachableError      unknown: the connection to the server is broken (ssh, permissions, no tmux program)
    ├── TmuxTimeoutError      no answer within the deadline: the client, the server or the connection is stuck
    └── TmuxProtocolError     the conversation broke off, or the other end does not speak tmux's protocol
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from covey.hosts.errors import HostTimeoutError, HostUnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator

GONE = ("no server running on", "No such file or directory)", "Connection refused)", "server exited")
"""What tmux prints when no server runs; each is part of a single line."""
GONE_PREFIXES = ("no server running on", "error connecting to", "server exited", "[server exited")
HUNG_UP = ("server exited unexpectedly", "lost server", "[lost server")
"""What tmux prints when a server that runs, or ran a moment ago, has broken off the conversation."""


class TmuxError(Exception):
    """The base of all errors here. The message is one sentence for a person."""


class TmuxRefusedError(TmuxError):
    """The server refused a command."""


class TmuxGoneError(TmuxError):
    """No server runs there."""


class TmuxReplacedError(TmuxError):
    """A different server is behind the socket by now: no fact about the former one holds for it."""


class TmuxUnreadableError(TmuxError):
    """The server's output cannot be parsed. The message names the question, the answer and the version of tmux."""


class TmuxUnreachableError(TmuxError):
    """It is unknown whether a server runs there."""


class TmuxTimeoutError(TmuxUnreachableError):
    """The server did not answer in time."""


class TmuxProtocolError(TmuxUnreachableError):
    """The other end does not speak tmux's protocol, or it broke off in the middle of the conversation."""


@contextmanager
def as_tmux_errors() -> Iterator[None]:
    """Raise errors of the machine as errors of the tmux server that was asked through it."""
    try:
        yield
    except HostTimeoutError as error:
        raise TmuxTimeoutError(str(error)) from error
    except HostUnreachableError as error:
        raise TmuxUnreachableError(str(error)) from error


def failure(output: str, code: int) -> TmuxError:
    """Return the error that a tmux program, perhaps behind ssh, meant by its error output and its exit code."""
    line = next((line.strip() for line in output.splitlines() if line.strip()), "")
    if line.startswith(HUNG_UP):
        return TmuxProtocolError(
            f"{line}; if it goes on, the server may be of another version than the tmux in PATH there: "
            "tmux before and since 3.6 do not understand each other"
        )
    if line.startswith(GONE_PREFIXES) and any(sign in line for sign in GONE):
        return TmuxGoneError(line)
    if code <= 0:  # detached, or killed by a signal
        return TmuxProtocolError(f"the client of tmux ended with code {code}{line and ': '}{line}")
    if code == 1 and line and not line.startswith("error connecting"):
        return TmuxRefusedError(line)
    return TmuxUnreachableError(line or f"it ended with code {code} and no word")
