"""When the agent of a kept session is started again, and when it has been ended on purpose. Without IO.

| what is seen | what it means |
|---|---|
| its process ended with exit code 0 | somebody ended it: /exit, Ctrl-D |
| its process ended otherwise, or by a signal | it crashed |
| its pane is gone, the tmux server is not | somebody closed it |
| the tmux server is gone | that crashed, and the agent with it |
| the machine was restarted | it comes back if it is marked so |
| it was never seen in a pane | the daemon ended while it started it |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from covey.kernel.backoff import BackOff

if TYPE_CHECKING:
    from covey.keeper.sessions.record import KeptSession
    from covey.keeper.sessions.tmux_panes import SeenPane


STEADY_S = 60.0
"""An agent that ran for this long before it crashed is started again after the first pause."""


class Verdict(NamedTuple):
    """What is to be done about a session: nothing, leave it ended, or start its agent again."""

    action: Literal["none", "ended", "crashed"]
    why: str = ""


NOTHING = Verdict("none")


def judge(record: KeptSession, pane: SeenPane | None, *, server: bool, boot: str) -> Verdict:
    """Return what is to be done. `pane` is its pane, None without one; `server`: whether its tmux server runs."""
    if not record.wanted:
        return NOTHING
    if pane is not None:
        return NOTHING if not pane.dead else _of_exit(pane)
    if record.boot != boot:
        return Verdict("crashed" if record.keep else "ended", "the machine was restarted")
    if not server:
        return Verdict("crashed", "its tmux server has ended")
    if not record.pane_id:
        return Verdict("crashed", "its start was interrupted")
    return Verdict("ended", "its tmux pane was closed")


def _of_exit(pane: SeenPane) -> Verdict:
    if pane.signal:
        return Verdict("crashed", f"it was ended by signal {pane.signal}")
    if pane.status == 0:
        return Verdict("ended", "it was ended at its terminal")
    if pane.status is None:
        return NOTHING  # tmux has not reaped it yet: its exit code will be known in a moment
    return Verdict("crashed", f"it ended with exit code {pane.status}")


class Restarts:
    """The pauses between the starts of one agent."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._back_off = BackOff(first_s, longest_s, jitter=False)

    @property
    def failures(self) -> int:
        return self._back_off.failures

    def after(self, ran_for: float) -> float:
        """Return how long to wait before the next start, when it has crashed after so many seconds."""
        if ran_for >= STEADY_S:
            self._back_off.succeed()
        return self._back_off.fail()
