"""What an action is bound to."""

from __future__ import annotations

import pytest

from covey.fleet.actions.refusal import Refusal
from covey.fleet.actions.snapshot import EXPIRES_S, Snapshot
from tests.covey.fleet.samples import sample_runtime


def test_an_action_that_waited_too_long_is_not_done_any_more() -> None:
    runtime = sample_runtime()
    snapshot = Snapshot(
        action_id="A", runtime=runtime, ref="api", state="idle", state_version=1, observed_at=100.0, taken_at=100.0
    )
    snapshot.check_fresh(100.0 + EXPIRES_S)
    with pytest.raises(Refusal) as refused:
        snapshot.check_fresh(100.1 + EXPIRES_S)
    assert refused.value.error == "action_expired"
