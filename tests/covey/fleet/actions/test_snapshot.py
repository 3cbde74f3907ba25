"""What an action is bound to."""

from __future__ import annotations

import pytest

from covey.fleet.actions.refusal import Refusal
from covey.fleet.actions.snapshot import EXPIRES_S, Snapshot
from covey.fleet.watch.runtimes import Runtime


def test_an_action_that_waited_too_long_is_not_done_any_more() -> None:
    runtime = Runtime(
        runtime_id="r",
        target="host",
        socket="/s",
        window_id="@1",
        pane_id="%1",
        pane_epoch="",
        agent="toy",
        pid=1,
        process_started=1,
        started_at=0.0,
    )
    snapshot = Snapshot(
        action_id="A", runtime=runtime, ref="api", state="idle", state_version=1, observed_at=100.0, taken_at=100.0
    )
    snapshot.check_fresh(100.0 + EXPIRES_S)
    with pytest.raises(Refusal) as refused:
        snapshot.check_fresh(100.1 + EXPIRES_S)
    assert refused.value.error == "action_expired"
