"""One control client: commands in, answers and notices out."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from typing import TYPE_CHECKING, cast

from covey.tmux import protocol
from covey.tmux.errors import TmuxError, TmuxProtocolError, TmuxRefusedError, TmuxTimeoutError, TmuxUnreachableError, failure
from covey.tmux.executor import kill
from covey.tmux.greeting import Greeted

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Sequence
    from typing import Self

    from covey.tmux.protocol import Block, Notice

    Answer = list[str] | TmuxRefusedError
    """The lines that a command printed, or why it was refused."""

DEADLINE_S = 3.0
GOODBYE_S = 1.0
CHUNK_BYTES = 256 * 1024
COMPLAINT_BYTES = 4096


class ControlClient:
    """A control client over a started process, or one without. Commands are pipelined: each gets its own answer, in order, however many are under way.

    After the first missed deadline, broken stream or end of the process it is `over` for good: every answer still awaited fails with the reason.
    """

    def __init__(self, process: Process | Greeted, noticed: Callable[[Notice], None]) -> None:
        assert process.stdin
        self._process = process
        self._stdin = process.stdin
        self._noticed = noticed
        self._pending: deque[asyncio.Future[list[str]]] = deque()
        self._complaints = b""
        self._refusal = ""
        self.over: asyncio.Future[TmuxError] = asyncio.get_running_loop().create_future()
        """Done when the client has ended; tells why. To raise it use `ended`."""
        self._tasks = [asyncio.create_task(self._read(), name="tmux answers"), asyncio.create_task(self._hear(), name="tmux complaints")]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def command(self, *words: str, deadline_s: float | None = DEADLINE_S) -> list[str]:
        """Run one command and return the lines that it printed.

        `TmuxRefusedError` when tmux refuses. No deadline (None) is for a command that is meant to block: it holds up whatever is sent after it.
        """
        return (await self.commands(words, deadline_s=deadline_s))[0]

    async def commands(self, *lines: tuple[str, ...], deadline_s: float | None = DEADLINE_S) -> list[list[str]]:
        """Run commands with nothing in between, and return the answer of each; the first refusal is raised when all have been answered."""
        answers = await self.each(*lines, deadline_s=deadline_s)
        for answer in answers:
            if isinstance(answer, TmuxRefusedError):
                raise answer
        return cast("list[list[str]]", answers)

    async def each(self, *lines: tuple[str, ...], deadline_s: float | None = DEADLINE_S) -> list[Answer]:
        """As `commands`, but a refusal is an answer like any other."""
        if not lines:
            return []
        answers = self._send(lines)
        try:
            async with asyncio.timeout(deadline_s):
                await answers[-1]  # tmux answers in order
        except TimeoutError:
            self._end(TmuxTimeoutError(f"tmux did not answer {lines[0][0]} within {deadline_s:g} s"))
            raise _again(self.over.result()) from None
        except TmuxError:
            pass  # it is read below, after those that came before it
        return [error if isinstance(error := answer.exception(), TmuxRefusedError) else answer.result() for answer in answers]

    async def sealed(self, *lines: tuple[str, ...]) -> list[Answer]:
        """As `each`, for commands that print what others have written, such as screens: text made to look like the end of an answer is found out.

        A word that nobody can guess must come back right after the answers; if it does not, nothing from this client is believed any more.
        """
        seal = secrets.token_hex(8)
        *answers, sealing = await self.each(*lines, ("display-message", "-p", seal))
        if sealing != [seal]:
            self._end(TmuxProtocolError(f"the answer to {lines[0][0]} was not what tmux sent: something on the screen imitates it"))
            raise _again(self.over.result())
        return answers

    async def ended(self) -> TmuxError:
        """Wait for the end of the client, and return the reason as an error to raise."""
        return _again(await asyncio.shield(self.over))

    async def aclose(self) -> None:
        """Detach and be gone; a client that does not go is killed, but not at once: tmux 3.3a crashes if one is killed while it introduces itself."""
        self._stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), GOODBYE_S)
        self._end(TmuxUnreachableError("the client was closed"))
        await (self._process.aclose() if isinstance(self._process, Greeted) else kill(self._process))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send(self, lines: Sequence[tuple[str, ...]]) -> list[asyncio.Future[list[str]]]:
        """All in one piece: most of what asking costs us is the writing."""
        written = b"".join(map(protocol.line, lines))
        if self.over.done():
            raise _again(self.over.result())
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[list[str]]] = [loop.create_future() for _ in lines]
        self._pending.extend(answers)
        if not self._stdin.is_closing():
            self._stdin.write(written)
        return answers

    async def _read(self) -> None:
        assert self._process.stdout
        parser = protocol.Parser()
        while data := await self._process.stdout.read(CHUNK_BYTES):
            try:
                for found in parser.feed(data):
                    if isinstance(found, protocol.Block):
                        self._answered(found)
                    else:
                        self._noticed(found)
            except TmuxProtocolError as error:
                self._end(error)
                return
        code = await self._process.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._tasks[1]), GOODBYE_S)
        words = self._complaints.decode(errors="replace") or self._refusal
        # Without a word it was not tmux that refused us: the server died, or the client was sent away.
        self._end(failure(words, code) if words or code > 1 else TmuxProtocolError(f"the client of tmux ended with code {code}"))

    def _answered(self, block: Block) -> None:
        if not block.ours:
            if not block.ok:  # the command that should have attached us
                self._refusal = " ".join(block.lines)
            return
        if not self._pending:
            raise TmuxProtocolError("tmux answered what nobody had asked")
        answer = self._pending.popleft()
        if answer.done():  # its asker was cancelled and has left
            return
        if block.ok:
            answer.set_result(block.lines)
        else:
            _fail(answer, TmuxRefusedError(" ".join(block.lines) or "tmux gave no reason"))

    async def _hear(self) -> None:
        assert self._process.stderr
        while data := await self._process.stderr.read(COMPLAINT_BYTES):
            self._complaints = (self._complaints + data)[:COMPLAINT_BYTES]

    def _end(self, reason: TmuxError) -> None:
        if self.over.done():
            return
        self.over.set_result(reason)
        for answer in self._pending:
            if not answer.done():
                _fail(answer, reason)
        self._pending.clear()


def _fail(answer: asyncio.Future[list[str]], reason: TmuxError) -> None:
    answer.set_exception(_again(reason))
    answer.exception()  # whoever waits gets it; whoever has left is not missed


def _again(reason: TmuxError) -> TmuxError:
    """The same reason as an exception of its own: one that is raised in many places drags the traces of all of them along."""
    return type(reason)(*reason.args)
