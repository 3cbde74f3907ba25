"""What a race is judged by: what arrived where, against what the receipt and the journal say."""

from __future__ import annotations

from collections import Counter

import pytest

from lab.races.race import Found, Sent, has_token, judge, remainder

TOKEN = "race1n7"
TEXT = f"{TOKEN} run the tests"
SEEN = Sent(TOKEN, TEXT, rung="seen")


def found(*told: str, rung: str = "seen", why: str = "", error: str = "", **more: object) -> Found:
    receipts = {TOKEN: (rung, why, False)} if rung else {}
    return Found(told={TOKEN: list(told)}, receipts=receipts, audited=Counter([error]), **more)  # type: ignore[arg-type]


def refused(error: str) -> Sent:
    return Sent(TOKEN, TEXT, error=error)


@pytest.mark.parametrize(
    ("sent", "outside", "outcome"),
    [
        (SEEN, found(TEXT), "seen"),
        (SEEN, found(f"<current_datetime>now</current_datetime>\n{TEXT}"), "seen"),
        (refused("dialog_open"), found(rung="accepted", why="asks", error="dialog_open"), "dialog_open"),
        (
            refused("connection_lost"),
            found(TEXT, rung="typed", why="the daemon ended in the middle", killed=True),
            "connection_lost, receipt typed",
        ),
        (refused("connection_lost"), found(rung="", killed=True), "connection_lost"),
        (Sent(TOKEN, TEXT, rung="typed"), found(rung="typed", why="Enter was not pressed", left=True), "typed"),
        (Sent(TOKEN, TEXT, rung="submitted"), found(rung="submitted", busy=True), "submitted, not told"),
    ],
)
def test_a_race_in_which_all_promises_hold(sent: Sent, outside: Found, outcome: str) -> None:
    verdict = judge([sent], outside)
    assert (verdict.outcome, verdict.broken) == (outcome, ())


@pytest.mark.parametrize(
    ("sent", "outside", "broken"),
    [
        (SEEN, found(TEXT, TEXT), "doubled"),
        (SEEN, found(f"{TEXT}x"), "spliced"),
        (SEEN, found(f"{TOKEN} run"), "spliced"),
        (SEEN, found(), "lost"),
        (SEEN, found(TEXT, approved=True), "a dialog was answered"),
        (SEEN, found(TEXT, executed=True), "a shell ran a line"),
        (SEEN, found(TEXT, elsewhere=("another pane",)), "stands in another pane"),
        (Sent(TOKEN, TEXT, rung="submitted"), found(rung="submitted"), "lost"),
        (refused("runtime_changed"), found(TEXT, rung="accepted", error="runtime_changed"), "although it was refused"),
        (refused("internal_error"), found(rung="accepted", error="internal_error"), "no clear error"),
        (refused("dialog_open"), found(rung="accepted"), "no row in the journal"),
        (refused("timeout"), found(rung="accepted"), "gave no answer"),
        (refused("connection_lost"), found(TEXT, rung="", killed=True), "there is no receipt"),
        (Sent(TOKEN, TEXT, rung="typed"), found(TEXT, rung="typed"), "without a reason"),
        (refused("not_in_foreground"), found(rung="accepted", error="not_in_foreground", left=True), "shell's prompt"),
        (refused("screen_changing"), found(rung="accepted", error="screen_changing", calm=True), "nothing happened"),
    ],
)
def test_every_broken_promise_is_named(sent: Sent, outside: Found, broken: str) -> None:
    assert any(broken in one for one in judge([sent], outside).broken), judge([sent], outside)


def test_a_token_is_not_found_in_a_longer_one() -> None:
    assert has_token(f"xx{TOKEN} y", TOKEN)
    assert not has_token(f"{TOKEN}1 y", TOKEN)
    assert not has_token(f"{TOKEN}p3 y", TOKEN)


def test_messages_that_an_agent_has_merged_leave_no_remainder() -> None:
    assert remainder("one two\n\nthree", ["three", "one  two"]) == ""
    assert remainder("one two z", ["one two"]) == "z"
