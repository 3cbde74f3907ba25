"""Lines of panes, out of a real tmux and out of thin air."""

from __future__ import annotations

import os
import subprocess

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.tmux import listing
from covey.tmux.listing import HIDDEN_PREFIX, Pane, Pulse, arguments, panes, parse, pulse_arguments, pulses
from tests.covey.tmux.conftest import Tmux, until_now

TEXT = st.text(st.characters(exclude_characters="\x1f\n"))
COUNT = st.integers(0, 2**40)
ANY_PANE = st.builds(
    Pane,
    id=st.integers(0, 9999).map("%{}".format),
    pid=COUNT, tty=TEXT, session_id=TEXT, session_name=TEXT, window_id=TEXT, window_index=COUNT, window_name=TEXT, pane_index=COUNT, dead=st.booleans(),
    in_mode=st.booleans(), alternate=st.booleans(), width=COUNT, height=COUNT, cursor_x=COUNT, cursor_y=COUNT, activity=COUNT, history_bytes=COUNT,
    attached=COUNT, command=TEXT, path=TEXT, title=st.text(),
)  # fmt: skip


def printed(pane: Pane) -> str:
    return listing.SEPARATOR.join(str(int(value) if isinstance(value, bool) else value) for value in msgspec.structs.astuple(pane))


@given(ANY_PANE)
def test_what_tmux_prints_is_what_is_read(pane: Pane) -> None:
    assert parse(printed(pane)) == pane


@given(st.text())
def test_any_other_line_is_no_pane(line: str) -> None:
    assert parse(line) is None


@given(st.lists(ANY_PANE, max_size=5))
def test_hidden_sessions_are_left_out_and_linked_windows_are_listed_once(found: list[Pane]) -> None:
    hidden = [msgspec.structs.replace(pane, session_name=f"{HIDDEN_PREFIX}0a") for pane in found]
    listed = panes([printed(pane) for pane in [*hidden, *found, *found] if pane in found or pane.session_name.startswith(HIDDEN_PREFIX)])
    assert list(listed) == list(dict.fromkeys(pane.id for pane in found if not pane.session_name.startswith(HIDDEN_PREFIX)))


def listed(tmux: Tmux) -> dict[str, Pane]:
    argv = ["tmux", "-u", "-S", tmux.socket, *arguments()]
    return panes(
        subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout.decode(errors="backslashreplace").removesuffix("\n").split("\n")
    )


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(title=st.binary(max_size=40), name=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_no_title_or_name_breaks_a_listing(tmux: Tmux, title: bytes, name: str) -> None:
    if not tmux.sessions():
        tmux.start(command="exec cat")
    terminal = os.open(tmux.run("display-message", "-p", "#{pane_tty}"), os.O_WRONLY | os.O_NOCTTY)
    os.write(terminal, b"\x1b]2;" + title + b"\x07\x1b\\\x18\x1bc")
    os.close(terminal)
    tmux.run("rename-window", "--", name)
    tmux.run("set-option", "-p", "@probe", "1")
    assert list(listed(tmux)) == ["%0"]


def test_a_folder_and_a_program_with_line_breaks_and_separators_stay_on_their_line(tmux: Tmux) -> None:
    folder = tmux.folder / "a\n%end 1 2 1\x1fb"
    folder.mkdir()
    program = tmux.folder / "odd\x1fname"
    program.symlink_to("/bin/sleep")
    tmux.start()
    tmux.run("new-window", "-d", "-c", str(folder), str(program), "1000")
    until_now(lambda: listed(tmux)["%1"].command.startswith("odd"))
    found = listed(tmux)
    assert list(found) == ["%0", "%1"]
    assert found["%1"].path == f"{tmux.folder}/a?%end 1 2 1?b"
    assert found["%1"].command == "odd?name"


def test_a_pane_tells_what_it_is(tmux: Tmux) -> None:
    tmux.start("user", command="exec cat")
    tmux.run("rename-window", "work")
    tmux.run("select-pane", "-T", "Titel ✳ | x")
    tmux.run("send-keys", "-l", "abc")
    until_now(lambda: listed(tmux)["%0"].cursor_x == 3)
    pane = listed(tmux)["%0"]
    assert (pane.session_id, pane.session_name, pane.window_id, pane.window_index, pane.window_name) == ("$0", "user", "@0", 0, "work")
    assert (pane.width, pane.height, pane.command, pane.title) == (100, 30, "cat", "Titel ✳ | x")
    assert (pane.dead, pane.in_mode, pane.alternate, pane.attached) == (False, False, False, 0)
    tmux.run("copy-mode")
    assert listed(tmux)["%0"].in_mode


@pytest.mark.parametrize("of", [13, 1000], ids=["out of a list of all", "one by one"])
def test_only_the_panes_asked_for_are_felt_and_those_that_are_gone_do_not_matter(tmux: Tmux, of: int) -> None:
    tmux.start(command="exec cat")
    for _ in range(12):
        tmux.run("new-window", "-d", "exec sleep 1000")
    tmux.run("send-keys", "-t", "%1", "-l", "abc")
    tmux.run("select-pane", "-t", "%11", "-T", "Titel ✳ | x")
    until_now(lambda: listed(tmux)["%1"].cursor_x == 3)
    told = [tmux.try_run(*words).stdout for words in pulse_arguments(["%1", "%11", "%99"], of=of)]
    felt = pulses("".join(told).splitlines())
    now = listed(tmux)
    assert list(felt) == ["%1", "%11"]
    assert felt["%11"].title == "Titel ✳ | x"
    assert not any(felt[pane_id].differs(now[pane_id]) for pane_id in felt)


@given(ANY_PANE, ANY_PANE)
def test_a_pulse_makes_of_a_pane_what_it_is_now(before: Pane, after: Pane) -> None:
    pulse = Pulse(after.activity, after.alternate, after.cursor_x, after.cursor_y, after.history_bytes, after.title)
    now = pulse.of(before)
    assert not pulse.differs(now)
    assert (now.cursor_x, now.title) == (after.cursor_x, after.title)
    assert (now.id, now.path, now.command) == (before.id, before.path, before.command)
    assert pulse.differs(before) == (now != before)


@given(st.text())
def test_a_line_that_is_no_pulse_is_left_out(line: str) -> None:
    assert pulses([line]) == {}
