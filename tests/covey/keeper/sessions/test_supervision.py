"""When a kept agent is started again, and when it stays ended."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from covey.keeper.sessions.record import KeptSession
from covey.keeper.sessions.supervision import STEADY_S, Restarts, judge
from covey.keeper.sessions.tmux_panes import SeenPane

BOOT = "this boot"
RECORD = KeptSession(
    name="api", agent="claude", cwd="/w", launch="l1", boot=BOOT, pane_id="%1", created_at=1.0, folder="/f", socket="/s"
)
LIVING = SeenPane(
    name="api", launch="l1", pane_id="%1", pid=1, dead=False, status=None, signal="", session_id="$0", session_name="a"
)


def ended(status: int | None = None, signal: str = "") -> SeenPane:
    return replace(LIVING, dead=True, status=status, signal=signal)


@pytest.mark.parametrize(
    ("pane", "server", "boot", "action", "why"),
    [
        (LIVING, True, BOOT, "none", ""),
        (ended(0), True, BOOT, "ended", "it was ended at its terminal"),
        (ended(1), True, BOOT, "crashed", "it ended with exit code 1"),
        (ended(127), True, BOOT, "crashed", "it ended with exit code 127"),
        (ended(signal="9"), True, BOOT, "crashed", "it was ended by signal 9"),
        (ended(), True, BOOT, "none", ""),
        (None, True, BOOT, "ended", "its tmux pane was closed"),
        (None, False, BOOT, "crashed", "its tmux server has ended"),
        (None, False, "another", "ended", "the machine was restarted"),
        (None, True, "another", "ended", "the machine was restarted"),
        (LIVING, True, "another", "none", ""),
    ],
    ids=["lives", "exit 0", "exit 1", "exit 127", "signal", "not reaped", "pane gone", "server gone", "reboot",
         "reboot, server runs", "lives after a reboot that was none"],
)  # fmt: skip
def test_what_is_seen_says_whether_it_crashed(
    pane: SeenPane | None, *, server: bool, boot: str, action: str, why: str
) -> None:
    assert judge(RECORD, pane, server=server, boot=boot) == (action, why)


@pytest.mark.parametrize("server", [True, False])
def test_a_session_that_is_marked_comes_back_after_a_reboot(*, server: bool) -> None:
    verdict = judge(replace(RECORD, keep=True), None, server=server, boot="another")
    assert verdict == ("crashed", "the machine was restarted")


def test_a_start_that_the_daemon_did_not_live_to_see_is_done_again() -> None:
    assert judge(replace(RECORD, pane_id=""), None, server=True, boot=BOOT).action == "crashed"
    assert judge(replace(RECORD, pane_id=""), LIVING, server=True, boot=BOOT).action == "none"


@pytest.mark.parametrize("pane", [None, ended(0), ended(1), LIVING])
def test_a_session_that_is_not_to_run_is_left_alone(pane: SeenPane | None) -> None:
    assert judge(replace(RECORD, wanted=False), pane, server=True, boot=BOOT).action == "none"


def test_pauses_double_up_to_the_longest_and_begin_again_after_a_steady_run() -> None:
    restarts = Restarts(1.0, 60.0)
    assert [restarts.after(0.5) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert restarts.after(STEADY_S - 1) == 60
    assert restarts.failures == 9
    assert [restarts.after(STEADY_S), restarts.after(1.0)] == [1, 2]
