"""How a tmux server is asked: over its socket, through the `tmux` program, or through a shell on another machine.

In all three ways the client attaches to nothing.
"""

from __future__ import annotations

import os
import shlex
import socket
from typing import TYPE_CHECKING, NamedTuple, Protocol

from covey.hosts.executor import run
from covey.hosts.shell import Shell
from covey.tmux import client
from covey.tmux.activity import Activity
from covey.tmux.client import Reply
from covey.tmux.errors import (
    TmuxGoneError,
    TmuxReplacedError,
    TmuxUnreachableError,
    TmuxUnreadableError,
    as_tmux_errors,
    failure,
)
from covey.tmux.listing import Listing, Question, unreadable
from covey.tmux.server import TMUX, Address, Identity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

ANSWER_S = 5.0
"""The time limit of one answer."""
CONNECT_S = 15.0
"""The time limit of the first answer from another machine: a connection is made, and a login shell starts."""
INTRODUCE = ("display-message", "-p", "#{version} #{pid} #{start_time} #{socket_path}")


class Answer(NamedTuple):
    """A reply. `ran`: whether the server may have done something between the question before and this one."""

    reply: Reply
    ran: bool


class Transport(Protocol):
    """Carries questions to one server and answers back."""

    cheap: bool
    """Whether a question needs neither a process nor a network."""

    @property
    def detects_idle(self) -> bool:
        """Whether this transport can find out that the server has not run."""
        ...

    def is_idle(self) -> bool:
        """Return True if it is known here, without asking, that the server has not run since the last question."""
        ...

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        """Run these commands, several of them with `;` in between, and return their output.

        With `if_ran`, a server that has not run since the last question is not asked, and None is returned. Raises
        `TmuxError`, but not for a command that tmux refuses: that is in the reply.
        """
        ...

    async def aclose(self) -> None: ...


class LocalTransport:
    """Asks a server on this machine. `send` sends a question: over the socket, which is `cheap`, or by a process."""

    def __init__(self, pid: int, send: Callable[[Sequence[str]], Awaitable[Reply]], *, cheap: bool) -> None:
        """`pid` is 0 if the process of the server is not visible here."""
        self.cheap = cheap
        self._send = send
        self._activity = Activity(pid)

    @property
    def detects_idle(self) -> bool:
        return self._activity.known

    def is_idle(self) -> bool:
        return not self._activity.has_run()

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        ran = self._activity.has_run()
        if if_ran and not ran:
            return None
        reply = await self._send(words)
        await self._activity.mark_seen()
        return Answer(reply, ran)

    async def aclose(self) -> None:
        self._activity.close()


UNKNOWN = 2
"""What the shell prints where the system does not provide whether the server has run."""
# The shell itself reads how often the server has run, without starting a process; only if it has run is tmux started.
# When tmux has answered, the server goes to sleep, which counts as having run: so it is read again until the server
# sleeps.
_COUNT = (
    "covey_now= covey_state=; "
    "while read -r k v; do case $k in State:) covey_state=$v;; voluntary_*) covey_now=$v;; esac; done "
    "2>/dev/null </proc/{pid}/status"
)
_ASK = """{count}
if [ -z "$covey_now" ]; then covey_ran=2; elif [ "$covey_now" = "$covey_seen" ]; then covey_ran=0; else covey_ran=1; fi
if [ $covey_ran != 0 ] || [ {always} = 1 ]; then
  {command} 2>&1
  printf '\\n%s %s' $covey_ran $?
  for covey_try in 1 2 3 4 5 6 7 8 9 10; do
    {count}
    case $covey_state in R*) ;; *) break;; esac
  done
  covey_seen=$covey_now
fi"""


class ShellTransport:
    """Asks a server on another machine through one shell that stays open there."""

    cheap = False

    def __init__(self, address: Address, pid: int = 0) -> None:
        self._address = address
        self._shell = Shell(address.executor)
        self.pid = pid
        self.detects_idle = True

    def is_idle(self) -> bool:
        return False

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        script = _ASK.format(
            count=_COUNT.format(pid=self.pid or "self"),
            always=int(not if_ran),
            command=shlex.join(self._address.argv(*words)),
        )
        with as_tmux_errors():
            output = await self._shell.run(script, deadline_s=ANSWER_S, first_s=CONNECT_S)
        text = output.decode(errors="backslashreplace")
        if not text:
            return None
        out, _, end = text.rpartition("\n")
        try:
            ran, code = map(int, end.split())
        except ValueError:
            raise unreadable("a list, through a shell", text) from None
        self.detects_idle = ran != UNKNOWN
        # tmux's error is the last line; the output before it has marks and is not mistaken for the error.
        errors = out.rstrip("\n").rpartition("\n")[2] if code else ""
        return Answer(Reply(code, out, errors), bool(ran))

    async def aclose(self) -> None:
        await self._shell.aclose()


class Access:
    """One identified server. Each answer is checked to come from that server."""

    def __init__(self, transport: Transport, identity: Identity, version: str) -> None:
        self.transport = transport
        self.identity = identity
        self.version = version

    async def listing(self, question: Question, *, if_ran: bool = False) -> tuple[Listing, bool] | None:
        """Return the answer, and whether the server had run since the last question; None as `Transport.ask` does.

        Raises `TmuxRefusedError` if tmux refuses a command, `TmuxUnreadableError` if its output cannot be parsed,
        `TmuxReplacedError` if a different server answers by now.
        """
        answer = await self.transport.ask(question.words, if_ran=if_ran)
        if answer is None:
            return None
        try:
            listing = _parse(question, answer.reply)
        except TmuxUnreadableError as error:
            raise TmuxUnreadableError(f"{error} (tmux {self.version})") from None
        if (listing.head.pid, listing.head.started) != self.identity:
            raise TmuxReplacedError("another server has taken its place")
        return listing, answer.ran

    async def aclose(self) -> None:
        await self.transport.aclose()


async def open_access(address: Address) -> Access:
    """Find out which server runs at an address and how it can be asked, and return the access to it.

    Raises `TmuxError` if no server runs there, or if it does not identify itself.
    """
    if not address.executor.here:
        return await _open_remote(address)
    address = address._replace(program=_program(address.socket))

    async def by_program(words: Sequence[str]) -> Reply:
        try:
            with as_tmux_errors():
                return Reply(*await run(address.executor, address.argv(*words), deadline_s=ANSWER_S))
        except TmuxUnreachableError as error:
            # /proc/PID/exe goes with its process.
            if address.program != TMUX and not os.path.exists(address.program):  # noqa: ASYNC240, PTH110 - no disk
                raise TmuxGoneError("the server has ended") from error
            raise

    version, identity, path = _parse_introduction(await by_program(INTRODUCE))
    # A server in another pid namespace has a different pid here.
    visible_pid = identity.pid if _listener(path) == identity.pid else 0

    async def over_socket(words: Sequence[str]) -> Reply:
        return await client.ask(path, visible_pid, words, deadline_s=ANSWER_S)

    cheap = bool(visible_pid) and client.supports(version)
    return Access(LocalTransport(visible_pid, over_socket if cheap else by_program, cheap=cheap), identity, version)


async def _open_remote(address: Address) -> Access:
    transport = ShellTransport(address)
    try:
        answer = await transport.ask(INTRODUCE)
        assert answer
        version, identity, _ = _parse_introduction(answer.reply)
    except BaseException:
        await transport.aclose()
        raise
    transport.pid = identity.pid
    return Access(transport, identity, version)


def _parse_introduction(reply: Reply) -> tuple[str, Identity, str]:
    """Return the version, the identity and the socket of the server. Raises `TmuxError` if the reply has none."""
    if reply.code:
        raise failure(reply.errors, reply.code)
    try:
        version, pid, started, path = reply.out.partition("\n")[0].split(" ", 3)  # a hook of the user may print more
        return version, Identity(int(pid), int(started)), path
    except ValueError:
        raise unreadable("who it is", reply.out) from None


def _program(path: str) -> str:
    """Return the program to ask a server with: the server's own.

    tmux before and since 3.6 do not understand each other, and after an upgrade the tmux in PATH may be of the other
    kind.
    """
    program = f"/proc/{_listener(path)}/exe"
    try:
        name = os.path.basename(os.readlink(program))  # noqa: PTH115, PTH119 - perhaps of a file that was deleted
    except OSError:
        return TMUX
    return program if name.removesuffix(" (deleted)") == TMUX else TMUX


def _listener(path: str) -> int:
    """Return the pid of the process that listens at a socket of this machine; 0 if that is unknown."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(0)
        try:
            connection.connect(path)
            return client.listener(connection)
        except OSError:
            return 0


def _parse(question: Question, reply: Reply) -> Listing:
    listing = question.parse(reply.out)
    if listing is None:
        raise failure(reply.errors, reply.code) if reply.code else unreadable("who it is", reply.out)
    if not listing.complete:
        if listing.head.sessions:
            raise failure(reply.errors, reply.code)
        # A server without sessions refuses to list panes.
        return listing._replace(panes={} if listing.panes is not None else None)
    return listing
