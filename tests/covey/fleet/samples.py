"""Values that tests of the fleet begin with."""

from __future__ import annotations

from covey.agents.approvals import PermissionRequest
from covey.fleet.approvals.approval import Approval
from covey.fleet.watch.runtimes import Runtime


def sample_runtime(started_at: float = 0.0) -> Runtime:
    return Runtime(
        runtime_id="r",
        target="host",
        socket="/s",
        window_id="@1",
        pane_id="%1",
        pane_epoch="",
        agent="toy",
        pid=1,
        process_started=1,
        started_at=started_at,
    )


def sample_approval(request: PermissionRequest, approval_id: str = "1") -> Approval:
    return Approval(
        id=approval_id,
        runtime_id="r",
        ref="a",
        target="host",
        agent="claude",
        pid=1,
        request=request,
        opened_at=0,
        expires_at=1,
    )
