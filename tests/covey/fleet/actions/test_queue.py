"""Messages that wait for their agent: in order, whole, once, over restarts, until they are sent or taken back."""

from __future__ import annotations

import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from covey.agents.prompts import prompt_digest
from tests.covey.fleet.actions.conftest import Composing
from tests.covey.fleet.room import until

pytestmark = pytest.mark.once  # the release of tmux makes no difference

LONG = "first line\n" + "x" * 3000 + "\nlast line"
"""Longer than what a receipt has of a message."""


def test_messages_wait_while_it_asks_survive_a_crash_and_are_sent_in_order(composing: Composing) -> None:
    composing.ask()
    first = composing.send(LONG, "--when-ready")
    assert (first["rung"], first["open"], first["position"]) == ("accepted", True, 1)
    assert "asks something" in first["why"]
    second = composing.send("second", "--when-ready", "--timeout", "5m")
    assert (second["open"], second["position"], second["why"]) == (True, 2, "others wait before it")
    error = composing.send("third")
    assert (error["error"], "2 messages wait" in error["message"]) == ("queue_not_empty", True)
    composing.fleet.kill()
    composing.fleet.up()
    assert [(one["position"], one["open"]) for one in composing.receipts] == [(1, True), (2, True)]
    composing.fleet.row(composing.pane, "waiting_approval")
    composing.approve()
    until(lambda: len(composing.told) == 3)
    assert composing.told == [{"approved": True}, {"message": LONG}, {"message": "second"}]
    until(lambda: not any(one["open"] for one in composing.receipts))
    assert [one["rung"] for one in composing.receipts] == ["submitted", "submitted"]
    assert composing.send("third")["rung"] == "submitted"


def test_a_message_that_can_be_sent_does_not_wait(composing: Composing) -> None:
    receipt = composing.send("now", "--when-ready")
    assert (receipt["rung"], receipt["open"], "position" in receipt) == ("submitted", False, False)
    assert composing.told == [{"message": "now"}]


def test_a_message_is_taken_back_or_given_up_and_nothing_is_typed(composing: Composing) -> None:
    waiting = composing.send("a", "--when-ready", "--if-state", "running")
    assert "is idle, not running" in waiting["why"]
    taken = composing.covey.run("receipts", "cancel", waiting["id"][-6:], "--yes").result
    assert (taken["id"], taken["open"], taken["rung"]) == (waiting["id"], False, "accepted")
    again = composing.covey.run("receipts", "cancel", waiting["id"], "--yes")
    assert (again.code, again.error["error"]) == (7, "not_queued")
    assert composing.covey.run("receipts", "cancel", "nobody", "--yes").code == 5
    assert composing.send("x", "--when-ready", "--if-state", "asleep")["field"] == "state"
    composing.ask()
    planned = composing.covey.run("send", composing.pane, "--text", "x", "--when-ready", "--dry-run").result
    assert (planned["would_send"], "asks something" in planned["waits_for"]) == (False, True)
    composing.send("b", "--when-ready", "--timeout", "60s")
    composing.send("c", "--when-ready", "--timeout", "500ms")
    late = until(lambda: next((one for one in composing.receipts if one["text"] == "c" and not one["open"]), None))
    assert (late["rung"], "waited for too long" in late["why"]) == ("accepted", True)
    (left,) = (one for one in composing.receipts if one["open"])
    assert left["text"] == "b"
    composing.fleet.tmux("kill-pane", "-t", composing.pane)
    ended = until(lambda: next((one for one in composing.receipts if one["text"] == "b" and not one["open"]), None))
    assert ended["why"] == "the agent has ended; nothing was typed"
    assert composing.told == []
    assert composing.covey.run("send", composing.pane, "--text", "x", "--timeout", "1s", "--yes").error["field"] == (
        "timeout"
    )


def test_a_daemon_that_is_killed_at_any_moment_doubles_nothing(composing: Composing) -> None:
    chance = random.Random(13)
    for number in range(3):
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(composing.send, f"message {number}", "--when-ready")
            time.sleep(chance.uniform(0.15, 0.9))
            composing.fleet.kill()
            sending.result()
        composing.fleet.up()
        composing.fleet.row(composing.pane)
        until(lambda: not any(one["open"] for one in composing.receipts))
        composing.fleet.tmux("respawn-pane", "-k", "-t", composing.pane, *composing.argv)
        composing.fleet.row(composing.pane, "idle")
    told = [entry["message"] for entry in composing.told]
    assert len(told) == len(set(told))
    submitted = {one["text"] for one in composing.receipts if one["rung"] == "submitted"}
    assert submitted <= set(told)
    for one in composing.receipts:
        assert one["rung"] == "submitted" or one["why"]


def test_what_a_killed_daemon_left_in_the_composer_is_submitted_and_not_typed_again(composing: Composing) -> None:
    assert composing.send("before")["rung"] == "submitted"
    composing.covey.run("down")
    composing.fleet.tmux("send-keys", "-t", composing.pane, "-l", "left there")
    with closing(sqlite3.connect(composing.covey.node / "node.db")) as database, database:
        database.execute("UPDATE receipt SET rung = 'typed', digest = ?", (prompt_digest("left there"),))
    composing.fleet.up()
    composing.fleet.row(composing.pane, "idle")
    assert composing.send("something else")["error"] == "composer_holds_draft"
    receipt = composing.send("left there", "--when-ready")
    assert receipt["rung"] == "submitted"
    assert [one["message"] for one in composing.told] == ["before", "left there"]


def test_a_draft_with_the_same_words_is_not_touched_if_covey_never_typed_them(composing: Composing) -> None:
    composing.fleet.tmux("send-keys", "-t", composing.pane, "-l", "my own words")
    assert composing.send("my own words")["error"] == "composer_holds_draft"
    assert composing.told == []
