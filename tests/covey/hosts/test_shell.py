"""A shell that stays open: real ones, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence

import pytest
import uvloop

from covey.hosts.errors import HostTimeoutError, HostUnreachableError
from covey.hosts.executor import Local
from covey.hosts.shell import Shell


class Login(Local):
    """A login that prints something before, and may fail."""

    def __init__(self, before: str) -> None:
        self._before = before
        self.started = 0

    async def spawn(self, argv: Sequence[str]) -> Process:
        self.started += 1
        return await super().spawn(["sh", "-c", f"{self._before}; exec {argv[0]}"])


@contextlib.asynccontextmanager
async def open_shell(executor: Local) -> AsyncIterator[Shell]:
    shell = Shell(executor)
    try:
        yield shell
    finally:
        await shell.aclose()


async def test_one_shell_answers_script_after_script_and_keeps_what_they_set() -> None:
    async with open_shell(Local()) as shell:
        first = await shell.run("echo $$; x=5; cat", deadline_s=10)
        second = await shell.run("echo $$; echo oops >&2; printf '%s\\0\\n\\n' $x", deadline_s=10)
        assert second == first + b"5\0\n\n"


async def test_scripts_of_several_callers_do_not_mix() -> None:
    async with open_shell(Local()) as shell:
        answers = await asyncio.gather(*(shell.run(f"printf {number}", deadline_s=10) for number in range(20)))
        assert answers == [str(number).encode() for number in range(20)]


async def test_the_output_of_a_login_is_not_an_answer() -> None:
    async with open_shell(Login("echo Welcome; printf no-newline")) as shell:
        assert await shell.run("printf yes", deadline_s=10) == b"yes"


async def test_a_script_that_does_not_end_is_ended_and_the_next_has_a_new_shell() -> None:
    there = Login("true")
    async with open_shell(there) as shell:
        pid = int(await shell.run("printf $$", deadline_s=10))
        with pytest.raises(HostTimeoutError, match=r"did not answer within 0\.2 s"):
            await shell.run("sleep 1000", deadline_s=0.2)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert await shell.run("printf again", deadline_s=10) == b"again"
        assert there.started == 2


async def test_a_caller_that_leaves_takes_its_answer_along() -> None:
    async with open_shell(Local()) as shell:
        await shell.run("true", deadline_s=10)
        asking = asyncio.create_task(shell.run("sleep 0.2; echo late", deadline_s=10))
        await asyncio.sleep(0)  # it has asked
        asking.cancel()
        assert await shell.run("printf mine", deadline_s=10) == b"mine"


async def test_the_last_words_of_a_shell_that_ends_are_the_reason() -> None:
    async with open_shell(Login("echo hello >&2; echo 'Permission denied (publickey).' >&2; exit 255")) as shell:
        with pytest.raises(HostUnreachableError, match=r"^Permission denied"):
            await shell.run("true", deadline_s=10)


async def test_a_machine_that_prints_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.hosts.shell.LIMIT_BYTES", 1 << 20)
    there = Login("true")
    async with open_shell(there) as shell:
        with pytest.raises(HostUnreachableError, match="more than 1 MiB in answer to one question"):
            await shell.run("yes", deadline_s=60)
        assert await shell.run("printf again", deadline_s=60) == b"again"
        assert there.started == 2


async def test_a_login_that_prints_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.hosts.shell.LIMIT_BYTES", 1 << 20)
    async with open_shell(Login("yes")) as shell:
        with pytest.raises(HostUnreachableError, match="more than 1 MiB"):
            await shell.run("true", deadline_s=60)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_shell_that_ends_at_once_is_the_reason_in_its_own_words(loop: str) -> None:
    """The pipe to it may be closed before anything is written: uvloop then raises a RuntimeError."""

    class Closed(Login):
        async def spawn(self, argv: Sequence[str]) -> Process:
            process = await super().spawn(argv)
            await process.wait()
            assert process.stdin
            process.stdin.close()
            await asyncio.sleep(0.05)  # until the loop has closed the pipe
            return process

    async def main() -> None:
        async with open_shell(Closed("echo 'Permission denied (publickey).' >&2; exit 255")) as shell:
            with pytest.raises(HostUnreachableError, match=r"^Permission denied"):
                await shell.run("true", deadline_s=10)

    if loop == "uvloop":
        uvloop.run(main())
    else:
        asyncio.run(main())
