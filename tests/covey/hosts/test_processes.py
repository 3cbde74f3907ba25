"""The process table against real processes: this machine's, and those of a pane in a private tmux server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.hosts import processes as module
from covey.hosts.errors import ProcessesError
from covey.hosts.processes import PS, PS_ARGUMENTS, Process, ProcessTable, from_ps, parse_stat
from covey.kernel.processes.process import birth, start_of
from tests.covey.fleet.room import Room, TmuxPane, room, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@contextmanager
def running(*command: str, new_session: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(command, start_new_session=new_session)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def process(
    pid: int, parent: int = 1, *, group: int = 0, foreground: int = -1, started: int = 0, name: str = "x"
) -> Process:
    return Process(pid=pid, parent=parent, group=group or pid, foreground=foreground, started=started or pid, name=name)


def names(pane: TmuxPane) -> list[str]:
    return [one.name for one in ProcessTable.read().foreground(pane.pid)]


@pytest.fixture
def tmux() -> Iterator[Room]:
    with room() as opened:
        yield opened


@linux
def test_this_process_is_in_the_table_as_the_system_knows_it() -> None:
    table = ProcessTable.read()
    me = table.get(os.getpid())
    assert me is not None
    assert (me.parent, me.group) == (os.getppid(), os.getpgrp())
    assert f"{table.boot}/{me.started}" == birth(os.getpid())
    assert me.started == start_of(os.getpid())
    assert table.holds(me.pid, me.started)
    assert not table.holds(me.pid, me.started + 1)


@linux
def test_a_process_is_described_by_its_arguments_and_its_program() -> None:
    with running(sys.executable, "-c", "import time; time.sleep(600)", "two words", "") as child:
        argv = (sys.executable, "-c", "import time; time.sleep(600)", "two words")

        def described() -> Process | None:
            table = ProcessTable.read()
            found = table.get(child.pid)
            assert found is not None
            found = table.describe(found)
            return found if found.argv == argv else None

        assert until(described).exe == os.path.realpath(sys.executable)


@linux
def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b: c"
    shutil.copy(shutil.which("sleep") or "", program)
    with running(str(program), "600") as child:
        until(lambda: (found := ProcessTable.read().get(child.pid)) is not None and found.name == program.name)


@linux
def test_a_process_that_has_ended_is_not_in_the_table_although_nobody_has_reaped_it() -> None:
    with running("sleep", "600") as child:
        assert ProcessTable.read().get(child.pid) is not None
        child.send_signal(signal.SIGKILL)
        until(lambda: ProcessTable.read().get(child.pid) is None)
        assert start_of(child.pid) is None
        assert Path(f"/proc/{child.pid}/stat").exists(), "still there, as a zombie"


@linux
def test_a_process_that_is_gone_has_no_description() -> None:
    with running("sleep", "600") as child:
        table = ProcessTable.read()
    gone = table.get(child.pid)
    assert gone is not None
    assert (table.describe(gone).argv, table.describe(gone).exe) == ((), "")


@linux
def test_the_age_of_a_process_is_told_in_seconds() -> None:
    before = time.time()
    with running("sleep", "600") as child:
        table = ProcessTable.read()
        found = table.get(child.pid)
        assert found is not None
        assert 0 <= table.age(found) <= time.time() - before + 0.02, "a tick is a hundredth of a second"


@linux
def test_a_description_that_still_holds_is_not_read_again() -> None:
    with running("sleep", "600") as child:

        def described() -> ProcessTable | None:
            table = ProcessTable.read()
            found = table.get(child.pid)
            return table if found is not None and table.describe(found).argv == ("sleep", "600") else None

        before = until(described)
        after = ProcessTable.read(before)
    found = after.get(child.pid)
    assert found is not None
    assert after.describe(found).argv == ("sleep", "600"), "known although it is gone"


@linux
def test_after_an_exec_a_process_is_described_anew_though_pid_start_and_name_are_the_same() -> None:
    script = 'read go; exec -a second "$0" -c "read go; exit"'
    child = subprocess.Popen(["bash", "-c", script, shutil.which("bash") or ""], stdin=subprocess.PIPE)
    assert child.stdin is not None

    def argv(table: ProcessTable) -> tuple[str, ...]:
        found = table.get(child.pid)
        assert found is not None
        return table.describe(found).argv

    first = until(lambda: table if argv(table := ProcessTable.read()) and argv(table)[0] == "bash" else None)
    child.stdin.write(b"\n")
    child.stdin.flush()
    until(lambda: argv(ProcessTable.read(first))[:1] == ("second",))
    child.stdin.close()
    child.wait()


@linux
def test_a_process_without_a_terminal_is_in_front_of_none() -> None:
    with running("sleep", "600", new_session=True) as child:
        table = ProcessTable.read()
        found = table.get(child.pid)
        assert found is not None
        assert found.foreground <= 0
        assert not found.in_front
        assert table.foreground(child.pid) == []


def test_a_pane_whose_process_is_gone_has_nothing_in_front() -> None:
    assert ProcessTable([]).foreground(1) == []


@linux
def test_a_shell_that_waits_for_a_command_is_in_front(tmux: Room) -> None:
    pane = tmux.pane()
    until(lambda: names(pane) == ["bash"])


@linux
def test_what_a_shell_runs_is_in_front_and_the_shell_is_not(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("sleep 600")
    until(lambda: names(pane) == ["sleep"])


@linux
def test_a_job_in_the_background_is_not_in_front(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("sleep 600 &")
    until(lambda: [one.name for one in ProcessTable.read().children(pane.pid)] == ["sleep"])
    until(lambda: names(pane) == ["bash"])
    pane.type("tail -f /dev/null")
    until(lambda: names(pane) == ["tail"])


@linux
def test_a_suspended_job_is_not_in_front_until_it_is_taken_back(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("sleep 600")
    until(lambda: names(pane) == ["sleep"])
    pane.key("C-z")
    until(lambda: names(pane) == ["bash"])
    pane.type("fg")
    until(lambda: names(pane) == ["sleep"])


@linux
def test_all_of_a_pipeline_and_its_descendants_are_in_front_parents_first(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("sh -c 'setsid sleep 600; true' | cat")
    until(
        lambda: sorted(names(pane)) == ["cat", "setsid", "sh", "sleep"] or sorted(names(pane)) == ["cat", "sh", "sleep"]
    )
    job = ProcessTable.read().foreground(pane.pid)
    order = [one.pid for one in job]
    assert all(order.index(one.parent) < order.index(one.pid) for one in job if one.parent in order)


@linux
def test_the_program_of_a_pane_without_a_shell_is_in_front(tmux: Room) -> None:
    pane = tmux.pane("sleep", "600")
    until(lambda: names(pane) == ["sleep"])


def test_a_job_on_a_terminal_within_is_in_front_and_what_is_behind_it_there_is_not() -> None:
    table = ProcessTable([
        process(10, foreground=11),
        process(11, 10, foreground=11, name="script"),
        process(20, 11, foreground=22, name="inner shell"),
        process(21, 20, foreground=22, name="suspended"),
        process(22, 20, foreground=22, name="in front"),
    ])  # fmt: skip
    assert [one.name for one in table.foreground(10)] == ["script", "inner shell", "in front"]


@pytest.mark.parametrize(
    "line", [b"", b"1 (x) S 1", b"1 (x) Z 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"]
)
def test_what_is_no_living_process_is_none(line: bytes) -> None:
    assert parse_stat(line) is None


def test_ps_tells_the_same_as_proc() -> None:
    with running("sleep", "600") as child:
        until(lambda: module._ps(("/bin/ps", "-o", "ucomm=", "-p", str(child.pid))).strip() == "sleep")
        asked = from_ps(module._ps(PS), module._ps(PS_ARGUMENTS), boot="b", now=time.time())
        read = ProcessTable.read()
        one, other = asked.get(child.pid), read.get(child.pid)
        assert one is not None
        assert other is not None
        assert (one.pid, one.parent, one.group, one.foreground, one.name) == (
            other.pid,
            other.parent,
            other.group,
            other.foreground,
            other.name,
        )
        assert one.argv == read.describe(other).argv == ("sleep", "600")
        assert abs(asked.age(one) - read.age(other)) < 5, "ps rounds to seconds"


def test_ps_lines_of_the_mac_and_names_with_spaces_are_understood() -> None:
    listing = (
        "  401     1   401     0 Thu Jan  1 00:01:00 1970     Ss   Google Chrome He\n"
        "  402   401   402   402 Thu Jan  1 00:01:05 1970     S+   node\n"
        "  403 402 402 402 Thu Jan  1 00:01:05 1970 Z+ dead\n"
    )
    table = from_ps(listing, "  401 /Applications/X\n  402 node /opt/bin/codex\n", boot="b", now=70.0)
    codex, other = table.get(402), table.get(401)
    assert codex == Process(
        pid=402,
        parent=401,
        group=402,
        foreground=402,
        started=65,
        name="node",
        argv=("node", "/opt/bin/codex"),
        exe="node",
    )
    assert table.age(codex) == 5
    assert other is not None
    assert other.name == "Google Chrome He"
    assert len(table) == 2


def test_what_ps_does_not_print_is_an_error() -> None:
    with pytest.raises(ProcessesError, match="not what ps prints"):
        from_ps("ps: illegal option", "", boot="", now=0)


def test_a_ps_that_fails_is_an_error() -> None:
    with pytest.raises(ProcessesError, match="cannot be listed"):
        module._ps(("/bin/ps", "--no-such-option"))
