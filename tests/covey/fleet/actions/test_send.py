"""Messages to an agent: typed into its composer and nowhere else, once, whole, or refused."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.person import Person
from tests.covey.fleet.actions.conftest import Composing
from tests.covey.fleet.room import until


def test_a_message_is_submitted_once_and_the_receipt_says_how_far_it_came(composing: Composing) -> None:
    receipt = composing.send("run the tests")
    assert (receipt["rung"], receipt["open"]) == ("submitted", False)
    assert receipt["why"] == "this agent reports no prompts: it has no hooks or files that Covey reads"
    assert composing.told == [{"message": "run the tests"}]
    assert composing.covey.run("receipts", "list").result["items"] == [receipt]
    rungs = [event["data"]["rung"] for event in composing.fleet.events("receipt.changed")]
    assert rungs == ["accepted", "typed", "submitted", "submitted"]


@pytest.mark.parametrize(
    "text",
    [
        "a;",
        "\\;",
        'it\'s "quoted" #{pid} %H $HOME ~/x `id` -- -t',
        "one\n  two\n\nthree  ",
        "tabs\tand 漢字 and \u00e9 and \U0001f600",
        "x" * 30_000 + "\n" + "é" * 30_000,
    ],
)
def test_a_text_arrives_as_it_is(composing: Composing, text: str) -> None:
    assert composing.send(text)["rung"] == "submitted"
    assert composing.told == [{"message": text}]


def test_controls_are_taken_out_and_counted(composing: Composing) -> None:
    answer = composing.covey.run("send", composing.pane, "--text", "a\x1b[201~\rb\x07", "--yes").result
    assert answer["stripped"] == 2
    assert composing.told == [{"message": "a[201~\nb"}]


def test_a_text_that_composers_show_otherwise_is_submitted(composing: Composing) -> None:
    assert composing.send("cafe\u0301 x\u200bwidth \u202eso\u00adft")["rung"] == "submitted"
    assert composing.told == [{"message": "caf\u00e9 xwidth soft"}]


def test_while_it_asks_nothing_is_typed(composing: Composing) -> None:
    composing.ask()
    assert composing.send("yes")["error"] == "dialog_open"
    assert composing.told == []


def test_somebodys_draft_is_not_touched(composing: Composing) -> None:
    composing.fleet.tmux("send-keys", "-t", composing.pane, "-l", "half a thought")
    until(lambda: "half a thought" in composing.fleet.tmux("capture-pane", "-p", "-t", composing.pane))
    error = composing.send("mine")
    assert (error["error"], "half a thought" in error["message"]) == ("composer_holds_draft", True)
    assert composing.told == []


def test_a_pane_in_a_mode_is_left_alone(composing: Composing) -> None:
    composing.fleet.tmux("copy-mode", "-t", composing.pane)
    assert composing.send("x")["error"] == "pane_in_mode"


@pytest.mark.parametrize("text", ["/clear", "  /clear", "exit", " :Q "])
def test_what_would_be_run_as_a_command_has_to_be_meant(composing: Composing, text: str) -> None:
    assert composing.send(text)["error"] == "text_is_command"
    assert composing.told == []
    assert composing.send(text, "--as-command")["rung"] == "submitted"
    assert composing.told == [{"message": text}]


def test_a_command_for_the_shell_is_never_sent(composing: Composing) -> None:
    assert composing.send("!rm -rf /")["error"] == "text_is_command"
    assert composing.send("!rm -rf /", "--as-command")["error"] == "not_supported"
    assert composing.told == []


def test_a_blank_ends_a_word_for_which_agents_open_a_list(composing: Composing) -> None:
    assert composing.send("look at @README.md")["rung"] == "submitted"
    assert composing.told == [{"message": "look at @README.md "}]


def test_nothing_is_not_sent(composing: Composing) -> None:
    assert composing.send(" \n")["message"] == "there is no text to send"
    assert composing.covey.run("send", composing.pane, "--yes").error["field"] == "text"


def test_conditions_are_checked_and_staleness_can_be_overruled_but_not_identity(composing: Composing) -> None:
    assert composing.send("x", "--if-state", "running")["error"] == "state_changed"
    assert composing.send("x", "--if-runtime", "0123456789abcdef", "--force-stale")["error"] == "runtime_changed"
    assert composing.send("x", "--if-updated-within", "0s")["error"] == "state_stale"
    assert composing.told == []
    sent = composing.send(
        "x", "--if-runtime", composing.runtime_id, "--if-state", "running", "--if-updated-within", "0s", "--force-stale"
    )
    assert sent["rung"] == "submitted"


def test_a_dry_run_types_nothing(composing: Composing) -> None:
    planned = composing.covey.run("send", composing.pane, "--text", "x", "--dry-run").result
    assert (planned["would_send"], planned["snapshot"]["runtime_id"]) == (True, composing.runtime_id)
    composing.ask()
    planned = composing.covey.run("send", composing.pane, "--text", "x", "--dry-run").result
    assert (planned["would_send"], planned["refusal"]["error"]) == (False, "dialog_open")
    assert composing.told == []
    assert composing.covey.run("receipts", "list").result["items"] == []


def test_a_shell_that_has_taken_the_place_of_the_agent_gets_nothing(composing: Composing) -> None:
    marker = composing.covey.folder / "typed"
    composing.fleet.tmux("respawn-pane", "-k", "-t", composing.pane, "sh")
    error = composing.send(f"touch {marker}")
    assert error["error"] in {"E_REF_NOT_FOUND", "runtime_changed", "not_in_foreground", "composer_not_found"}
    time.sleep(0.3)
    assert not marker.exists()


def test_an_agent_that_ends_after_the_text_was_typed_leaves_a_receipt_that_says_so(composing: Composing) -> None:
    """At whatever moment it ends: what has arrived was not refused, and what was refused has not arrived."""
    chance = random.Random(3)
    for number in range(6):
        text = f"message {number}"
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(composing.send, text)
            time.sleep(chance.uniform(0, 0.3))
            composing.fleet.tmux("respawn-pane", "-k", "-t", composing.pane, *composing.argv)
            ended = sending.result()
        arrived = {"message": text} in composing.told
        assert not (arrived and "error" in ended), ended
        reasons = ("Enter was", "the composer", "its", "it may be submitted", "whether")
        assert ended.get("rung") in {None, "submitted"} or ended["why"].startswith(reasons), ended
        composing.fleet.row(composing.pane, "idle")


def test_many_senders_to_one_agent_are_served_one_after_the_other(composing: Composing) -> None:
    texts = [f"message {number}\nof several lines" for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        receipts = list(pool.map(composing.send, texts))
    assert [receipt["rung"] for receipt in receipts] == ["submitted"] * 12
    assert sorted(entry["message"] for entry in composing.told) == sorted(texts)


def test_a_dialog_that_opens_in_the_middle_is_never_answered(composing: Composing) -> None:
    """The agent asks at a random moment of each send; whatever happens, no Enter of ours approves."""
    chance = random.Random(7)
    for number in range(12):
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(composing.send, f"message {number}")
            time.sleep(chance.uniform(0, 0.6))
            composing.ask()
            sending.result()
        assert {"approved": True} not in composing.told
        (composing.log.parent / "ask").unlink()
        composing.fleet.tmux("respawn-pane", "-k", "-t", composing.pane, *composing.argv)
        composing.fleet.row(composing.pane, "idle")
    told = [entry["message"] for entry in composing.told]
    assert len(told) == len(set(told))


def test_a_person_who_types_in_the_same_pane_is_waited_for(composing: Composing) -> None:
    """The letters are typed in the middle of the send, or just after it; they are never submitted."""
    socket = composing.fleet.tmux("display-message", "-p", "#{socket_path}")
    person = Person(
        ["tmux", "-u", "-S", socket, "attach-session"], {**composing.covey.environment(), "TERM": "xterm-256color"}
    )
    try:
        until(lambda: composing.fleet.tmux("list-clients"))
        for number in range(2):
            with ThreadPoolExecutor(1) as pool:
                sending = pool.submit(composing.send, f"message {number}")
                for _ in range(4):
                    time.sleep(0.05)
                    person.press(b"w")
                ended = sending.result()
            assert ended.get("rung", "refused") in {"typed", "refused", "submitted"}
            assert not any("w" in one["message"] for one in composing.told)
            composing.fleet.tmux("send-keys", "-t", composing.pane, "C-u")
    finally:
        person.close()
    assert composing.send("nobody looks now")["rung"] == "submitted"


def test_a_receipt_that_a_daemon_left_open_is_closed_by_the_next(composing: Composing) -> None:
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(composing.send, "x")
        until(lambda: composing.fleet.events("receipt.changed"))
        composing.fleet.kill()
        sending.result()
    composing.fleet.up()
    (receipt,) = composing.covey.run("receipts", "list").result["items"]
    assert not receipt["open"]
    assert receipt["rung"] == "submitted" or "look at the agent before sending it again" in receipt["why"]
