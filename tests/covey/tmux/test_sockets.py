"""The sockets of a user's servers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from covey.hosts.executor import Local
from covey.hosts.shell import Shell
from covey.tmux.sockets import Sockets, default_pattern, remote_sockets
from tests.covey.tmux.conftest import Tmux, until_now


def test_only_live_servers_are_found(tmux: Tmux) -> None:
    sockets = Sockets([f"{tmux.folder}/*"])
    assert sockets.live(Local()) == []
    (tmux.folder / "file").write_text("no socket")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmux.folder / "dead"))
    pid = tmux.start()
    assert sockets.live(Local()) == [tmux.socket]
    os.kill(pid, signal.SIGKILL)
    until_now(lambda: sockets.live(Local()) == [])
    tmux.start()
    assert sockets.live(Local()) == [tmux.socket]


def test_the_usual_folder_follows_the_environment(tmux: Tmux) -> None:
    env = {"PATH": os.environ["PATH"], "TMUX_TMPDIR": str(tmux.folder), "SHELL": "/bin/sh"}
    for name in ("a", "b"):
        subprocess.run(
            ["tmux", "-L", name, "-f", "/dev/null", "new-session", "-d", "exec sleep 1000"],
            env=env,
            check=True,
            timeout=60,
        )
    try:
        expected = [f"{tmux.folder}/tmux-{os.getuid()}/{name}" for name in ("a", "b")]
        assert Sockets([default_pattern(env)]).live(Local()) == expected
        assert Sockets([expected[0], f"{tmux.folder}/*/b"]).live(Local()) == expected
    finally:
        for name in ("a", "b"):
            subprocess.run(["tmux", "-L", name, "kill-server"], env=env, check=True, timeout=60)
    assert default_pattern({}) == f"/tmp/tmux-{os.getuid()}/*"


def test_a_folder_that_has_not_changed_is_not_read_again(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    tmux.start()
    sockets = Sockets([f"{tmux.folder}/*"])
    assert sockets.live(Local()) == [tmux.socket]
    monkeypatch.setattr("glob.glob", lambda _: pytest.fail("the folder was read"))
    assert sockets.live(Local()) == [tmux.socket]


async def test_sockets_are_found_through_a_shell_where_nothing_else_reaches(
    tmux: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmux.folder / f"tmux-{os.getuid()}"
    folder.mkdir()
    Path(folder / "file").touch()
    monkeypatch.setenv("TMUX_TMPDIR", str(tmux.folder))

    async def found() -> list[str]:
        shell = Shell(Local())
        try:
            return await remote_sockets(shell)
        finally:
            await shell.aclose()

    assert await found() == []
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "default"))
    assert await found() == [str(folder / "default")]


def test_a_server_at_an_odd_path_is_found_if_it_is_to_be(tmux: Tmux) -> None:
    elsewhere, anywhere = Sockets([f"{tmux.folder}/none/*"]), Sockets([f"{tmux.folder}/none/*"], anywhere=True)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmux.folder / "no tmux"))
        other.listen()
        assert str(tmux.folder / "no tmux") not in anywhere.live(Local())
        pid = tmux.start()
        assert tmux.socket in anywhere.live(Local())
        assert str(tmux.folder / "no tmux") not in anywhere.live(Local())
        assert elsewhere.live(Local()) == []
        os.kill(pid, signal.SIGKILL)
        until_now(lambda: tmux.socket not in anywhere.live(Local()))


def test_a_server_that_closes_a_file_while_it_is_looked_at_is_found(
    tmux: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, readlink = tmux.start(), os.readlink
    closed: list[Path] = []

    def first_is_closed(path: Path) -> str:
        if str(path).startswith(f"/proc/{pid}/") and not closed:
            closed.append(path)
            raise FileNotFoundError(path)
        return readlink(path)

    monkeypatch.setattr("os.readlink", first_is_closed)
    assert tmux.socket in Sockets([], anywhere=True).live(Local())
    assert closed


def test_a_server_that_the_system_lists_is_not_connected_to(tmux: Tmux) -> None:
    """It would run, and seem to have changed."""

    class Untouched(Local):
        def listening(self, path: str) -> bool | None:
            pytest.fail(f"{path} was connected to")

    tmux.start()
    assert Sockets([f"{tmux.folder}/s"]).live(Untouched()) == [tmux.socket]
