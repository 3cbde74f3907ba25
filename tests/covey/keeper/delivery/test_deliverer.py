"""Messages from a FIFO to an agent: when it is ready, nobody types, and each once."""

from __future__ import annotations

import os
import signal

import pytest

from lab.person import Person
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept


def texts(kept: Kept) -> list[str]:
    """The messages that the agent was given, without their times."""
    return [line.partition(" ")[2] for text in kept.told for line in text.splitlines()]


@pytest.mark.once
def test_messages_wait_for_an_agent_that_works_or_asks_and_then_come_at_once(kept: Kept) -> None:
    kept.begin()
    kept.start()
    hold, ask = kept.told_file.with_name("hold"), kept.told_file.with_name("ask")
    hold.touch()
    kept.write("work")
    kept.when(state="running")
    until(lambda: kept.kept_events("keeper.delivered"))
    for number in range(5):
        kept.write(f"later {number}")
    assert kept.when(waiting=5)["state"] == "running"
    assert texts(kept) == ["default] work"]
    hold.unlink()
    until(lambda: len(kept.told) == 2)
    assert texts(kept) == ["default] work", *(f"default] later {number}" for number in range(5))]
    kept.when(waiting=0)
    kept.ready()

    ask.touch()
    kept.when(state="waiting_approval")
    kept.write("do not press Enter")
    kept.when(waiting=1, state="waiting_approval")
    shown = kept.keep("status", "api").result["messages"]
    assert [(one["channel"], one["text"], one["again"]) for one in shown] == [("default", "do not press Enter", False)]
    kept.tmux("send-keys", "-t", "=api:", "Escape")
    until(lambda: texts(kept)[-1] == "default] do not press Enter")
    kept.when(waiting=0)
    delivered = kept.kept_events("keeper.delivered")
    assert [(event["messages"], event["rung"], event.get("again")) for event in delivered] == [
        (1, "seen", None),
        (5, "seen", None),
        (1, "seen", None),
    ]


def test_messages_wait_for_a_person_who_types(kept: Kept) -> None:
    kept.begin(COVEY_IDLE_THRESHOLD="3")
    session = kept.start()
    argv = ["tmux", "-u", "-S", session["socket"], "attach-session", "-t", "=api"]
    person = Person(argv, {**kept.covey.environment(), "TERM": "xterm-256color"})
    try:
        until(lambda: kept.tmux("list-clients"))
        person.press(b"a draft")
        until(lambda: "a draft" in kept.tmux("capture-pane", "-p", "-t", "=api:"))
        pressed = int(kept.tmux("display-message", "-p", "-t", "=api:", "#{client_activity}") or 0)
        kept.write("hello")
        kept.when(waiting=1)
        person.press(b"\x15")  # the composer is empty again
        (delivered,) = until(lambda: kept.events("keeper.delivered"))
    finally:
        person.close()
    assert texts(kept) == ["default] hello"]
    assert delivered["time"] >= pressed + 2  # tmux counts in whole seconds


@pytest.mark.once
def test_a_message_whose_agent_dies_with_it_is_sent_again_and_says_so_or_is_there_once(kept: Kept) -> None:
    kept.begin()
    kept.start()
    hold = kept.told_file.with_name("hold")
    for number in range(3):
        hold.touch()
        kept.write(f"message {number}")
        until(lambda: any(text.endswith(f"message {number}") for text in texts(kept)))  # noqa: B023 - within the round
        os.kill(kept.agent_pid(), signal.SIGKILL)
        hold.unlink()
        kept.ready(restarts=number + 1)
        kept.when(waiting=0)
    found = texts(kept)
    for number in range(3):
        first, *more = [text for text in found if text.endswith(f"message {number}")]
        assert first == f"default] message {number}"
        assert more in ([], [f"default, sent again] message {number}"])


@pytest.mark.once
def test_a_daemon_that_is_killed_loses_and_doubles_nothing_that_it_had_taken(kept: Kept) -> None:
    kept.begin()
    kept.start()
    for number in range(4):
        kept.write(f"message {number}")
        if number % 2:
            until(lambda: any(text.endswith(f"message {number}") for text in texts(kept)))  # noqa: B023 - as above
        else:  # what is in a FIFO that nobody has open any more is gone: the system keeps it for no one
            until(lambda: len(kept.kept_events("keeper.message")) > number)  # noqa: B023 - as above
        kept.kill()
        kept.begin()
        kept.ready()
    kept.when(waiting=0)
    found = texts(kept)
    plain = [text for text in found if "sent again" not in text]
    assert plain == [f"default] message {number}" for number in range(4)]
    assert len(kept.starts) == 1
