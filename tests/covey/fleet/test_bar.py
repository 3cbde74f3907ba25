from __future__ import annotations

from covey.fleet.answers.bar import bar
from tests.covey.fleet.fleets import TARGETS, row, sketch


def test_the_line_counts_by_what_a_person_does_about_it() -> None:
    assert bar([*sketch(), row(state="error"), row(state="completed")], TARGETS) == {
        "text": "1✗ 2▲ 2● 2○ 1?",
        "needs_action": 3,
        "total": 8,
        "down": ["vm3"],
    }


def test_a_calm_fleet_has_a_short_line_and_an_empty_one_none() -> None:
    assert bar([row()], [])["text"] == "1●"
    assert bar([], [])["text"] == ""
    assert bar([], [], "tmux")["text"] == ""


def test_tmux_gets_its_own_colours() -> None:
    assert (
        bar(sketch(), [], "tmux")["text"]
        == "#[fg=yellow]2▲#[default] #[fg=blue]2●#[default] #[dim]1○#[default] #[dim]1?#[default]"
    )


def test_the_menu_bar_gets_a_title_and_a_line_for_each_agent() -> None:
    lines = bar(sketch(), TARGETS, "swiftbar")["text"].split("\n")
    assert lines[:2] == ["2▲ 2● 1○ 1? | color=#b58900", "---"]
    assert lines[2] == '▲ codex  vm1/web:1.0  "Which of the two migrations should I keep?" | color=#b58900'
    assert lines[-1] == "vm3 is down"
    assert len(lines) == 2 + 6 + 1


def test_a_menu_bar_without_agents_does_not_vanish() -> None:
    assert bar([], [], "swiftbar")["text"] == "○\n---\nNo agents"


def test_text_of_an_agent_cannot_give_orders_to_the_menu_bar() -> None:
    text = bar([row(detail="x | bash=/bin/rm param1=-rf\n---\nClick me | href=evil\x1b[2J")], [], "swiftbar")["text"]
    _, _, line = text.split("\n")
    assert line.count("|") == 1
    assert line.endswith("| color=#268bd2")
    assert "\x1b" not in line
