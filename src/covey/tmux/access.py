"""How a tmux server is asked: over its socket, through the `tmux` program, or through a shell on another machine. In all three ways by a client that attaches to nothing."""

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
"""For one answer."""
CONNECT_S = 15.0
"""For the first one from another machine: a connection is made, and a login shell starts."""


INTRODUCE = ("display-message", "-p", "#{version} #{pid} #{start_time} #{socket_path}")


class Answer(NamedTuple):
    """`ran`: whether the server may have done something between the question before and this one."""

    reply: Reply
    ran: bool


class Way(Protocol):
    """A way to ask one server."""

    cheap: bool
    """Whether a question needs neither a process nor a network."""

    @property
    def counts(self) -> bool:
        """Whether it is known when the server has not run."""
        ...

    def still(self) -> bool:
        """Whether it is known here, without asking, that the server has not run since the last question."""
        ...

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        """What these commands print, several of them with `;` in between. `if_ran`: None, and the server is left alone, if it has not run since the last question.

        Raises a `TmuxError`; a command that tmux refuses is no error but in the reply.
        """
        ...

    async def aclose(self) -> None: ...


class FromHere:
    """A server on this machine. `put` puts a question to it: over its socket, which is `cheap`, or by a process for each."""

    def __init__(self, pid: int, put: Callable[[Sequence[str]], Awaitable[Reply]], *, cheap: bool) -> None:
        """`pid` is 0 if the process of the server cannot be seen."""
        self.cheap = cheap
        self._put = put
        self._activity = Activity(pid)

    @property
    def counts(self) -> bool:
        return self._activity.known

    def still(self) -> bool:
        return not self._activity.ran()

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        ran = self._activity.ran()
        if if_ran and not ran:
            return None
        reply = await self._put(words)
        await self._activity.settle()
        return Answer(reply, ran)

    async def aclose(self) -> None:
        self._activity.close()


UNKNOWN = 2
"""What the shell prints where nothing tells whether the server has run."""
# The shell itself reads how often the server has run, without starting a process; only if it has run is tmux started. When tmux has answered, the server goes to sleep, which counts as
# having run: so it is read again until the server sleeps.
_COUNT = (
    "covey_now= covey_state=; "
    "while read -r k v; do case $k in State:) covey_state=$v;; voluntary_*) covey_now=$v;; esac; done 2>/dev/null </proc/{pid}/status"
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


class ThroughShell:
    """A server on another machine, asked through one shell that stays open there."""

    cheap = False

    def __init__(self, address: Address, pid: int = 0) -> None:
        self._address = address
        self._shell = Shell(address.executor)
        self.pid = pid
        self.counts = True

    def still(self) -> bool:
        return False

    async def ask(self, words: Sequence[str], *, if_ran: bool = False) -> Answer | None:
        script = _ASK.format(
            count=_COUNT.format(pid=self.pid or "self"),
            always=int(not if_ran),
            command=shlex.join(self._address.argv(*words)),
        )
        with as_tmux_errors():
            printed = await self._shell.run(script, deadline_s=ANSWER_S, first_s=CONNECT_S)
        told = printed.decode(errors="backslashreplace")
        if not told:
            return None
        out, _, end = told.rpartition("\n")
        try:
            ran, code = map(int, end.split())
        except ValueError:
            raise unreadable("a list, through a shell", told) from None
        self.counts = ran != UNKNOWN
        # tmux's complaint is its last line; what it printed before has marks and is not taken for one.
        return Answer(Reply(code, out, out.rstrip("\n").rpartition("\n")[2] if code else ""), bool(ran))

    async def aclose(self) -> None:
        await self._shell.aclose()


class Access:
    """One server, found and identified. What it answers is checked to come from the same server."""

    def __init__(self, way: Way, identity: Identity, version: str) -> None:
        self.way = way
        self.identity = identity
        self.version = version

    async def listing(self, question: Question, *, if_ran: bool = False) -> tuple[Listing, bool] | None:
        """The answer, and whether the server had run since the last question; None as `Way.ask`.

        `TmuxRefusedError` if tmux refuses a command, `TmuxUnreadableError` if it prints something else, `TmuxReplacedError` if it is another server by now.
        """
        answer = await self.way.ask(question.words, if_ran=if_ran)
        if answer is None:
            return None
        try:
            listing = _read(question, answer.reply)
        except TmuxUnreadableError as error:
            raise TmuxUnreadableError(f"{error} (tmux {self.version})") from None
        if (listing.head.pid, listing.head.started) != self.identity:
            raise TmuxReplacedError("another server has taken its place")
        return listing, answer.ran

    async def aclose(self) -> None:
        await self.way.aclose()


async def find(address: Address) -> Access:
    """Find out which server is there and how it can be asked. Raises a `TmuxError` if there is none, or it does not say."""
    if not address.executor.here:
        return await _find_there(address)
    address = address._replace(program=_program(address.socket))

    async def by_program(words: Sequence[str]) -> Reply:
        try:
            with as_tmux_errors():
                return Reply(*await run(address.executor, address.argv(*words), deadline_s=ANSWER_S))
        except TmuxUnreachableError as error:
            if address.program != TMUX and not os.path.exists(address.program):  # noqa: ASYNC240, PTH110 - a link of the system, gone with its process
                raise TmuxGoneError("the server has ended") from error
            raise

    version, identity, path = _introduced(await by_program(INTRODUCE))
    seen = identity.pid if _listener(path) == identity.pid else 0  # in another namespace it has another number here

    async def over_socket(words: Sequence[str]) -> Reply:
        return await client.ask(path, seen, words, deadline_s=ANSWER_S)

    cheap = bool(seen) and client.fits(version)
    return Access(FromHere(seen, over_socket if cheap else by_program, cheap=cheap), identity, version)


async def _find_there(address: Address) -> Access:
    way = ThroughShell(address)
    try:
        answer = await way.ask(INTRODUCE)
        assert answer
        version, identity, _ = _introduced(answer.reply)
    except BaseException:
        await way.aclose()
        raise
    way.pid = identity.pid
    return Access(way, identity, version)


def _introduced(reply: Reply) -> tuple[str, Identity, str]:
    if reply.code:
        raise failure(reply.complaints, reply.code)
    try:
        version, pid, started, path = reply.out.partition("\n")[0].split(" ", 3)  # a hook of the user may print more
        return version, Identity(int(pid), int(started)), path
    except ValueError:
        raise unreadable("who it is", reply.out) from None


def _program(path: str) -> str:
    """The program to ask a server with: its own, because tmux before and since 3.6 do not understand each other, and after an upgrade the one in PATH may be the other kind."""
    program = f"/proc/{_listener(path)}/exe"
    try:
        name = os.path.basename(os.readlink(program))  # noqa: PTH115, PTH119 - a name, perhaps of a file that was deleted
    except OSError:
        return TMUX
    return program if name.removesuffix(" (deleted)") == TMUX else TMUX


def _listener(path: str) -> int:
    """The process that listens at a socket of this machine; 0 if that cannot be told."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(0)
        try:
            connection.connect(path)
            return client.listener(connection)
        except OSError:
            return 0


def _read(question: Question, reply: Reply) -> Listing:
    listing = question.read(reply.out)
    if listing is None:
        raise failure(reply.complaints, reply.code) if reply.code else unreadable("who it is", reply.out)
    if not listing.complete:
        if listing.head.sessions:
            raise failure(reply.complaints, reply.code)
        return listing._replace(
            panes={} if listing.panes is not None else None
        )  # a server without sessions refuses to list panes
    return listing
