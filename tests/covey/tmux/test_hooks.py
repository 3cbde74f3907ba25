"""Hook entries, ours and those of others."""

from __future__ import annotations

from covey.tmux.hooks import NAMES, Entry, dead, entries, overwritten, place, set_all

SHOWN = [
    "after-new-window",
    "window-linked[0] display-message hello",
    'window-linked[9001] if-shell -F -t =_covey_dead: "#{==:#{session_name},_covey_dead}" "send-keys -t =_covey_dead: Enter"',
    'pane-exited[9002] if-shell -F -t =_covey_live: "#{==:#{session_name},_covey_live}" "send-keys -t =_covey_live: Enter"',
    "pane-died[9003] if-shell -F -t =mine: 1 refresh-client",
]


def test_only_entries_of_a_covey_are_taken_for_one() -> None:
    assert entries(SHOWN) == [Entry("window-linked", 9001, "_covey_dead"), Entry("pane-exited", 9002, "_covey_live")]


def test_an_entry_whose_session_is_no_more_is_dead() -> None:
    assert dead(entries(SHOWN), ["user", "_covey_live"]) == [Entry("window-linked", 9001, "_covey_dead")]


def test_each_session_has_a_place_of_its_own_far_from_the_users() -> None:
    assert place("_covey_00000000") == 9001
    assert place("_covey_00000385") == 9002
    assert {command[2].partition("[")[2] for command in set_all("_covey_00000385")} == {"9002]"}


def test_an_overwritten_entry_is_found_out() -> None:
    shown = ["if-shell -F -t =_covey_0a: …"] * len(NAMES)
    assert not overwritten("\x1f".join(shown), "_covey_0a")
    assert overwritten("\x1f".join(shown), "_covey_0b")
    shown[2] = ""
    assert overwritten("\x1f".join(shown), "_covey_0a")
