"""The environment and the options with which a kept agent is started, and who can see them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from covey.agents.launching import MARKS
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept

pytestmark = pytest.mark.once
SECRET = "correct-horse-battery-staple"


def test_an_agent_has_its_folder_its_arguments_and_its_variables_and_nothing_of_an_outer_agent(kept: Kept) -> None:
    outer = dict.fromkeys(MARKS, "outer")
    kept.begin(CLAUDECODE="1", HTTP_PROXY="http://127.0.0.1:1", DAEMON_HAS="it", TMUX="/nowhere,1,0", **outer)
    words = ["--env", f"TOKEN={SECRET}", "--env", "DAEMON_HAS", "--env", "NONE", "--env", "NO_PROXY=example.org"]
    shown = kept.start(*words, "--permission-mode", "plan", "--", "--verbose", "two words")
    (start,) = kept.starts
    environment, options = start["env"], start["options"]
    assert start["cwd"] == str(kept.work)
    assert options[-2:] == ["--verbose", "two words"]
    assert options[options.index("--permission-mode") + 1] == "plan"
    assert options[options.index("--session-id") + 1] == shown["conversation"]
    assert (environment["TOKEN"], environment["DAEMON_HAS"], "NONE" in environment) == (SECRET, "it", False)
    assert environment["HTTP_PROXY"] == "http://127.0.0.1:1"
    assert environment["NO_PROXY"] == environment["no_proxy"] == "example.org,127.0.0.1,localhost"
    assert (environment["COVEY_SESSION"], environment["COVEY_HOME"]) == ("api", str(kept.covey.home))
    assert environment["TMUX"].startswith(shown["socket"])
    assert not {*MARKS, "CLAUDECODE"} & environment.keys()

    assert shown["variables"] == ["DAEMON_HAS", "NONE", "NO_PROXY", "TOKEN"]
    token = environment["COVEY_CHANNEL_TOKEN"]
    assert (kept.covey.node / "keeper" / "api" / "token").read_text().strip() == token
    visible = [kept.keep("status", "api").stdout, kept.keep("list").stdout, kept.keep("logs", "api").stdout]
    visible += [subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout]
    visible += [kept.covey.run("audit", "list").stdout, (kept.covey.node / "daemon.log").read_text()]
    visible += [json.dumps(kept.events()), kept.tmux("list-panes", "-a", "-F", "#{pane_start_command}")]
    assert not [text for text in visible if SECRET in text or token in text]
    private = kept.covey.node / "keeper" / "api"
    assert {stat.S_IMODE(file.stat().st_mode) for file in private.iterdir() if file.is_file()} == {0o600}
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_the_same_is_there_after_a_crash(kept: Kept) -> None:
    kept.begin()
    kept.start("--env", "TOKEN=one", "--model", "opus", "--", "--verbose")
    os.kill(kept.agent_pid(), 9)
    kept.ready(restarts=1)
    first, again = kept.starts
    changed = {name for name in {*first["env"], *again["env"]} if first["env"].get(name) != again["env"].get(name)}
    assert changed == {"COVEY_LAUNCH"}
    assert again["cwd"] == first["cwd"]
    # A conversation without a prompt is not stored, and cannot be resumed.
    assert first["options"][0] == again["options"][0] == "--session-id"
    assert first["options"][2:] == again["options"][2:]


def test_a_conversation_is_found_where_the_agent_has_it_also_if_the_daemon_would_look_elsewhere(kept: Kept) -> None:
    place = kept.covey.folder / "claude of tmux"
    kept.begin(CLAUDE_CONFIG_DIR="")
    kept.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    kept.tmux("set-environment", "-g", "CLAUDE_CONFIG_DIR", str(place))
    first = kept.start()
    kept.write("remember me")
    until(lambda: kept.kept_events("keeper.delivered"))
    os.kill(kept.agent_pid(), 9)
    assert kept.ready(restarts=1)["conversation"] == first["conversation"]
    kept.kill_tmux()  # the next server is started by the daemon, and does not have the variable
    assert kept.ready(restarts=2)["conversation"] == first["conversation"]
    assert [start["env"]["CLAUDE_CONFIG_DIR"] for start in kept.starts] == [str(place)] * 3
    assert [event["resumed"] for event in kept.kept_events("keeper.started")] == [False, True, True]


def test_a_program_that_vanished_is_waited_for_with_longer_and_longer_pauses(kept: Kept) -> None:
    kept.begin()
    kept.start()
    (kept.bin / "claude").rename(kept.bin / "elsewhere")
    os.kill(kept.agent_pid(), 9)
    until(lambda: len(kept.kept_events("keeper.ended")) >= 4)
    events = kept.kept_events("keeper.ended")
    assert [event["starts_in"] for event in events[:4]] == [0.1, 0.2, 0.4, 0.8]
    assert "is not on the PATH" in events[1]["why"]
    waits = kept.session()
    assert "is not on the PATH" in " ".join([waits["why"], *waits["notes"]])
    (kept.bin / "elsewhere").rename(kept.bin / "claude")
    assert until(lambda: kept.session()["phase"] == "running")
    assert Path(kept.session()["cwd"]) == kept.work
