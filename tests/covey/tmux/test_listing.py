"""Lines of panes, from a real tmux and invented."""

from __future__ import annotations

import os

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.tmux import listing
from covey.tmux.errors import TmuxUnreadableError
from covey.tmux.listing import Pane, Pulse, Question, ScreenQuestion, parse_pane, parse_pulse
from tests.covey.tmux.conftest import Tmux, until_now

TEXT = st.text(st.characters(exclude_characters="\t\n"))
COUNT = st.integers(0, 2**40)
ANY_PANE = st.builds(
    Pane,
    id=st.integers(0, 9999).map("%{}".format),
    pid=COUNT, tty=TEXT, session_id=TEXT, session_name=TEXT, window_id=TEXT, window_index=COUNT, window_name=TEXT,
    pane_index=COUNT, dead=st.booleans(), in_mode=st.booleans(), alternate=st.booleans(), width=COUNT, height=COUNT,
    cursor_x=COUNT, cursor_y=COUNT, activity=COUNT, history_bytes=COUNT, attached=COUNT, command=TEXT, path=TEXT,
    title=st.text(),
)  # fmt: skip


def printed(pane: Pane) -> str:
    return listing.SEPARATOR.join(
        str(int(value) if isinstance(value, bool) else value) for value in msgspec.structs.astuple(pane)
    )


@given(ANY_PANE)
def test_what_tmux_prints_is_what_is_read(pane: Pane) -> None:
    assert parse_pane(printed(pane)) == pane


@given(st.text())
def test_any_other_line_is_not_a_pane(line: str) -> None:
    assert parse_pane(line) is None


def listed(tmux: Tmux) -> dict[str, Pane]:
    question = Question()
    question.all_panes()
    found = question.parse(tmux.run(*question.words))
    assert found
    assert found.complete
    assert found.panes is not None
    return found.panes


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    title=st.binary(max_size=40),
    name=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20),
)
def test_no_title_or_name_breaks_a_listing(tmux: Tmux, title: bytes, name: str) -> None:
    if not tmux.sessions():
        tmux.start(command="exec cat")
    terminal = os.open(tmux.run("display-message", "-p", "#{pane_tty}"), os.O_WRONLY | os.O_NOCTTY)
    os.write(terminal, b"\x1b]2;" + title + b"\x07\x1b\\\x18\x1bc")
    os.close(terminal)
    tmux.try_run("rename-window", "--", name)  # newer versions refuse some names
    tmux.run("set-option", "-p", "@probe", "1")
    assert list(listed(tmux)) == ["%0"]


def test_a_folder_and_a_program_with_line_breaks_and_separators_stay_on_their_line(tmux: Tmux) -> None:
    folder = tmux.folder / "a\nb\tc\x1fd"
    folder.mkdir()
    program = tmux.folder / "odd\tname"
    program.symlink_to("/bin/sleep")
    tmux.start()
    tmux.run("new-window", "-d", "-c", str(folder), str(program), "1000")
    until_now(lambda: listed(tmux)["%1"].command in ("odd?name", ""))  # 3.8 does not tell the name of such a program
    found = listed(tmux)
    assert list(found) == ["%0", "%1"]
    assert found["%1"].path == f"{tmux.folder}/a?b?c?d"


def test_a_pane_is_listed_with_all_its_fields(tmux: Tmux) -> None:
    tmux.start("user", command="exec cat")
    tmux.run("rename-window", "work")
    tmux.run("select-pane", "-T", "Titel ✳ | x")
    tmux.run("send-keys", "-l", "abc")
    until_now(lambda: listed(tmux)["%0"].cursor_x == 3)
    pane = listed(tmux)["%0"]
    assert (pane.session_id, pane.session_name, pane.window_id, pane.window_index, pane.window_name) == (
        "$0",
        "user",
        "@0",
        0,
        "work",
    )
    # 3.2a ignores the size that it was given.
    size = tmux.run("display-message", "-p", "#{pane_width} #{pane_height}").split()
    assert ([str(pane.width), str(pane.height)], pane.command, pane.title) == (size, "cat", "Titel ✳ | x")
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
    question = Question()
    question.pulses(["%1", "%11", "%99"], of=of)
    found = question.parse(tmux.run(*question.words))
    assert found
    felt = found.pulses
    now = listed(tmux)
    assert list(felt) == ["%1", "%11"]
    assert felt["%11"].title == "Titel ✳ | x"
    assert not any(felt[pane_id].differs(now[pane_id]) for pane_id in felt)


@given(ANY_PANE, ANY_PANE)
def test_a_pulse_makes_of_a_pane_what_it_is_now(before: Pane, after: Pane) -> None:
    pulse = Pulse(after.activity, after.alternate, after.cursor_x, after.cursor_y, after.history_bytes, after.title)
    now = pulse.applied_to(before)
    assert not pulse.differs(now)
    assert (now.cursor_x, now.title) == (after.cursor_x, after.title)
    assert (now.id, now.path, now.command) == (before.id, before.path, before.command)
    assert pulse.differs(before) == (now != before)


@given(st.text())
def test_a_line_that_is_not_a_pulse_is_none(line: str) -> None:
    assert parse_pulse(line) is None


@pytest.mark.parametrize("escaped", ["\\011", "\\t", "_", ""])
def test_an_answer_whose_separators_were_changed_is_an_error_and_not_an_empty_list(tmux: Tmux, escaped: str) -> None:
    """As tmux 3.4 does with other control characters, and tmux without UTF-8 with all of them."""
    tmux.start()
    question = Question()
    question.all_panes()
    out = tmux.run(*question.words)
    with pytest.raises(TmuxUnreadableError, match="who it is"):
        question.parse(out.replace("\t", escaped))
    head, *rest = out.split("\n")
    with pytest.raises(TmuxUnreadableError, match="its panes"):
        question.parse(
            "\n".join(
                [
                    head,
                    *(line.replace("\t", escaped).replace(escaped, "\t", 2) if escaped else line[:40] for line in rest),
                ]
            )
        )


def test_an_answer_without_our_mark_is_none(tmux: Tmux) -> None:
    tmux.start()
    assert Question().parse(tmux.run("list-panes", "-a")) is None
    assert ScreenQuestion(["%0"], escapes=False).parse(tmux.run("capture-pane", "-p", "-t", "%0")) is None


def test_sessions_are_the_users_whatever_they_are_called(tmux: Tmux) -> None:
    tmux.start("_covey_1234")
    assert [pane.session_name for pane in listed(tmux).values()] == ["_covey_1234"]


def test_a_glance_differs_when_a_pane_moves_to_another_window(tmux: Tmux) -> None:
    def glance() -> str | None:
        question = Question()
        question.glance()
        found = question.parse(tmux.run(*question.words))
        assert found
        return found.glance

    tmux.start()
    tmux.run("split-window", "-d", "exec sleep 1000")
    until_now(lambda: "tmux|" not in str(glance()))  # tmux forks first, then becomes the program
    before = glance()
    assert before == glance()
    tmux.run("break-pane", "-d", "-s", "%1")
    assert glance() not in (None, "", before)
