"""An action snapshot: the one agent that an action is about, as it was when the action was accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.fleet.actions.refusal import ACTION_EXPIRED, RUNTIME_CHANGED, STATE_CHANGED, STATE_STALE, Refusal
from covey.fleet.answers.references import resolve
from covey.fleet.answers.view import states
from covey.kernel.clock import timestamp
from covey.kernel.moments import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.answers.view import Row
    from covey.fleet.fleet import Fleet
    from covey.fleet.watch.runtimes import Runtime
    from covey.kernel.operations.call import Call

EXPIRES_S = 30.0
"""An action that has not been done by then is not done any more."""


class Snapshot(Struct, frozen=True, kw_only=True):
    """What an action is bound to. It is taken by the daemon, before anything is done."""

    action_id: str
    runtime: Runtime
    ref: str
    state: str
    state_version: int
    observed_at: float
    taken_at: float

    @property
    def expires_at(self) -> float:
        return self.taken_at + EXPIRES_S

    def check_fresh(self, now: float) -> None:
        """Raise Refusal if the action had to wait for so long that it is not to be done any more."""
        if now > self.expires_at:
            raise Refusal(
                ACTION_EXPIRED,
                f"the action on {self.ref} waited for others for more than {EXPIRES_S:g} s; nothing was typed",
                f"Look at it: covey view runtime:{self.runtime.runtime_id}   and send it again",
            )

    def for_audit(self) -> dict[str, Any]:
        """Return what the audit keeps of the snapshot."""
        kept = ("action_id", "runtime_id", "ref", "agent", "state", "state_version")
        return {name: value for name, value in self.as_dict().items() if name in kept}

    def as_dict(self) -> dict[str, Any]:
        """Return the snapshot for an answer and for the journal."""
        return {
            "action_id": self.action_id,
            "runtime_id": self.runtime.runtime_id,
            "ref": self.ref,
            "agent": self.runtime.agent,
            "pane_epoch": self.runtime.pane_epoch,
            "state": self.state,
            "state_version": self.state_version,
            "observed_at": timestamp(self.observed_at),
            "expires_at": timestamp(self.expires_at),
        }


def take(fleet: Fleet, params: Mapping[str, Any], now: float) -> Snapshot:
    """Return the snapshot of the agent that `ref` names, if it is as the caller demands.

    Raises AgentError if no agent or several have that name, Refusal if the agent is another one (`if_runtime`), is in
    another state (`if_state`) or was not seen lately (`if_updated_within`). `force_stale` lifts the last two.
    """
    row = resolve(params["ref"], fleet.rows())
    if (wanted := params.get("if_runtime") or "") and row.runtime_id != wanted.removeprefix("runtime:"):
        raise Refusal(
            RUNTIME_CHANGED,
            f"{params['ref']} is now runtime:{row.runtime_id} ({row.agent}), not runtime:{wanted}",
            f"See who is there: covey why runtime:{row.runtime_id}",
        )
    if not params.get("force_stale"):
        _check_state(row, params, now)
    return Snapshot(
        action_id=fleet.new_id(),
        runtime=fleet.sources[row.runtime_id].runtime,
        ref=row.ref,
        state=row.state,
        state_version=row.state_version,
        observed_at=row.as_of,
        taken_at=now,
    )


def check_conditions(params: Mapping[str, Any]) -> None:
    """Raise AgentError if the conditions of a call are not understood, whether they hold now or not."""
    states(params.get("if_state") or [])
    if params.get("if_updated_within") is not None:
        seconds(params["if_updated_within"], "if_updated_within")


async def begin(fleet: Fleet, call: Call, now: float, *, force_stale: bool = False) -> Snapshot:
    """Return the snapshot of the agent that a call acts on, once the audit has it. Raises as `take` does."""
    call.note(about=call.params["ref"])
    snapshot = take(fleet, {**call.params, "force_stale": True} if force_stale else call.params, now)
    await call.begin(snapshot.for_audit())
    return snapshot


def _check_state(row: Row, params: Mapping[str, Any], now: float) -> None:
    if (wanted := states(params.get("if_state") or [])) and row.state not in wanted:
        raise Refusal(
            STATE_CHANGED,
            f"{row.agent} in {row.ref} is {row.state}, not {' or '.join(wanted)}",
            f"See why: covey why runtime:{row.runtime_id}   or act all the same, with --force-stale",
        )
    if params.get("if_updated_within") is not None:
        longest = seconds(params["if_updated_within"], "if_updated_within")
        if now - row.as_of > longest:
            raise Refusal(
                STATE_STALE,
                f"the state of {row.ref} was last confirmed {now - row.as_of:.1f} s ago",
                f"Look at it: covey view runtime:{row.runtime_id}   or act all the same, with --force-stale",
            )
