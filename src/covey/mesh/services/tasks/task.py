"""A task, and what may become of it. Pure: each change returns the next version, or raises why it cannot be.

Whoever writes a version checks it against the one before, which the broker then still has to have: so of several who
claim a task, one wins, and the others are told who has it and until when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import Struct, structs

from covey.kernel.clock import timestamp
from covey.mesh.services.addressee import Addressee
from covey.mesh.services.holder import Holder, Moment
from murli import conflict

if TYPE_CHECKING:
    from collections.abc import Callable

Status = Literal["open", "claimed", "completed", "failed"]
OPEN: Final = "open"
CLAIMED: Final = "claimed"
COMPLETED: Final = "completed"
FAILED: Final = "failed"


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The value of a task's document."""

    title: str
    description: str = ""
    priority: Literal["now", "next", "low"] = "next"
    tags: list[str] = []
    assignee: Addressee = Addressee()
    depends_on: list[str] = []
    created_by: Holder = Holder()
    created_at: Moment = 0.0
    status: Status = "open"
    holder: Holder = Holder()
    """Who has claimed it last."""
    until: Moment = 0.0
    """When that claim expires, by the broker's clock."""
    claims: int = 0
    result: Any = None
    reason: str = ""
    ended_by: Holder = Holder()
    ended_at: Moment = 0.0
    changed_by: Holder = Holder()
    """Who has written this version."""

    def held(self, now: float) -> bool:
        """Return whether somebody has it at a moment."""
        return self.status == CLAIMED and self.until > now

    def state(self, now: float) -> Status:
        """Return its status at a moment: a claim that has expired leaves it open."""
        return "open" if self.status == CLAIMED and self.until <= now else self.status

    @property
    def has_ended(self) -> bool:
        """Whether it is completed or was given up."""
        return self.status in (COMPLETED, FAILED)


class Rules:
    """What one caller may do with a task now. `name` and `named` return what a holder and an assignee are called."""

    def __init__(
        self,
        id_: str,
        caller: Holder,
        now: float,
        *,
        label: Callable[[Holder], str],
        assigned: Callable[[Addressee], str],
        is_for: Callable[[Addressee, Holder], bool],
        is_member: Callable[[str], bool],
    ) -> None:
        """`is_for` returns whether a task that is assigned so may be claimed by somebody."""
        self._id = id_
        self._caller = caller
        self._now = now
        self._label = label
        self._assigned = assigned
        self._is_for = is_for
        self._is_member = is_member

    def claimed(self, task: Task, until: float, blocked_by: list[str]) -> Task:
        """Return the task with the caller's claim."""
        self._check_not_ended(task)
        self._check_free(task)
        if not self._is_for(task.assignee, self._caller):
            raise conflict(
                f"task {self._id} is assigned to {self._assigned(task.assignee)}",
                f"Take another: covey mesh task take. Or assign it: covey mesh task assign {self._id}",
            )
        if blocked_by:
            raise conflict(
                f"task {self._id} depends on tasks that are not completed: {', '.join(blocked_by[:5])}",
                "Take another: covey mesh task take",
            )
        return self._changed(task, status=CLAIMED, holder=self._caller, until=until, claims=task.claims + 1)

    def renewed(self, task: Task, until: float) -> Task:
        """Return the task with a claim that lasts longer; also one that has expired, if nobody else has it."""
        self._check_not_ended(task)
        if task.status != CLAIMED or not self._caller.answers_for(task.holder):
            self._check_free(task)
            raise conflict(f"task {self._id} is not claimed by you", f"Claim it: covey mesh task claim {self._id}")
        return self._changed(task, until=until)

    def completed(self, task: Task, result: Any) -> Task:
        """Return the task with its result."""
        self._check_may_end(task)
        return self._ended(task, COMPLETED, result=result)

    def failed(self, task: Task, reason: str) -> Task:
        """Return the task, given up."""
        self._check_may_end(task)
        return self._ended(task, FAILED, reason=reason)

    def released(self, task: Task) -> Task:
        """Return the task, open again."""
        if task.status == FAILED:
            return self._changed(task, status=OPEN, reason="", ended_by=Holder(), ended_at=0.0)
        self._check_not_ended(task)
        if task.status == OPEN:
            raise conflict(f"task {self._id} is open already", f"Claim it: covey mesh task claim {self._id}")
        self._check_may_end(task)
        return self._changed(task, status=OPEN, until=0.0)

    def reassigned(self, task: Task, assignee: Addressee) -> Task:
        """Return the task, assigned to somebody else. A claim stays as it is."""
        self._check_not_ended(task)
        return self._changed(task, assignee=assignee)

    def _ended(self, task: Task, status: Status, **what: Any) -> Task:
        worked = task.status == CLAIMED and self._caller.answers_for(task.holder)
        holder = task.holder if worked else self._caller
        return self._changed(task, status=status, ended_by=holder, ended_at=self._now, **what)

    def _changed(self, task: Task, **what: Any) -> Task:
        return structs.replace(task, changed_by=self._caller, **what)

    def _check_may_end(self, task: Task) -> None:
        self._check_not_ended(task)
        if not self._caller.answers_for(task.holder):
            self._check_free(task)

    def _check_free(self, task: Task) -> None:
        if task.held(self._now) and self._is_member(task.holder.member):
            raise conflict(
                f"task {self._id} is claimed by {self._label(task.holder)} until {timestamp(task.until)}",
                f"Take another: covey mesh task take. See it: covey mesh task show {self._id}",
            )

    def _check_not_ended(self, task: Task) -> None:
        if task.has_ended:
            by, at = self._label(task.ended_by), timestamp(task.ended_at)
            again = f" To try it again: covey mesh task release {self._id}" if task.status == FAILED else ""
            what = "completed" if task.status == COMPLETED else "given up"
            raise conflict(
                f"task {self._id} was {what} by {by} at {at}", f"See it: covey mesh task show {self._id}.{again}"
            )


def read_task(value: object) -> Task | None:
    """Return the task of a document; None if it holds none, whoever has written it."""
    try:
        return msgspec.convert(value, Task)
    except msgspec.ValidationError:
        return None


def written(task: Task) -> dict[str, Any]:
    """Return the value of a document for a task."""
    value: dict[str, Any] = msgspec.to_builtins(task)
    return value
