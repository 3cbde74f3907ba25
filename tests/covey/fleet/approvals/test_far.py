"""What an agent on another host asks there, answered from here: a real sshd, two real daemons."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator

import pytest

from covey import __version__
from covey.agents.integration import script
from tests.covey.conftest import Covey
from tests.covey.fleet.approvals.conftest import claude_asks, install
from tests.covey.fleet.far import Far, far
from tests.covey.fleet.living import AGENT
from tests.covey.fleet.room import until
from tests.covey.fleet.test_targets import Fleet

pytestmark = pytest.mark.once  # the release of tmux makes no difference


@pytest.fixture
def a() -> Iterator[Far]:
    with far("a", installed=True) as host:
        yield host


def test_a_request_on_another_host_is_answered_from_here(covey: Covey, a: Far) -> None:
    program = a.covey.folder / "claude"
    program.write_text(AGENT)
    program.chmod(0o700)
    install(a.covey)
    pane = a.room.tmux("new-session", "-d", "-s", "work", "-P", "-F", "#{pane_id}", str(program))
    assert a.covey.run("up").code == 0
    until(lambda: a.covey.run("ps").result["items"])
    fleet = Fleet(covey, a)
    fleet.connected("a")
    until(lambda: fleet.target("a")["node"] == f"ok {__version__}")
    until(lambda: fleet.rows("--target", "a"))
    assert covey.run("approve", "a/work", "--yes").error["error"] == "nothing_asked"

    payload, told = a.covey.folder / "payload", a.covey.folder / "told"
    payload.write_text(json.dumps(claude_asks()))
    hook = script.command(a.covey.home, "claude")
    for words, wanted in (
        (["approve", "a/work", "--always"], "updatedPermissions"),
        (["deny", "a/work", "--message=--not 'today'"], "--not 'today'"),
    ):
        told.unlink(missing_ok=True)
        a.room.tmux("send-keys", "-t", pane, "-l", "--", f"{hook} <{payload} >{told}.part; mv {told}.part {told}")
        a.room.tmux("send-keys", "-t", pane, "Enter")
        until(lambda: a.covey.run("approvals").result["items"])
        until(lambda: covey.run("approvals").result["open"])
        (listed,) = covey.run("approvals").result["items"]
        assert (listed["target"], listed["command"].splitlines()[0]) == ("a", "rm -rf build/")
        assert listed["commands"][0] == f"covey approve runtime:{listed['runtime_id']}"
        answer = covey.run(*words, "--yes").result
        assert (answer["target"], answer["status"]) == ("a", "answered")
        until(told.exists)
        assert wanted in json.dumps(json.loads(told.read_text())).replace("\\u0027", "'")
    os.kill(a.covey.pid, signal.SIGKILL)
    until(lambda: fleet.target("a")["node"].startswith("none"))
    assert covey.run("approve", "a/work", "--yes").error["error"] == "not_supported"
