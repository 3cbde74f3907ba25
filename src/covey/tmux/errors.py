"""What can go wrong between us and a tmux server.

TmuxError
├── TmuxRefusedError          the server answered, and the answer is no; the message is tmux's own
├── TmuxGoneError             there is no server behind this socket
├── TmuxReplacedError         there is one, but it is not the one that was asked before
├── TmuxUnreadableError       the server answered, and the answer cannot be understood
└── TmuxUnreachableError      nobody knows: the way to the server is broken (ssh, permissions, no tmux program)
    ├── TmuxTimeoutError      no answer within the deadline: the client, the server or the way is stuck
    └── TmuxProtocolError     the conversation broke off, or what answers is not tmux
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from covey.hosts.errors import HostTimeoutError, HostUnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator

GONE = ("no server running on", "No such file or directory)", "Connection refused)", "server exited")
"""How tmux says that there is no server; each in the one line that it prints about it."""
GONE_PREFIXES = ("no server running on", "error connecting to", "server exited", "[server exited")
HUNG_UP = ("server exited unexpectedly", "lost server", "[lost server")
"""How tmux says that a server is there, or was a moment ago, and broke off."""


class TmuxError(Exception):
    """Anything in this tree. The message is one sentence for a person."""


class TmuxRefusedError(TmuxError):
    """The server refused a command."""


class TmuxGoneError(TmuxError):
    """No server runs there."""


class TmuxReplacedError(TmuxError):
    """Another server is behind the socket by now: what was known of the former does not hold for it."""


class TmuxUnreadableError(TmuxError):
    """What the server printed is not what was asked for. The message names the question, the answer and the version of tmux."""


class TmuxUnreachableError(TmuxError):
    """Whether a server runs there cannot be told."""


class TmuxTimeoutError(TmuxUnreachableError):
    """An answer did not come in time."""


class TmuxProtocolError(TmuxUnreachableError):
    """What answers does not speak tmux's protocol, or it broke off where it should go on."""


@contextmanager
def as_tmux_errors() -> Iterator[None]:
    """Raise errors of the machine as errors of the tmux server that was asked through it."""
    try:
        yield
    except HostTimeoutError as error:
        raise TmuxTimeoutError(str(error)) from error
    except HostUnreachableError as error:
        raise TmuxUnreachableError(str(error)) from error


def failure(words: str, code: int) -> TmuxError:
    """What a tmux program, perhaps behind ssh, meant by its last words and the code with which it ended."""
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    if line.startswith(HUNG_UP):
        return TmuxProtocolError(
            f"{line}; if it goes on, the server may be of another version than the tmux in PATH there: tmux before and since 3.6 do not understand each other"
        )
    if line.startswith(GONE_PREFIXES) and any(sign in line for sign in GONE):
        return TmuxGoneError(line)
    if code <= 0:  # sent away, or killed
        return TmuxProtocolError(f"the client of tmux ended with code {code}{line and ': '}{line}")
    if code == 1 and line and not line.startswith("error connecting"):
        return TmuxRefusedError(line)
    return TmuxUnreachableError(line or f"it ended with code {code} and no word")
