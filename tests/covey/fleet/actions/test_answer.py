"""The answer to a message: waited for, read from the transcript, and not claimed if it is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.actions.answering_claude import AnsweringClaude
from tests.covey.fleet.actions.conftest import Composing
from tests.covey.fleet.living import living
from tests.covey.fleet.room import until

pytestmark = pytest.mark.once  # the release of tmux makes no difference


@pytest.fixture
def claude(covey: Covey) -> Iterator[AnsweringClaude]:
    with living(covey) as fleet:
        yield AnsweringClaude(fleet)


def test_the_reply_is_waited_for_and_read(claude: AnsweringClaude) -> None:
    same = "word " * 60
    code, result = claude.send(f"{same}one\tend  ", "--wait")
    assert (code, result["answer"]["outcome"]) == (0, "answered")
    assert result["answer"]["reply"].startswith("You said 309 characters.\n\n  The last:")
    assert (result["receipt"]["rung"], result["receipt"]["open"]) == ("answered", False)
    (claude.log.parent / "hold").touch()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(claude.send, f"{same}two", "--wait")
        until(lambda: claude.covey.run("receipts", "list").result["items"][0]["rung"] == "seen")
        (receipt, _) = claude.covey.run("receipts", "list").result["items"]
        late = claude.covey.run("receipts", "wait", receipt["id"], "--timeout", "10ms")
        assert (late.code, late.error["error"]) == (4, "timeout")
        (claude.log.parent / "hold").unlink()
        assert waiting.result()[1]["answer"]["reply"].endswith("The last:  two")
    turns = claude.covey.run("view", claude.pane, "--turn").result["turns"]
    assert [turn["prompt"][-8:] for turn in turns] == ["e    end", "word two"]
    assert turns[1]["reply"] == "You said 303 characters.\n\n  The last:  two"


def test_an_agent_that_asks_ends_the_wait(claude: AnsweringClaude) -> None:
    code, result = claude.send("ask", "--wait")
    assert (code, result["answer"]["outcome"], result["answer"]["reply"]) == (3, "asks", "")
    assert (result["answer"]["state"], result["receipt"]["rung"]) == ("waiting_approval", "seen")


def test_an_answer_that_cannot_be_read_is_not_claimed(composing: Composing) -> None:
    composing.ask()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            composing.covey.run, "send", composing.pane, "--text", "work", "--when-ready", "--wait", "--yes"
        )
        until(lambda: composing.receipts)
        composing.approve()
        composing.fleet.row(composing.pane, "running")
        composing.fleet.tmux("send-keys", "-t", composing.pane, "Escape")
        ran = waiting.result()
    result = json.loads(ran.stdout)["result"]
    assert (ran.code, result["answer"]["outcome"]) == (3, "done")
    assert (result["receipt"]["rung"], "cannot be read" in result["answer"]["why"]) == ("submitted", True)
