"""What an agent on another host asks there, answered from here: a real sshd, two real daemons."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from covey import __version__
from tests.covey.conftest import Covey
from tests.covey.fleet.approvals.conftest import claude_asks
from tests.covey.fleet.far import Far, far
from tests.covey.fleet.room import until
from tests.covey.fleet.test_targets import Fleet

pytestmark = pytest.mark.once  # the release of tmux makes no difference


@pytest.fixture
def a() -> Iterator[Far]:
    with far("a", installed=True) as host:
        yield host


def test_a_request_on_another_host_is_answered_from_here(covey: Covey, a: Far) -> None:
    command = ["bash", "-c", "exec -a claude sleep 1000"]
    pid = a.room.tmux("new-session", "-d", "-s", "work", "-P", "-F", "#{pane_pid}", *command)
    assert a.covey.run("up").code == 0
    until(lambda: a.covey.run("ps").result["items"])
    fleet = Fleet(covey, a)
    fleet.connected("a")
    until(lambda: fleet.target("a")["node"] == f"ok {__version__}")
    until(lambda: fleet.rows("--target", "a"))
    assert covey.run("approve", "a/work", "--yes").error["error"] == "nothing_asked"

    def ask() -> bytes:
        headers = {"X-Covey-Pid": pid}
        return a.covey.request("POST", "/v1/hooks/claude/decision", json.dumps(claude_asks()), headers)[2]

    with ThreadPoolExecutor(1) as pool:
        for words, wanted in (
            (["approve", "a/work", "--always"], "updatedPermissions"),
            (["deny", "a/work", "--message=--not 'today'"], "--not 'today'"),
        ):
            told = pool.submit(ask)
            until(lambda: a.covey.run("approvals").result["items"])
            until(lambda: covey.run("approvals").result["open"])
            (listed,) = covey.run("approvals").result["items"]
            assert (listed["target"], listed["command"]) == ("a", claude_asks()["tool_input"]["command"])
            assert listed["commands"][0] == f"covey approve runtime:{listed['runtime_id']}"
            answer = covey.run(*words, "--yes").result
            assert (answer["target"], answer["status"]) == ("a", "answered")
            assert b"event: covey.decision" in told.result()
            assert wanted in told.result().decode()
        os.kill(a.covey.pid, signal.SIGKILL)
        until(lambda: fleet.target("a")["node"].startswith("none"))
        assert covey.run("approve", "a/work", "--yes").error["error"] == "not_supported"
