"""Commands over the socket of a real server, and over sockets of other programs."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from covey.tmux import client, message
from covey.tmux.client import ask, supports
from covey.tmux.errors import TmuxError, TmuxGoneError, TmuxProtocolError, TmuxReplacedError, TmuxTimeoutError
from tests.covey.tmux.conftest import LIMIT_S, Tmux, until

VERSION = subprocess.check_output(["tmux", "-V"], text=True).split()[1]


async def asked(path: str, server: int, *words: str, deadline_s: float = 20.0) -> client.Reply:
    return await ask(path, server, list(words), deadline_s=deadline_s)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def listening(path: str, serve: Callable[[socket.socket], None]) -> Iterator[None]:
    """A socket behind which a program listens that is not a tmux server."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def work() -> None:
            connection, _ = listener.accept()
            with connection:
                serve(connection)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield
        thread.join(LIMIT_S)


def test_the_installed_version_is_asked_over_the_socket() -> None:
    """A newer one is to be tried and added."""
    assert supports(VERSION)


async def test_output_complaints_and_code_are_those_of_the_program(tmux: Tmux) -> None:
    server = tmux.start("user")
    before = open_files()
    for words in (
        ("display-message", "-p", "a\tb é #{session_name}"),
        ("display-message", "-p", "one", ";", "capture-pane", "-p", "-t", "%99", ";", "display-message", "-p", "two"),
        ("list-keys",),
        ("no-such-command",),
        ("display-message", "-p", 'it\'s; \\ "quoted" $HOME ~'),
        ("has-session", "-t", "nobody"),
    ):
        program = tmux.try_run(*words)
        assert await asked(tmux.socket, server, *words) == (program.returncode, program.stdout, program.stderr)
    assert open_files() == before
    assert tmux.run("list-clients") == ""


async def test_an_answer_of_many_messages_arrives_whole(tmux: Tmux) -> None:
    server = tmux.start("user")
    program = tmux.try_run("list-keys").stdout
    reply = await asked(tmux.socket, server, *["list-keys", ";"] * 30, "list-keys")
    assert len(reply.out) > 10 * message.LONGEST_BYTES
    assert reply.out == program * 31


async def test_no_file_is_read_or_written_for_a_server(tmux: Tmux) -> None:
    server = tmux.start("user")
    tmux.run("set-buffer", "hello")
    assert (await asked(tmux.socket, server, "save-buffer", str(tmux.folder / "file"))).code == 1
    assert (await asked(tmux.socket, server, "load-buffer", "/etc/passwd")).code == 1
    assert not (tmux.folder / "file").exists()
    assert tmux.run("show-buffer") == "hello"
    assert tmux.pid == server


async def test_a_server_that_dies_is_gone_and_one_that_took_its_place_is_not_asked(tmux: Tmux) -> None:
    server = tmux.start("user")
    assert (await asked(tmux.socket, server, "display-message", "-p", "x")).out == "x\n"
    os.kill(server, signal.SIGKILL)
    with pytest.raises(TmuxGoneError):  # a killed process may take a moment to be taken down
        await _until_gone(tmux.socket, server)
    tmux.start("user")
    with pytest.raises(TmuxReplacedError):
        await asked(tmux.socket, server, "display-message", "-p", "x")


async def test_a_server_that_ends_with_the_command_is_gone_or_answers(tmux: Tmux) -> None:
    server = tmux.start("user")
    with suppress(TmuxGoneError):
        assert (await asked(tmux.socket, server, "kill-server")).code in (0, 1)
    with pytest.raises(TmuxGoneError):
        await _until_gone(tmux.socket, server)


async def _until_gone(path: str, server: int) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            await ask(path, server, ["display-message", "-p", "x"], deadline_s=20)


async def test_a_stopped_server_does_not_keep_us_and_is_well_afterwards(tmux: Tmux) -> None:
    server = tmux.start("user")
    before = open_files()
    os.kill(server, signal.SIGSTOP)
    try:
        with pytest.raises(TmuxTimeoutError):
            await asked(tmux.socket, server, "display-message", "-p", "x", deadline_s=0.2)
    finally:
        os.kill(server, signal.SIGCONT)
    assert open_files() == before
    assert (await asked(tmux.socket, server, "display-message", "-p", "x")).out == "x\n"


async def test_a_caller_that_is_cancelled_while_asking_leaves_nothing_open(tmux: Tmux) -> None:
    server = tmux.start("user")
    before = open_files()
    for steps in range(12):
        asking = asyncio.create_task(ask(tmux.socket, server, ["list-keys"], deadline_s=20))
        for _ in range(steps):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await until(lambda: tmux.run("list-clients") == "")
    assert open_files() == before
    assert tmux.pid == server


async def test_a_command_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="longer than"):
        await asked("/nowhere", 1, "x" * message.LONGEST_BYTES)
    with pytest.raises(ValueError, match="NUL"):
        await asked("/nowhere", 1, "a\0b")


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, TmuxProtocolError),
        (message.HEADER.pack(message.WRITE, 3, 8, 0), TmuxProtocolError),
        (message.HEADER.pack(message.WRITE, 1 << 31, 8, 0), TmuxProtocolError),
        (message.encode(message.WRITE), TmuxProtocolError),
        (message.encode(message.VERSION_MISMATCH), TmuxProtocolError),
        (message.encode(message.SHUTDOWN), TmuxGoneError),
        (message.encode(message.EXIT)[:10], TmuxGoneError),
        (b"", TmuxGoneError),
    ],
)
async def test_whatever_answers_in_place_of_tmux_is_an_error(tmux: Tmux, sent: bytes, error: type[TmuxError]) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(sent)

    with listening(tmux.socket, serve), pytest.raises(error):
        await asked(tmux.socket, os.getpid(), "list-panes")


async def test_a_server_that_accepts_and_does_not_answer_is_a_timeout(tmux: Tmux) -> None:
    with listening(tmux.socket, _drain), pytest.raises(TmuxTimeoutError):
        await asked(tmux.socket, os.getpid(), "list-panes", deadline_s=0.2)


async def test_an_answer_without_end_is_cut_off(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LIMIT_BYTES", 1 << 20)

    def serve(connection: socket.socket) -> None:
        flood = message.encode(message.WRITE, message.NUMBER.pack(1) + b"x" * 8192)
        try:
            while True:
                connection.sendall(flood)
        except OSError:
            return

    with listening(tmux.socket, serve), pytest.raises(TmuxProtocolError, match="more than"):
        await asked(tmux.socket, os.getpid(), "list-panes")


def _drain(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


@pytest.mark.parametrize(
    ("version", "fit"),
    [
        ("3.3a", True),
        ("3.2", True),
        ("3.1c", False),
        ("3.9", False),
        ("next-3.4", False),
        ("openbsd-7.5", False),
        ("master", False),
        ("", False),
    ],
)
def test_only_versions_that_were_tried_are_asked_over_the_socket(version: str, *, fit: bool) -> None:
    assert supports(version) is fit
