"""Who acted on which agent: `covey audit`."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.covey.fleet.actions.conftest import Composing
from tests.covey.fleet.room import until

pytestmark = pytest.mark.once  # the release of tmux makes no difference


def entries(composing: Composing, *words: str) -> list[dict[str, Any]]:
    return composing.covey.run("audit", *words).result["items"]  # type: ignore[no-any-return]


@pytest.mark.usefixtures("no_forks")
def test_what_was_done_and_what_was_refused(composing: Composing) -> None:
    composing.send("the password is hunter2")
    composing.covey.run("send", composing.pane, "--text", "x", "--dry-run")
    composing.ask()
    composing.fleet.row(composing.pane, "waiting_approval")
    composing.send("yes")
    composing.covey.run("interrupt", composing.pane, "--yes")
    composing.covey.run("send", "%99", "--text", "x", "--yes")
    composing.covey.run("kill", composing.pane, "--signal", "KILL", "--yes")
    found = entries(composing)
    assert [(one["operation"], one["status"], one["error"], one["outcome"]) for one in found] == [
        ("send", "done", None, "submitted"),
        ("send", "refused", "dialog_open", ""),
        ("interrupt", "refused", "dialog_open", ""),
        ("send", "refused", "E_REF_NOT_FOUND", ""),
        ("kill", "done", None, "SIGKILL, it has ended"),
    ]
    snapshot = found[0]["snapshot"]
    assert (snapshot["runtime_id"], snapshot["state"]) == (composing.runtime_id, "idle")
    assert snapshot["action_id"] == composing.covey.run("receipts", "list").result["items"][-1]["id"]
    assert (found[3]["about"], found[3]["snapshot"]) == ("%99", None)
    assert (found[0]["who"]["uid"], found[0]["who"]["program"]) == (os.getuid(), "covey")
    assert "hunter2" not in composing.covey.run("audit").stdout
    assert [one["operation"] for one in entries(composing, "--operation", "kill", "--since", "1h")] == ["kill"]
    shown = composing.covey.run("audit", "--limit", "2", "--output", "text").stdout
    assert "refused: E_REF_NOT_FOUND" in shown
    assert "Earlier: covey audit --before" in shown


def test_an_action_during_which_the_daemon_is_killed_stays_recorded(composing: Composing) -> None:
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(composing.send, "x")
        until(lambda: composing.fleet.events("audit.begun"))
        composing.fleet.kill()
        sending.result()
    composing.fleet.up()
    (entry,) = entries(composing, "--operation", "send")
    assert entry["snapshot"]["runtime_id"] == composing.runtime_id
    assert entry["status"] in {"cut_off", "done"}  # done, if it was faster than the signal
