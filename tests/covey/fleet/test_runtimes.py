"""Which agent is in a pane, and whether it is still the same: with values, captures of every agent, and real panes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from msgspec.structs import replace

from covey.fleet.ingest.delivery import HookDelivery
from covey.fleet.watch.runtimes import (
    Change,
    Ended,
    Moved,
    Occupant,
    PaneProcess,
    Runtime,
    Runtimes,
    Server,
    Started,
    Suspended,
    occupant,
)
from covey.hosts.processes import Process, ProcessTable
from tests.captured import Capture, captures
from tests.covey.fleet.room import Room, TmuxPane, room, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
NAMES = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
    "cursor-agent": "cursor",
    "opencode": "opencode",
}
HOSTS = {"node", "python"}
SERVER = Server("local", "/run/s", 500, 1_767_225_600)
PANE = PaneProcess("%7", 10, "@1")
NOW = 1_767_230_000.0


def identify(process: Process) -> str | None:
    """Stands in for the adapters: the name a program was called by, or that of the script that an interpreter runs."""
    words = [PurePath(word).name for word in process.argv if not word.startswith("-")]
    if words and words[0] in HOSTS:
        words.pop(0)
    return NAMES.get(words[0]) if words else None


def process(pid: int, parent: int, command: str, *, group: int = 0, front: int = -1, started: int = 0) -> Process:
    """`front`: the group in front on its terminal."""
    words = tuple(command.split())
    return Process(
        pid=pid,
        parent=parent,
        group=group or pid,
        foreground=front,
        started=started or pid,
        name=PurePath(words[0]).name,
        argv=words,
    )


def table(*processes: Process, boot: str = "boot") -> ProcessTable:
    return ProcessTable(processes, boot=boot, now=10_000, rate=100)


def shell_with(*behind: Process, front: int = 10) -> ProcessTable:
    """A pane's shell, pid 10, and what runs in it."""
    return table(process(10, 1, "bash", front=front), *behind)


def claude(pid: int = 11, *, started: int = 0) -> ProcessTable:
    return shell_with(process(pid, 10, "claude", front=pid, started=started), front=pid)


def found(processes: ProcessTable) -> tuple[str, int] | None:
    sitting = occupant(10, processes, identify)
    return None if sitting is None else (sitting.agent, sitting.process.pid)


def only(changes: list[Change]) -> Change:
    (change,) = changes
    return change


def begin(processes: ProcessTable, book: Runtimes | None = None) -> tuple[Runtimes, Runtime]:
    book = book or Runtimes(identify)
    change = only(book.update(SERVER, [PANE], processes, NOW))
    assert isinstance(change, Started)
    return book, change.runtime


def swapped(changes: list[Change]) -> tuple[Ended, Runtime]:
    """One runtime has ended and another has started in its place."""
    ended, started = changes
    assert isinstance(ended, Ended)
    assert isinstance(started, Started)
    assert ended.runtime.runtime_id != started.runtime.runtime_id
    return ended, started.runtime


# -- who sits in a pane


def of_capture(capture: Capture) -> ProcessTable:
    """Return a captured tree as the table that it came from.

    It holds the shell's job in the foreground of the terminal, and what that started in the same group.
    """
    seen = capture.processes
    front = seen[1]["pid"] if len(seen) > 1 else seen[0]["pid"]
    return table(
        *(
            process(
                one["pid"], one["parent"], one["command"], group=one["pid"] if one is seen[0] else front, front=front
            )
            for one in seen
        )
    )


@pytest.mark.parametrize("capture", captures(), ids=str)
def test_the_agent_of_a_captured_pane_is_found_and_none_where_it_is_gone(capture: Capture) -> None:
    sitting = occupant(capture.pane["pane_pid"], of_capture(capture), identify)
    if capture.state == "gone":
        assert sitting is None
    else:
        assert sitting is not None
        assert (sitting.agent, sitting.process.pid) == (capture.about["agent"], capture.processes[1]["pid"])


def test_a_shell_in_front_means_no_agent() -> None:
    assert found(shell_with()) is None


def test_an_agent_started_without_a_shell_is_the_panes_own_process() -> None:
    assert found(table(process(10, 1, "claude", front=10))) == ("claude", 10)


def test_a_launcher_and_its_native_program_are_one_agent() -> None:
    processes = shell_with(
        process(11, 10, "node /bin/codex", front=11), process(12, 11, "/lib/codex", group=11, front=11), front=11
    )
    sitting = occupant(10, processes, identify)
    assert sitting == Occupant("codex", processes.describe(processes.get(11) or process(0, 0, "none")), (11, 12))


def test_a_launcher_that_is_no_agent_itself_is_looked_through() -> None:
    assert found(
        shell_with(process(11, 10, "npx claude", front=11), process(12, 11, "claude", group=11, front=11), front=11)
    ) == ("claude", 12)


@pytest.mark.parametrize("inner", ["codex", "claude -p question"])
@pytest.mark.parametrize(
    ("group", "front"),
    [(11, 11), (13, -1), (13, 13)],
    ids=["in the agent's group", "without a terminal", "on a terminal of its own"],
)
def test_an_agent_in_the_shell_tool_of_another_belongs_to_the_outer_one(inner: str, group: int, front: int) -> None:
    processes = shell_with(
        process(11, 10, "claude", front=11),
        process(13, 11, "bash -c tool", group=group, front=front),
        process(14, 13, inner, group=group, front=front),
        front=11,
    )
    sitting = occupant(10, processes, identify)
    assert sitting is not None
    assert (sitting.agent, sitting.body) == ("claude", (11,))


def test_an_agent_that_its_tool_has_taken_the_terminal_from_still_sits_there() -> None:
    processes = shell_with(
        process(11, 10, "claude", front=13),
        process(13, 11, "bash -i", front=13),
        process(14, 13, "claude -p hi", group=13, front=13),
        front=13,
    )
    assert found(processes) == ("claude", 11)


def test_a_suspended_agent_is_not_in_front() -> None:
    assert found(shell_with(process(11, 10, "claude", front=10))) is None


def test_another_agent_in_front_of_a_suspended_one_is_found() -> None:
    assert found(shell_with(process(11, 10, "claude", front=12), process(12, 10, "codex", front=12), front=12)) == (
        "codex",
        12,
    )


def test_an_agent_without_a_terminal_is_not_in_the_pane() -> None:
    assert found(shell_with(process(11, 10, "claude -p hi"))) is None


def test_of_two_agents_in_one_pipeline_the_first_is_it() -> None:
    assert found(
        shell_with(process(12, 10, "codex", group=11, front=11), process(11, 10, "claude", front=11), front=11)
    ) == ("claude", 11)


@pytest.mark.parametrize(
    ("program", "seen"), [("sudo", ("claude", 13)), ("script", ("claude", 13)), ("ttyd", None), ("vim", None)]
)
def test_an_agent_on_a_terminal_within_is_in_the_pane_only_if_every_key_goes_to_it(
    program: str, seen: tuple[str, int] | None
) -> None:
    monitor = process(12, 11, program, front=13)  # leads the inner terminal, and has put the agent in front of it
    assert (
        found(shell_with(process(11, 10, program, front=11), monitor, process(13, 12, "claude", front=13), front=11))
        == seen
    )


def test_a_pane_whose_process_is_gone_has_no_agent() -> None:
    assert found(table()) is None


# -- whether it is still the same


def test_an_agent_that_starts_is_told_with_everything_that_identifies_it() -> None:
    _, runtime = begin(claude())
    assert runtime == Runtime(
        runtime_id=runtime.runtime_id,
        target="local",
        socket="/run/s",
        window_id="@1",
        pane_id="%7",
        pane_epoch="500.1767225600.%7.10.10",
        agent="claude",
        pid=11,
        process_started=11,
        started_at=NOW - (10_000 - 11) / 100,
    )


def test_a_restarted_daemon_gives_the_same_process_the_same_id() -> None:
    assert begin(claude())[1].runtime_id == begin(claude())[1].runtime_id


def test_what_a_restarted_daemon_knew_is_not_started_again_and_what_went_meanwhile_has_ended() -> None:
    _, runtime = begin(claude())
    assert Runtimes(identify, [runtime]).update(SERVER, [PANE], claude(), NOW + 9) == []
    assert Runtimes(identify, [runtime]).update(SERVER, [PANE], shell_with(), NOW + 9) == [
        Ended(replace(runtime, ended_at=NOW + 9), "exited")
    ]


def test_the_same_process_is_the_same_runtime_whatever_its_session_and_arguments() -> None:
    """/clear, /resume and a title that overwrites the arguments: none of them starts a process."""
    book, runtime = begin(claude())
    later = shell_with(
        process(11, 10, "claude --resume 1234", front=11), process(20, 11, "bash -c tool", front=11), front=11
    )
    assert book.update(SERVER, [PANE], later, NOW + 60) == []
    assert book.all == [runtime]


def test_an_agent_that_is_started_again_is_another_runtime() -> None:
    book, first = begin(claude(11))
    ended, second = swapped(book.update(SERVER, [PANE], claude(12), NOW + 1))
    assert ended == Ended(replace(first, ended_at=NOW + 1), "exited")
    assert second.pane_epoch == first.pane_epoch


def test_a_pid_that_comes_again_is_another_runtime() -> None:
    book, _ = begin(claude(11, started=100))
    ended, runtime = swapped(book.update(SERVER, [PANE], claude(11, started=101), NOW + 1))
    assert (ended.why, runtime.pid) == ("exited", 11)


def test_an_agent_that_turns_into_another_is_another_runtime() -> None:
    book, _ = begin(claude(11))
    ended, runtime = swapped(
        book.update(SERVER, [PANE], shell_with(process(11, 10, "codex", front=11), front=11), NOW + 1)
    )
    assert (ended.why, runtime.agent, runtime.pid) == ("replaced", "codex", 11)


def test_a_respawned_pane_has_another_epoch() -> None:
    book, first = begin(table(process(10, 1, "claude", front=10)))
    respawned = replace(PANE, pid=30)
    ended, second = swapped(book.update(SERVER, [respawned], table(process(30, 1, "claude", front=30)), NOW + 1))
    assert ended.why == "exited"
    assert (second.pane_id, second.pane_epoch == first.pane_epoch) == ("%7", False)


def test_a_pane_id_that_comes_again_after_a_restart_of_the_server_is_another_pane() -> None:
    book, first = begin(claude())
    restarted = replace(SERVER, pid=600, started=SERVER.started + 50)
    survivor = process(11, 1, "claude", front=10)  # a program that ignores the hang-up
    fresh = table(survivor, process(40, 600, "bash", front=41), process(41, 40, "claude", front=41))
    ended, second = swapped(book.update(restarted, [replace(PANE, pid=40)], fresh, NOW + 60))
    assert (ended.runtime.runtime_id, ended.why) == (first.runtime_id, "pane_gone")
    assert second.pane_id == first.pane_id


def test_after_a_boot_the_same_numbers_are_another_runtime() -> None:
    rebooted = table(process(10, 1, "bash", front=11), process(11, 10, "claude", front=11), boot="next")
    assert begin(claude())[1].runtime_id != begin(rebooted)[1].runtime_id


def test_an_agent_that_runs_on_in_the_background_leaves_and_comes_back_as_the_same_runtime() -> None:
    book, runtime = begin(claude())
    suspended = shell_with(process(11, 10, "claude", front=10))
    assert book.update(SERVER, [PANE], suspended, NOW + 1) == [Ended(replace(runtime, ended_at=NOW + 1), "background")]
    back = only(book.update(SERVER, [PANE], claude(), NOW + 2))
    assert isinstance(back, Started)
    assert (back.runtime.runtime_id, back.runtime.ended_at) == (runtime.runtime_id, None)


def test_a_pane_that_is_no_longer_listed_has_ended() -> None:
    book, runtime = begin(claude())
    assert book.update(SERVER, [], claude(), NOW + 1) == [Ended(replace(runtime, ended_at=NOW + 1), "pane_gone")]
    assert book.all == []


def test_a_pane_that_moves_to_another_window_keeps_its_runtime() -> None:
    book, runtime = begin(claude())
    moved = replace(runtime, window_id="@9")
    assert book.update(SERVER, [replace(PANE, window_id="@9")], claude(), NOW + 1) == [Moved(moved, "@1")]
    assert book.all == [moved]


def test_a_pane_that_is_listed_twice_is_one_runtime() -> None:
    book = Runtimes(identify)
    assert len(book.update(SERVER, [PANE, PANE], claude(), NOW)) == 1


def test_other_servers_keep_their_runtimes() -> None:
    book, runtime = begin(claude())
    for other in (replace(SERVER, socket="/run/other", pid=501), replace(SERVER, target="far")):
        change = only(book.update(other, [PANE], claude(), NOW))
        assert isinstance(change, Started)
        assert book.server_gone(other.target, other.socket, NOW + 1) == [
            Ended(replace(change.runtime, ended_at=NOW + 1), "pane_gone")
        ]
    assert book.all == [runtime]


def test_an_exit_that_the_kernel_told_is_not_undone_by_a_table_read_before() -> None:
    book, runtime = begin(claude())
    assert book.exited(runtime.runtime_id, NOW + 1) == [Ended(replace(runtime, ended_at=NOW + 1), "exited")]
    assert book.exited(runtime.runtime_id, NOW + 1) == []
    assert book.update(SERVER, [PANE], claude(), NOW + 1) == [], "read before the exit"
    assert book.update(SERVER, [PANE], shell_with(), NOW + 2) == []
    assert book._exited == {}, "nothing is remembered for ever"


def test_runtimes_are_found_by_id_pane_and_the_processes_that_speak_for_them() -> None:
    processes = shell_with(
        process(11, 10, "node /bin/codex", front=11),
        process(12, 11, "codex", group=11, front=11),
        process(13, 12, "bash -c tool"),
        process(14, 13, "codex exec question", group=13),
        front=11,
    )
    book, runtime = begin(processes)
    assert book.get(runtime.runtime_id) == book.in_pane("local", "/run/s", "%7") == runtime
    assert book.in_pane("local", "/run/s", "%8") is None
    assert [book.of_process("local", pid) for pid in (10, 11, 12, 13, 14)] == [None, runtime, runtime, None, None]
    assert book.of_process("far", 11) is None
    assert Runtimes(identify, [runtime]).of_process("local", 11) == runtime, "known from before, not yet seen again"


def test_a_delivery_belongs_to_the_agent_above_its_process_and_to_that_in_its_pane_only_where_no_pid_is_given() -> None:
    book, runtime = begin(claude())

    def owner(*pids: int, agent: str = "claude", pane_id: str = "%7", target: str = "local") -> Runtime | None:
        delivery = HookDelivery(agent, "/run/s,4711,0", pane_id, list(pids), {}, NOW, "")
        return book.owner_of(delivery, target)

    assert owner(99, runtime.pid) == owner() == runtime
    assert [owner(99), owner(pane_id="%8"), owner(pane_id="")] == [None, None, None]
    assert [owner(runtime.pid, agent="codex"), owner(runtime.pid, target="far")] == [None, None]


# -- real panes


@pytest.fixture
def tmux() -> Iterator[Room]:
    with room() as opened:
        yield opened


def agent_of(pane: TmuxPane) -> str | None:
    sitting = occupant(pane.pid, ProcessTable.read(), identify)
    return sitting.agent if sitting else None


def real_update(book: Runtimes, tmux: Room) -> list[Change]:
    lines = tmux.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{window_id} #{pid} #{start_time}").splitlines()
    rows = [line.split() for line in lines]
    server = Server("local", str(tmux.socket), int(rows[0][3]), int(rows[0][4]))
    return book.update(server, [PaneProcess(row[0], int(row[1]), row[2]) for row in rows], ProcessTable.read(), NOW)


def two_changes(book: Runtimes, tmux: Room) -> list[Change]:
    """An end and a start, seen at once or one after the other."""
    changes = until(lambda: real_update(book, tmux))
    return changes if len(changes) > 1 else [*changes, *until(lambda: real_update(book, tmux))]


@linux
def test_a_real_agent_that_is_suspended_and_continued_is_the_same(tmux: Room) -> None:
    pane, book = tmux.pane(), Runtimes(identify)
    assert real_update(book, tmux) == []
    pane.type("(exec -a claude sleep 600)")
    started = only(until(lambda: real_update(book, tmux)))
    assert isinstance(started, Started)
    pane.key("C-z")
    stopped = only(until(lambda: real_update(book, tmux)))
    assert stopped == Suspended(replace(started.runtime, suspended=True))
    pane.type("(exec -a codex sleep 600)")
    other = only(until(lambda: real_update(book, tmux)))
    assert isinstance(other, Started)
    assert (other.runtime.agent, book.in_pane("local", str(tmux.socket), pane.pane_id)) == ("codex", other.runtime)
    pane.key("C-c")
    assert isinstance(only(until(lambda: real_update(book, tmux))), Ended)
    pane.type("fg")
    back = only(until(lambda: real_update(book, tmux)))
    assert back == Suspended(started.runtime)
    pane.key("C-c")
    gone = only(until(lambda: real_update(book, tmux)))
    assert isinstance(gone, Ended)
    assert gone.why == "exited"


@linux
def test_a_real_agent_in_the_background_is_not_found(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("(exec -a claude sleep 600) & (exec -a codex sleep 600)")
    until(lambda: agent_of(pane) == "codex")
    pane.key("C-c")
    until(lambda: agent_of(pane) is None)
    read = ProcessTable.read()
    assert "claude" in {identify(read.describe(child)) for child in read.children(pane.pid)}


@linux
def test_a_real_agent_in_the_tool_of_another_is_not_found(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("""(exec -a claude bash -c "setsid bash -c '(exec -a codex sleep 600); true'; true")""")

    def nested() -> bool:
        read = ProcessTable.read()
        return "codex" in {identify(read.describe(one)) for one in read.foreground(pane.pid)}

    until(nested)
    assert agent_of(pane) == "claude"


@linux
def test_a_real_agent_behind_a_relay_is_found(tmux: Room) -> None:
    pane = tmux.pane()
    pane.type("script -qc 'bash --norc --noprofile' /dev/null")
    until(lambda: [one.name for one in ProcessTable.read().foreground(pane.pid)] == ["script", "bash"])
    assert agent_of(pane) is None
    pane.type("(exec -a claude sleep 600)")
    until(lambda: agent_of(pane) == "claude")
    pane.key("C-z")
    until(lambda: agent_of(pane) is None)


@linux
def test_a_real_shell_that_turns_into_an_agent_is_one_and_the_next_exec_is_another(tmux: Room) -> None:
    pane, book = tmux.pane(), Runtimes(identify)
    pane.type("exec -a claude bash -c 'read go; exec -a codex sleep 600'")
    first = only(until(lambda: real_update(book, tmux)))
    assert isinstance(first, Started)
    assert (first.runtime.agent, first.runtime.pid) == ("claude", pane.pid)
    pane.type("")
    ended, second = swapped(until(lambda: real_update(book, tmux)))
    assert (ended.why, second.agent, second.pid) == ("replaced", "codex", pane.pid)


@linux
def test_a_real_pane_that_is_respawned_and_a_server_that_is_restarted_give_other_runtimes(tmux: Room) -> None:
    agent = "exec -a claude sleep 600"
    pane, book = tmux.pane("bash", "-c", agent), Runtimes(identify)
    first = only(until(lambda: real_update(book, tmux)))
    assert isinstance(first, Started)
    tmux.tmux("respawn-pane", "-k", "-t", pane.pane_id, agent)
    _, second = swapped(two_changes(book, tmux))
    assert second.pane_id == first.runtime.pane_id
    assert second.pane_epoch != first.runtime.pane_epoch
    tmux.end()
    tmux.pane("bash", "-c", agent)
    _, third = swapped(two_changes(book, tmux))
    assert third.pane_id == second.pane_id


@linux
def test_a_real_pane_that_is_moved_keeps_its_runtime(tmux: Room) -> None:
    tmux.pane()
    pane, book = tmux.pane("bash", "-c", "exec -a claude sleep 600"), Runtimes(identify)
    started = only(until(lambda: real_update(book, tmux)))
    assert isinstance(started, Started)
    tmux.tmux("join-pane", "-s", pane.pane_id, "-t", "%0")
    moved = only(real_update(book, tmux))
    assert isinstance(moved, Moved)
    assert moved.runtime.runtime_id == started.runtime.runtime_id
