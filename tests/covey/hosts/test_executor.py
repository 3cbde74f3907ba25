"""Programs on this machine and on another: a real sshd on loopback."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from covey.hosts import executor as module
from covey.hosts.errors import HostTimeoutError, HostUnreachableError
from covey.hosts.executor import Executor, Local, Ssh, kill, run
from covey.hosts.shell import Shell
from covey.tmux.sockets import remote_sockets
from lab.sshd import Sshd
from tests.covey.tmux.conftest import Tmux, until, watching

ODD = ["a b", "'", '"', "$HOME", "`id`", "\\", "*", "new\nline", ";", "!x", ""]


def ssh(sshd: Sshd) -> Ssh:
    return Ssh("loop", control_dir=sshd.folder / "c", options=sshd.options)


async def test_a_program_that_is_not_there_is_said_plainly() -> None:
    with pytest.raises(HostUnreachableError, match="No such file"):
        await run(Local(), ["/no/such/program"], deadline_s=5)


async def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(HostTimeoutError):
        await run(Local(), ["sh", "-c", f"echo $$ > {pid}; exec sleep 1000"], deadline_s=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_process_that_is_killed_is_waited_for_even_if_that_is_cancelled_twice() -> None:
    """Else it would be collected before its end is noticed."""
    process = await Local().spawn(["sleep", "1000"])
    killing = asyncio.create_task(kill(process))
    for _ in range(2):
        await asyncio.sleep(0)
        killing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killing
    assert process.returncode == -signal.SIGKILL


async def test_a_daemon_inside_tmux_does_not_hand_its_own_server_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/s,1,0")
    monkeypatch.setenv("TMUX_PANE", "%0")
    _, out, _ = await run(Local(), ["env"], deadline_s=5)
    assert "TMUX" not in out


@pytest.mark.parametrize("alias", ["-oProxyCommand=id", "", "a b", "a\nb"])
def test_an_alias_cannot_be_an_option(alias: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no ssh alias"):
        Ssh(alias, control_dir=tmp_path)


def test_a_control_folder_too_deep_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too long"):
        Ssh("host", control_dir=tmp_path / ("x" * 100))


async def test_words_arrive_unchanged_and_all_share_one_connection(sshd: Sshd) -> None:
    there = ssh(sshd)
    try:
        for _ in range(3):
            code, out, complaints = await run(there, ["printf", "%s\\n--\\n", *ODD], deadline_s=30)
            assert (code, complaints) == (0, "")
            assert out == "".join(f"{word}\n--\n" for word in ODD)
        assert (sshd.folder / "log").read_text().count("Accepted publickey") == 1
    finally:
        await there.aclose()
    await until(lambda: not sshd.children())
    assert list((sshd.folder / "c").iterdir()) == []


async def test_a_login_has_a_home_of_its_own(sshd: Sshd) -> None:
    there = ssh(sshd)
    try:
        code, out, complaints = await run(there, ["sh", "-c", 'echo ~; echo "$HOME"'], deadline_s=30)
        assert (code, out.split(), complaints) == (0, [str(sshd.home)] * 2, "")
        assert sshd.home != Path.home()
    finally:
        await there.aclose()


@pytest.mark.parametrize("script", ["echo $$; exec sleep 1000", "trap '' TERM; echo $$; while :; do sleep 1; done"])
async def test_what_runs_there_ends_when_its_connection_was_killed(sshd: Sshd, script: str) -> None:
    there = ssh(sshd)
    try:
        process = await there.spawn(["sh", "-c", script])
        assert process.stdout
        pid = int(await process.stdout.readline())
        sshd.signal(signal.SIGKILL)
        await until(lambda: not Path(f"/proc/{pid}").exists())
        await process.wait()
    finally:
        await there.aclose()


async def test_a_host_that_is_down_is_unreachable(sshd: Sshd) -> None:
    sshd.process.kill()
    sshd.process.wait()
    there = ssh(sshd)
    with pytest.raises(HostUnreachableError, match="Connection refused"):
        await remote_sockets(Shell(there))
    await there.aclose()


async def test_a_server_behind_ssh_is_watched_like_any_other(sshd: Sshd, tmux: Tmux) -> None:
    tmux.start("user")
    there = ssh(sshd)
    try:
        async with watching(tmux, executor=there) as reader:
            new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec cat")
            await until(lambda: new in reader.watch.panes)
            tmux.run("send-keys", "-t", new, "-l", "hello")
            await until(lambda: "hello" in tmux.run("capture-pane", "-p", "-t", new))
            assert "hello" in await reader.watch.capture(new)
    finally:
        await there.aclose()
    assert tmux.sessions() == ["user"]
    assert tmux.hooks() == []


async def test_a_cut_connection_is_unreachable_at_once_and_comes_back(sshd: Sshd, tmux: Tmux) -> None:
    tmux.start("user")
    there: Executor = ssh(sshd)
    try:
        async with watching(tmux, executor=there) as reader:
            sshd.signal(signal.SIGKILL)
            await until(lambda: any(change.health.liveness == "unreachable" for change in reader.heard))
            await until(lambda: reader.watch.health.liveness == "alive")
            assert not any(change.health.liveness == "gone" for change in reader.heard)
    finally:
        await there.aclose()
    assert tmux.sessions() == ["user"]


async def test_a_silent_connection_is_unreachable_within_the_deadlines(
    sshd: Sshd, tmux: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing answers and nothing is closed, as when a laptop is carried away: the sshd and all that it serves stand
    still.
    """
    monkeypatch.setattr("covey.tmux.access.ANSWER_S", 1.0)
    tmux.start("user")
    there = ssh(sshd)
    try:
        async with watching(tmux, executor=there) as reader:
            os.kill(sshd.process.pid, signal.SIGSTOP)
            sshd.signal(signal.SIGSTOP)
            async with asyncio.timeout(30):
                await until(lambda: reader.watch.health.liveness == "unreachable")
            assert list(reader.watch.panes) == ["%0"]
            os.kill(sshd.process.pid, signal.SIGCONT)
            await until(lambda: reader.watch.health.liveness == "alive")
            sshd.signal(signal.SIGCONT)
    finally:
        await there.aclose()


async def test_a_master_that_hangs_is_left_behind(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXIT_S", 0.5)
    there = ssh(sshd)
    assert (await run(there, ["true"], deadline_s=30))[0] == 0
    code, _, told = await run(Local(), ["ssh", *there._options, "-O", "check", "loop"], deadline_s=30)
    master = int(told.partition("pid=")[2].partition(")")[0])
    assert code == 0
    os.kill(master, signal.SIGSTOP)
    try:
        await there.reset()
        assert (await run(there, ["true"], deadline_s=30))[0] == 0
    finally:
        os.kill(master, signal.SIGKILL)
        await there.aclose()
