"""Where programs run: on this machine, or on another through the user's own OpenSSH."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import shlex
import socket
from asyncio.subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING, Protocol

from covey.hosts.errors import HostTimeoutError, HostUnreachableError

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Sequence
    from pathlib import Path

INHERITED = {"TMUX", "TMUX_PANE"}
"""What a daemon started inside tmux must not hand on: tmux would believe that it is being nested."""
CONNECT_S, PERSIST_S, EXIT_S = 10, 60, 2.0
LIMIT_BYTES = 16 << 20
"""Of what one program may print."""
SOCKET_PATH_BYTES, SSH_SUFFIX_BYTES = 104, 18
"""The shortest limit of a Unix socket's path among our platforms, and what ssh appends while it makes one."""
# Run on the other machine: what is started there ends soon after its sshd, which may have been killed. A shell that
# waits for a tmux server that hangs does not end by itself. The shell knows the process that it becomes, and its
# parent. It asks before it starts anything: a parent that has ended by then is told from one that may not be asked.
GUARD = """if kill -0 $PPID 2>/dev/null; then
  while sleep 3 && kill -0 $$; do
    kill -0 $PPID || { kill $$; sleep 1; kill -9 $$; exit; }
  done </dev/null >/dev/null 2>&1 &
elif parent=$(ps -o ppid= -p $$ 2>/dev/null) && [ $parent -ne $PPID ]; then
  exit
fi
exec "$@\""""
ALIAS = re.compile(r"[A-Za-z0-9_\[][^\s\x00-\x1f\x7f]*")


class Executor(Protocol):
    """A machine on which programs can be started."""

    @property
    def name(self) -> str:
        """The machine's name for people."""
        ...

    @property
    def here(self) -> bool:
        """Whether it is this machine: its sockets can be used without a program."""
        ...

    async def spawn(self, argv: Sequence[str]) -> Process:
        """Start a program with pipes for its input, output and errors. The caller owns the process.

        Raises `HostUnreachableError` if the program cannot be started.
        """
        ...

    def listening(self, path: str) -> bool | None:
        """Return whether a process listens at a Unix socket there; None if only a program there could tell."""
        ...

    async def reset(self) -> None:
        """Close a connection that may be dead; the next `spawn` opens a new one."""
        ...

    async def aclose(self) -> None:
        """Leave nothing running."""
        ...


class Local:
    """This machine."""

    name = "local"
    here = True

    async def spawn(self, argv: Sequence[str]) -> Process:
        environment = {key: value for key, value in os.environ.items() if key not in INHERITED}
        return await _start(argv, environment)

    def listening(self, path: str) -> bool | None:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(0)
            try:
                probe.connect(path)
            except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
                return False
            except BlockingIOError:  # its backlog is full: it is there, and it is not well
                return True
            except OSError:
                return None
        return True

    async def reset(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


class Ssh:
    """Another machine, by the alias that the user's ssh configuration knows.

    Nothing else about it is kept: no key, no password, no address.

    All programs share one connection, which ssh itself makes with the first of them, keeps for a minute after the last,
    and gives up when the other side has been silent for ten seconds. No program outlives it there by more than some
    seconds.
    """

    here = False

    def __init__(self, alias: str, *, control_dir: Path, options: Sequence[str] = ()) -> None:
        if not ALIAS.fullmatch(alias):
            raise ValueError(f"{alias!r} is no ssh alias: it starts with a letter or a digit and has no spaces")
        self.name = alias
        self._alias = alias
        # The same alias with other options is another connection.
        self._control = control_dir / hashlib.sha256("\0".join([alias, *options]).encode()).hexdigest()[:16]
        if len(os.fsencode(self._control)) + SSH_SUFFIX_BYTES > SOCKET_PATH_BYTES:
            raise ValueError(f"{control_dir} is too long a path for the sockets of ssh")
        self._options = [*options, "-o", f"ControlPath={self._control}"]

    async def spawn(self, argv: Sequence[str]) -> Process:
        self._control.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Options of the caller come first: ssh takes the first value that it sees.
        return await _start(
            [
                "ssh", "-T", *self._options,
                "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}",
                "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2",
                "-o", "ControlMaster=auto", "-o", f"ControlPersist={PERSIST_S}",
                "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes",
                "--", self._alias, f"exec {shlex.join(['sh', '-c', GUARD, 'sh', *argv])}",
            ],
            dict(os.environ),
        )  # fmt: skip

    def listening(self, path: str) -> bool | None:  # noqa: ARG002 - only a program on the other side could tell
        return None

    async def reset(self) -> None:
        if not self._control.exists():
            return
        process = await asyncio.create_subprocess_exec(
            "ssh",
            *self._options,
            "-O",
            "exit",
            "--",
            self._alias,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
        try:
            await asyncio.wait_for(process.wait(), EXIT_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        # A master that does not answer keeps its connection to itself; the next one gets a fresh socket.
        self._control.unlink(missing_ok=True)

    async def aclose(self) -> None:
        await self.reset()


async def run(executor: Executor, argv: Sequence[str], *, deadline_s: float) -> tuple[int, str, str]:
    """Run a program to its end and return its exit code, output and errors.

    Raises `HostTimeoutError` if it does not end in time and `HostUnreachableError` if it prints too much; it is killed
    then.
    """
    process: Process | None = None
    try:
        async with asyncio.timeout(deadline_s):
            process = await executor.spawn(argv)
            assert process.stdin
            process.stdin.close()
            out, complaints = await asyncio.gather(
                _bounded(executor, process.stdout), _bounded(executor, process.stderr)
            )
            await process.wait()
    except TimeoutError:
        raise HostTimeoutError(f"{argv[0]} on {executor.name} did not end within {deadline_s:g} s") from None
    finally:
        if process is not None and process.returncode is None:
            await kill(process)
    assert process.returncode is not None
    return process.returncode, out.decode(errors="backslashreplace"), complaints.decode(errors="backslashreplace")


async def _bounded(executor: Executor, stream: asyncio.StreamReader | None) -> bytes:
    """Return all that a program prints. Raises `HostUnreachableError` if that is more than LIMIT_BYTES."""
    assert stream
    heard = bytearray()
    while data := await stream.read(LIMIT_BYTES):
        heard += data
        if len(heard) > LIMIT_BYTES:
            raise HostUnreachableError(
                f"{executor.name} printed more than {LIMIT_BYTES >> 20} MiB in answer to one question"
            )
    return bytes(heard)


async def kill(process: Process) -> None:
    """Kill a process of ours and close its pipes first: a tmux server that hangs may hold their other ends."""
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - kills it too; asyncio has no public way to let go of the pipes
    ended, cancelled = asyncio.ensure_future(process.wait()), False
    while not ended.done():  # a killed process ends at once; left alone, it would be collected before that is noticed
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _start(argv: Sequence[str], environment: dict[str, str]) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
    except OSError as error:
        raise HostUnreachableError(f"{argv[0]} cannot be started: {error.strerror}") from error
