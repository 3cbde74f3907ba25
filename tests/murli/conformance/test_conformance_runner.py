"""Running a tool: bounded in time and output, alone in a scratch home, and gone afterwards."""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from murli.conformance.runner import KEPT_VARIABLES, Channel, Run, Tool, ToolNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable


def start(
    command: list[str],
    tmp_path: Path,
    *args: str,
    timeout: float = 20,
    limit: int = 4096,
    channel: Channel = "pipe",
    stdin: bytes = b"",
) -> Run:
    home, cwd = tmp_path / "home", tmp_path / "work"
    home.mkdir(exist_ok=True)
    cwd.mkdir(exist_ok=True)
    return Tool(command, timeout=timeout, output_limit=limit).run(
        args, home=home, cwd=cwd, env={"EXTRA": "1"}, stdin=stdin, channel=channel
    )


def _read_within(descriptor: int, seconds: float) -> bytes:
    poll = select.poll()  # unlike select(), it takes any descriptor
    poll.register(descriptor, select.POLLIN)
    ready = poll.poll(seconds * 1000)
    assert ready, "somebody still holds the pipe"
    return os.read(descriptor, 100)


def test_streams_exit_code_and_arguments_are_kept_apart(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    run = start(script('printf "%s|" "$@"; echo oops >&2; exit 7'), tmp_path, "a b", "--c")
    assert (run.code, run.stdout, run.stderr, run.timed_out) == (7, b"a b|--c|", b"oops\n", False)
    assert run.line.endswith("tool.sh 'a b' --c")


def test_the_tool_sees_only_a_scratch_home_and_a_few_variables(
    script: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("MURLI_DEV", "1")
    monkeypatch.setenv("PYTHONPATH", f"src{os.pathsep}")
    run = start(script("pwd; env; cat"), tmp_path)
    directory, *lines = run.stdout.decode().splitlines()
    seen = dict(line.partition("=")[::2] for line in lines)
    assert Path(directory).resolve() == (tmp_path / "work").resolve()
    assert seen["HOME"] == str(tmp_path / "home")
    assert seen["PYTHONPATH"] == str(Path("src").resolve())
    assert set(seen) <= {*KEPT_VARIABLES, "HOME", "EXTRA", "PWD", "OLDPWD", "SHLVL", "_", "__CF_USER_TEXT_ENCODING"}


def test_a_run_that_does_not_end_is_killed_with_its_children(
    script: Callable[[str], list[str]], tmp_path: Path
) -> None:
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    run = start(script(f"exec 9>{pipe}; echo begun >&9; echo begun; sleep 60 & sleep 60"), tmp_path, timeout=0.5)
    assert run.timed_out
    assert run.code is None
    assert run.stdout == b"begun\n"
    assert "killed" in run.outcome
    # The pipe ends when the last of them has gone.
    received = b""
    while chunk := _read_within(reader, seconds=10):
        received += chunk
    os.close(reader)
    assert received == b"begun\n"


def test_a_child_left_behind_with_the_pipe_open_delays_nobody(
    script: Callable[[str], list[str]], tmp_path: Path
) -> None:
    before = time.monotonic()
    run = start(script("sleep 30 & echo done"), tmp_path)
    assert (run.code, run.stdout) == (0, b"done\n")
    assert time.monotonic() - before < 10


def test_endless_output_is_cut_short(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    run = start(script("yes"), tmp_path, limit=100_000)
    assert run.ended == "overflow"
    assert run.code is None
    assert len(run.stdout) < 300_000


def test_on_a_terminal_the_tool_sees_one(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    body = 'test -t 1 && test -t 2 && echo terminal $TERM; echo oops >&2; test -t 0 || echo "no input"'
    assert start(script(body), tmp_path, channel="terminal").stdout == b"terminal xterm-256color\noops\nno input\n"
    assert start(script(body), tmp_path).stdout == b"no input\n"


def test_a_terminal_gives_everything_that_was_printed(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    run = start(
        script("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done"),
        tmp_path,
        channel="terminal",
        limit=1_000_000,
    )
    assert run.stdout.split() == [str(number).encode() for number in range(20000)]


def test_a_broken_pipe_and_a_closed_stdout_are_what_the_tool_meets(tmp_path: Path) -> None:
    assert start([sys.executable, "-c", "import os; os.write(1, b'x')"], tmp_path, channel="broken").stderr.endswith(
        b"Broken pipe\n"
    )
    assert start([sys.executable, "-c", "import os; os.write(1, b'x')"], tmp_path, channel="closed").stderr.endswith(
        b"Bad file descriptor\n"
    )


def test_standard_input_is_what_was_given_or_nothing(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    assert start(script("cat"), tmp_path, stdin=b"x" * 200_000, limit=1_000_000).stdout == b"x" * 200_000
    assert start(script("cat"), tmp_path).stdout == b""


def test_bytes_that_are_no_text_reach_the_tool(script: Callable[[str], list[str]], tmp_path: Path) -> None:
    run = start(script('printf "%s" "$1"'), tmp_path, "\udcff")
    assert run.stdout == b"\xff"
    assert run.line.isascii()


def test_relative_files_in_the_command_mean_the_callers_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tool.py").write_text("print('here')")
    (tmp_path / "json").write_text("no module")
    monkeypatch.chdir(tmp_path)
    assert start([sys.executable, "tool.py"], tmp_path).stdout == b"here\n"
    assert start([sys.executable, "-m", "json", "--help"], tmp_path).stderr.count(b"no module") == 0


@pytest.mark.parametrize("command", [[], ["no-such-tool-murli"], ["./no-such-tool-murli"], ["/"]])
def test_a_command_that_does_not_exist_is_said_at_once(command: list[str]) -> None:
    with pytest.raises(ToolNotFoundError):
        Tool(command)


def test_a_file_that_cannot_be_executed_is_no_tool(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_bytes(b"\x00\x01 not a program")
    path.chmod(0o755)
    with pytest.raises(ToolNotFoundError, match="cannot be started"):
        start([str(path)], tmp_path)
