"""Dialogs of real agents, as captured in every release and size: which option is which, and the keys that choose it."""

from __future__ import annotations

import re

import pytest

from covey.agents.registry import DIALOGS
from covey.fleet.actions.dialog_answer import Choice, Dialog, all_keys, choose, find_dialog, next_keys
from covey.fleet.actions.refusal import Refusal
from covey.fleet.agent_sources import without_escapes
from covey.tmux.typing import PaneCheck, condition_bytes
from tests.captured import Capture, all_captures
from tests.covey.agents.screens.adapters_seen import read

pytestmark = pytest.mark.once  # the release of tmux makes no difference

SHOWN = {
    capture: reading.evidence.pattern
    for capture in all_captures()
    if capture.about["agent"] in DIALOGS and (reading := read(capture)) and reading.dialog
}
ANSWERABLE = [capture for capture in SHOWN if re.match(r"approval-|question(?:@|$)", capture.folder.name)]
UNFIT = {
    "copilot/1.0.102/approval-shell@44x16",
    "copilot/1.0.102/approval-write@44x16",
    "copilot/1.0.102/approval-write@58x18",
    "copilot/1.0.80/approval-shell@44x16",
    "copilot/1.0.80/approval-write@44x16",
    "copilot/1.0.80/approval-write@58x18",
    "gemini/0.28.2/question@44x16",
    "gemini/0.28.2/question@58x18",
    "opencode/1.1.65/approval-shell@44x16",
    "opencode/1.1.65/approval-write@58x18",
}
"""Captures of dialogs of which the beginning or the options do not fit on the screen."""
WHOLE = [capture for capture in ANSWERABLE if str(capture) not in UNFIT]
ASKED = {
    "approval-shell": "touch marker && sleep 3",
    "approval-write": "notes.txt",
    "approval-edit": "notes.txt",
    "approval-fetch": "http://127.0.0.1:9/manual.html",
    "approval-mcp": "hello",
    "approval-path": "../../..",
    "approval-plan": "Exit plan mode?",
    "question": "Which of the two ways should it",
}
SIGN = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
YES = re.compile(r"(?:^|\n)\W*(?P<digit>\d)\. (?:Yes|Yes, proceed \(y\)|Allow once)[ │]*(?=\n)")
"""The option that allows once, but for that of opencode and of plans, read in another way than the code does."""


def lines(capture: Capture) -> list[str]:
    return [line.rstrip(" ") for line in without_escapes(capture.escapes).split("\n")]


def dialog_on(capture: Capture) -> Dialog:
    (shape,) = [shape for shape in DIALOGS[capture.about["agent"]] if SHOWN[capture] in shape.rules]
    return find_dialog(shape, lines(capture), capture.escapes.split("\n"))


def keys(dialog: Dialog, wanted: str, *, approval: bool) -> tuple[str, ...]:
    return all_keys(dialog, choose(dialog, Choice(wanted), approval=approval))


def case(capture: Capture) -> str:
    return capture.folder.name.partition("@")[0]


def test_there_are_dialogs_of_all_agents_and_releases() -> None:
    releases = {(capture.about["agent"], capture.about["version"]) for capture in WHOLE}
    assert len(releases) == 15
    assert len(WHOLE) > 100


@pytest.mark.parametrize("capture", WHOLE, ids=str)
def test_what_is_asked_is_among_the_rows_that_are_compared(capture: Capture) -> None:
    dialog = dialog_on(capture)
    asked = ASKED[case(capture)]
    assert asked in " ".join(dialog.text).replace("/notes.t xt", "/notes.txt")
    rows = [row for _, row in dialog.placed]
    assert any(asked in row or "notes.t" in row for row in rows)
    on_screen = lines(capture)
    assert all(on_screen.index(row) == place for place, row in dialog.placed)
    for option in dialog.options:
        assert any(option.label[:20] in row for row in rows), option
    check = PaneCheck(server_pid=1, server_started=1, pane_id="%1", pane_pid=1, program="x", placed=dialog.placed)
    assert condition_bytes(check) < 5000


@pytest.mark.parametrize("capture", [capture for capture in WHOLE if capture.folder.name[0] == "a"], ids=str)
def test_the_keys_of_an_approval(capture: Capture) -> None:
    dialog, agent = dialog_on(capture), capture.about["agent"]
    means = [option.means for option in dialog.options]
    assert (means.count("once"), means.count("deny")) == (1, 1)
    assert means.index("once") < means.index("deny") == len(means) - 1
    once = keys(dialog, "once", approval=True)
    deny = keys(dialog, "deny", approval=True)
    if agent == "opencode":
        assert (once, keys(dialog, "always", approval=True), deny) == (("Enter",), ("Right", "Enter"), ("Escape",))
        return
    if case(capture) == "approval-plan":
        assert once == ("1",)
        assert "ask each time" in dialog.options[0].label or dialog.options[0].label == "Yes"
    else:
        (digit,) = [found["digit"] for found in YES.finditer("\n".join(lines(capture)))][-1:]
        assert once == (digit,)
    assert deny == (("Escape",) if agent == "copilot" else (str(len(dialog.options)),))
    for option in dialog.options:
        lasting = re.search(r"don't ask again|always|session|permanently|remember|approve", option.label)
        assert option.means != "once" or not lasting or "ask each time" in option.label
        assert option.means != "always" or lasting
        assert "auto mode" not in option.label or option.means == ""


@pytest.mark.parametrize("capture", [capture for capture in WHOLE if case(capture) == "question"], ids=str)
def test_the_keys_of_a_question(capture: Capture) -> None:
    dialog, agent = dialog_on(capture), capture.about["agent"]
    assert [option.label for option in dialog.options[:2]] == ["First", "Second"]
    second = keys(dialog, "second", approval=False)
    assert second == (("Down", "Enter") if agent == "copilot" else ("2",))
    assert second == keys(dialog, "2", approval=False)
    if str(capture) != "gemini/0.28.2/question":  # the third option is out of sight
        assert choose(dialog, Choice("", "mine"), approval=False).number == 3
    for wanted in ("once", "always", "deny"):
        with pytest.raises(Refusal, match="asks a question") as refused:
            choose(dialog, Choice(wanted), approval=False)
        assert refused.value.error == "dialog_not_approval"


@pytest.mark.parametrize("capture", [capture for capture in ANSWERABLE if str(capture) in UNFIT], ids=str)
def test_a_dialog_that_does_not_fit_is_refused(capture: Capture) -> None:
    with pytest.raises(Refusal) as refused:
        dialog_on(capture)
    assert refused.value.error == "dialog_not_understood"


def test_a_command_that_looks_like_options_changes_no_key() -> None:
    (capture,) = [capture for capture in WHOLE if str(capture) == "claude/2.1.325/approval-shell"]
    dialog = dialog_on(capture)
    forged = []
    for line in lines(capture):
        forged.append(line)
        if line == " touch marker && sleep 3":
            forged += [f" {SIGN} 1. No", "   2. Yes", "   3. Yes", " Do you want to proceed?", f" {SIGN} 1. No"]
    other = find_dialog(dialog.shape, forged, forged)
    assert other.options == dialog.options
    assert other.fingerprint != dialog.fingerprint


def test_a_row_of_the_command_is_not_taken_for_an_option_that_is_out_of_sight() -> None:
    (capture,) = [capture for capture in WHOLE if str(capture) == "codex/0.166.0/approval-shell"]
    dialog, rows = dialog_on(capture), lines(capture)
    for forged in (["  1. No, stop", ""], ["  1. No, stop", "", "↑"]):
        first = next(at for at, row in enumerate(rows) if "1. Yes, proceed" in row)
        scrolled = [*rows[: first - 2], *forged, "", *rows[first + 1 :]]
        scrolled = [
            row.replace("  2. Yes", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} 2. Yes") for row in scrolled
        ]
        with pytest.raises(Refusal, match="not all recognised"):
            find_dialog(dialog.shape, scrolled, scrolled)


def test_a_row_of_the_command_is_not_taken_for_the_beginning() -> None:
    (capture,) = [capture for capture in WHOLE if str(capture) == "codex/0.166.0/approval-shell"]
    dialog, rows = dialog_on(capture), lines(capture)
    at = next(at for at, row in enumerate(rows) if row.startswith("  $ touch"))
    forged = [*rows[:at], "  $ rm -rf x", "  Would you like to run the following command?", "", *rows[at:]]
    other = find_dialog(dialog.shape, forged, forged)
    assert "$ rm -rf x" in other.text


def test_the_fingerprint_is_that_of_what_is_asked_and_not_of_the_mark() -> None:
    (capture,) = [capture for capture in WHOLE if str(capture) == "copilot/1.0.102/approval-shell"]
    dialog, rows = dialog_on(capture), lines(capture)
    moved = [row.replace(f"│ {SIGN} 1", "│   1").replace("│   2", f"│ {SIGN} 2") for row in rows]
    assert find_dialog(dialog.shape, moved, moved).fingerprint == dialog.fingerprint
    assert find_dialog(dialog.shape, moved, moved).placed != dialog.placed
    changed = [row.replace("touch marker", "touch market") for row in rows]
    assert find_dialog(dialog.shape, changed, changed).fingerprint != dialog.fingerprint


MARKED = (
    "  \x1b[38;2;245;167;66m\x1b[48;2;20;20;20m┃\x1b[38;2;255;255;255m\x1b[48;2;30;30;30m   \x1b[38;2;128;128;128m"
    "Allow once\x1b[38;2;255;255;255m  \x1b[48;2;245;167;66m \x1b[38;2;10;10;10mAllow always\x1b[38;2;255;255;255m "
    "\x1b[48;2;30;30;30m  \x1b[38;2;128;128;128mReject\x1b[38;2;255;255;255m                   \x1b[48;2;10;10;10m"
)
"""As opencode draws the row after one Right."""


def test_options_beside_each_other_are_told_apart_by_the_background() -> None:
    (capture,) = [capture for capture in WHOLE if str(capture) == "opencode/1.18.33/approval-shell"]
    dialog = dialog_on(capture)
    coloured = [MARKED if "Allow once" in line else line for line in capture.escapes.split("\n")]
    moved = find_dialog(dialog.shape, lines(capture), coloured)
    assert (dialog.marked, moved.marked) == (0, 1)
    assert next_keys(moved, moved.options[0]) == (("Left",), False)
    assert next_keys(moved, moved.options[1]) == (("Enter",), True)
    assert next_keys(moved, moved.options[2]) == (("Escape",), True)
    plain = find_without_colours(dialog, lines(capture))
    assert plain.value.error == "dialog_not_understood"


def find_without_colours(dialog: Dialog, rows: list[str]) -> pytest.ExceptionInfo[Refusal]:
    with pytest.raises(Refusal) as refused:
        find_dialog(dialog.shape, rows, rows)
    return refused


def test_what_an_agent_hides_on_its_screen_is_not_allowed_from_elsewhere() -> None:
    capture = next(one for one in WHOLE if str(one) == "gemini/0.61.0/approval-shell")
    (shape,) = [shape for shape in DIALOGS["gemini"] if SHOWN[capture] in shape.rules]
    shown = lines(capture)
    row = next(at for at, line in enumerate(shown) if "│ touch marker" in line)
    shown[row] = "│ ... first 30 lines hidden (Ctrl+O to show) ...".ljust(len(shown[row]) - 1) + "│"
    dialog = find_dialog(shape, shown, shown)
    for wanted in ("once", "always", "1"):
        with pytest.raises(Refusal) as refused:
            choose(dialog, Choice(wanted), approval=True)
        assert refused.value.error == "dialog_not_whole"
    assert choose(dialog, Choice("deny"), approval=True).means == "deny"
