"""The pid file: who holds it, who looks at it, and what is left of it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.kernel.lock import PidLock, holder
from murli import AgentError

HOLD = """
import sys, time
from covey.kernel.lock import PidLock
print(PidLock(sys.argv[1]).acquire(), flush=True)
sys.stdin.read()
"""
HOLD_WITH_CHILD = """
import subprocess, sys
from covey.kernel.lock import PidLock
lock = PidLock(sys.argv[1])
lock.acquire()
child = subprocess.Popen(["/bin/sleep", "600"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""
LOOK = """
import sys
from covey.kernel.lock import holder
print("ready", flush=True)
while True:
    holder(sys.argv[1])
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "pid")


@contextmanager
def other(script: str, path: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process, and the first line that it says. It is killed in the end."""
    with subprocess.Popen(
        [sys.executable, "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_of_two_processes_one_holds_the_lock_and_its_pid_can_be_read(path: str) -> None:
    with other(HOLD, path) as (first, said), other(HOLD, path) as (_, said_too):
        assert (said, said_too) == ("True", "False")
        assert PidLock(path).acquire() is False
        assert holder(path) == first.pid
        assert Path(path).read_text() == f"{first.pid}\n"


def test_a_file_without_a_lock_means_nothing(path: str) -> None:
    assert holder(path) is None
    assert not Path(path).exists(), "looking makes nothing"
    for text in ("", f"{os.getpid()}\n", "nonsense", "\0" * 99):
        Path(path).write_text(text)
        assert holder(path) is None
    lock = PidLock(path)
    assert lock.acquire()
    assert holder(path) == os.getpid()
    lock.release()
    assert holder(path) is None
    assert Path(path).read_text() == "", "the file stays: a second one of this name could be locked too"


def test_a_killed_holder_leaves_a_file_that_is_in_nobodys_way(path: str) -> None:
    with other(HOLD, path) as (first, _):
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert Path(path).read_text() == f"{first.pid}\n"
        assert holder(path) is None
        with other(HOLD, path) as (second, said):
            assert said == "True"
            assert holder(path) == second.pid


def test_children_of_the_holder_do_not_keep_the_lock(path: str) -> None:
    with other(HOLD_WITH_CHILD, path) as (first, said):
        child = int(said)
        first.kill()
        first.wait()
        try:
            os.kill(child, 0)
            assert holder(path) is None
            second = PidLock(path)
            assert second.acquire()
            second.release()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_command_that_only_checks_the_lock_never_keeps_it_from_a_daemon(path: str) -> None:
    Path(path).touch()
    with other(LOOK, path), other(LOOK, path):
        for _ in range(3000):
            lock = PidLock(path)
            assert lock.acquire()
            lock.release()


def test_of_many_that_try_at_once_exactly_one_gets_it(path: str) -> None:
    for _ in range(20):
        locks = [PidLock(path) for _ in range(8)]
        got: list[bool] = []
        together = threading.Barrier(len(locks))

        def attempt(lock: PidLock, together: threading.Barrier = together, got: list[bool] = got) -> None:
            together.wait()
            got.append(lock.acquire())

        threads = [threading.Thread(target=attempt, args=[lock]) for lock in locks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(got) == [False] * 7 + [True]
        for lock in locks:
            lock.release()


def test_a_holder_whose_pid_is_not_written_yet_is_not_taken_for_one_that_crashed(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.kernel.lock.ATTEMPTS", 3)
    monkeypatch.setattr("covey.kernel.lock.LOCKS", "/nowhere")  # as on a system that does not tell who locks what
    with subprocess.Popen(["/bin/true"]) as ended:
        pass
    for text, answer in (
        ("", 0),
        ("12", 0),
        ("12x\n", 0),
        ("-4\n", 0),
        (f"{ended.pid}\n", ended.pid),
        ("9" * 30 + "\n", int("9" * 30)),
        (f"{os.getpid()}\n", os.getpid()),
    ):
        lock = PidLock(path)
        assert lock.acquire()
        Path(path).write_text(text)
        assert holder(path) == answer, text
        lock.release()


def test_the_lock_can_be_taken_again_after_it_was_released_and_released_twice(path: str) -> None:
    lock = PidLock(path)
    for _ in range(3):
        assert lock.acquire()
        assert PidLock(path).acquire() is False
        lock.release()
        lock.release()


def test_the_file_is_private(path: str) -> None:
    before, lock = os.umask(0), PidLock(path)
    try:
        lock.acquire()
    finally:
        os.umask(before)
    assert Path(path).stat().st_mode & 0o777 == 0o600
    lock.release()


def test_a_path_that_cannot_be_used_is_reported_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert holder(str(tmp_path / "file" / "pid")) is None
    for place in (tmp_path, tmp_path / "missing" / "pid", tmp_path / "file" / "pid"):
        with pytest.raises(AgentError, match="cannot be used") as caught:
            PidLock(str(place)).acquire()
        assert caught.value.suggestion


def test_the_lock_outlives_its_file_and_the_holder_is_still_known(path: str) -> None:
    with other(HOLD, path) as (first, _):
        Path(path).unlink()
        assert holder(path) == first.pid
        assert PidLock(path).acquire() is False
        assert not Path(path).exists(), "who was refused makes nothing"


def test_a_pid_that_another_program_has_written_is_not_believed(path: str) -> None:
    with other(HOLD, path) as (first, _):
        Path(path).write_text(f"{os.getpid()}\n")
        assert holder(path) == first.pid
        Path(path).unlink()
        Path(path).write_text(f"{os.getpid()}\n")
        assert holder(path) == first.pid


def test_a_file_that_was_removed_or_replaced_is_made_anew_and_locked(path: str) -> None:
    lock = PidLock(path)
    assert lock.acquire()
    assert lock.restore()
    for replacement in (None, "4711\n"):
        Path(path).unlink()
        if replacement:
            Path(path).write_text(replacement)
        assert lock.restore()
        assert Path(path).read_text() == f"{os.getpid()}\n"
        with other(HOLD, path) as (_, said):
            assert said == "False"
    lock.release()
    assert holder(path) is None


def test_a_directory_that_was_replaced_is_no_longer_held(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.mkdir()
    lock = PidLock(str(node / "pid"))
    assert lock.acquire()
    node.rename(tmp_path / "moved")
    assert lock.restore() is False
    node.mkdir()
    assert lock.restore() is False
    assert list(node.iterdir()) == []
    other_lock = PidLock(str(node / "pid"))
    assert other_lock.acquire()
    lock.release()
    assert holder(str(node / "pid")) == os.getpid()
    other_lock.release()


def test_a_pipe_in_the_place_of_the_file_does_not_block(path: str) -> None:
    os.mkfifo(path)
    assert holder(path) is None
    with pytest.raises(AgentError, match="named pipe"):
        PidLock(path).acquire()


def test_a_lock_on_the_file_alone_is_respected(path: str) -> None:
    """Daemons of older versions, and of file systems that lock no directories, have no other."""
    with open(path, "wb") as file:  # noqa: PTH123 - a descriptor is wanted
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b"%d\n" % os.getpid())
        file.flush()
        assert holder(path) == os.getpid()
        with other(HOLD, path) as (_, said):
            assert said == "False"
