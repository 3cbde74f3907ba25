"""Acting on an agent behind ssh, and a link that is cut in the middle."""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from murli import EXIT_PARTIAL
from tests.covey.conftest import Covey
from tests.covey.fleet.actions.conftest import PROGRAM
from tests.covey.fleet.far import Far, far
from tests.covey.fleet.living import TOY
from tests.covey.fleet.room import until


class FarAgent:
    """An agent with a composer on another machine, and a daemon here that watches it."""

    def __init__(self, covey: Covey, host: Far) -> None:
        self.covey = covey
        self.host = host
        self.log = host.covey.folder / "told"
        program = host.covey.folder / "toy_agent.py"
        shutil.copy(PROGRAM, program)
        self.argv = [sys.executable, str(program), str(self.log)]
        size = ("-x", "80", "-y", "24")
        self.pane = host.room.tmux("new-session", "-d", *size, "-P", "-F", "#{pane_id}", *self.argv)
        (covey.home / "adapters").mkdir(parents=True, mode=0o700)
        shutil.copy(TOY, covey.home / "adapters")
        config = covey.folder / "ssh_config"
        config.write_text(host.ssh_config)
        (covey.home / "config.toml").write_text(f'[fleet]\nssh_config = "{config}"\n')
        assert covey.run("up").code == 0
        assert covey.run("target", "add", "a", "--kind", "ssh").code == 0
        self.row("idle")

    def row(self, state: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            rows = self.covey.run("ps", "--target", "a").result["items"]
            return next((row for row in rows if row["state"] == state), None)

        return until(look)

    def run(self, *words: str) -> dict[str, Any]:
        """Run a verb on the agent. Returns the result, also of a message that was only typed, or the error."""
        verb, *rest = words
        answer = self.covey.run(verb, f"a/{self.pane}", *rest, *(() if verb == "view" else ("--yes",)))
        return json.loads(answer.stdout)["result"] if answer.code in {0, EXIT_PARTIAL} else answer.error  # type: ignore[no-any-return]

    @property
    def told(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line)["message"] for line in lines]

    @property
    def receipts(self) -> list[dict[str, Any]]:
        return self.covey.run("receipts", "list").result["items"]  # type: ignore[no-any-return]


@pytest.fixture
def agent(covey: Covey) -> Iterator[FarAgent]:
    with far("a") as host:
        yield FarAgent(covey, host)


def test_an_agent_on_another_machine_is_sent_to_seen_interrupted_and_ended(agent: FarAgent) -> None:
    receipt = agent.run("send", "--text", "it's\n\tfar; $HOME")["receipt"]
    assert (receipt["rung"], agent.told) == ("submitted", ["it's\n\tfar; $HOME"])
    assert "hello" in agent.run("view")["lines"]
    assert agent.run("view", "--turn")["error"] == "not_supported"
    assert agent.run("interrupt")["error"] == "not_running"
    agent.run("send", "--text", "work")
    agent.row("running")
    assert agent.run("interrupt")["stopped"]
    killed = agent.run("kill", "--signal", "TERM")
    assert (killed["signal"], killed["ended"]) == ("TERM", True)
    until(lambda: not agent.covey.run("ps", "--target", "a").result["items"])


def test_a_message_waits_for_a_machine_that_cannot_be_reached_and_is_sent_once(agent: FarAgent) -> None:
    agent.host.cut()
    receipt = agent.run("send", "--text", "later", "--when-ready")["receipt"]
    assert (receipt["rung"], receipt["open"]) == ("accepted", True)
    assert agent.run("kill")["error"] in {"target_unreachable", "outcome_unknown"}
    agent.host.let_in()
    until(lambda: agent.told)
    until(lambda: not agent.receipts[0]["open"])
    (receipt,) = agent.receipts
    assert agent.told == ["later"]
    # On a busy machine the composer may not be seen empty in time after Enter; then the receipt says what was seen.
    assert receipt["rung"] == "submitted" or receipt["why"], receipt


def test_a_link_that_is_cut_in_the_middle_doubles_nothing_and_claims_nothing(agent: FarAgent) -> None:
    chance = random.Random(5)
    for number in range(4):
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(agent.run, "send", "--text", f"message {number}")
            time.sleep(chance.uniform(0.2, 0.8))
            agent.host.cut()
            sending.result()
        agent.host.let_in()
        agent.host.room.tmux("respawn-pane", "-k", "-t", agent.pane, *agent.argv)
        agent.row("idle")
    assert len(agent.told) == len(set(agent.told))
    for receipt in agent.receipts:
        assert not receipt["open"]
        assert receipt["text"] in agent.told if receipt["rung"] == "submitted" else receipt["why"]
