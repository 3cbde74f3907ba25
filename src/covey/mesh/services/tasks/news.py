"""What has happened to a task between two versions of it, as events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract.mesh_services import tasks as contract
from covey.kernel.clock import timestamp
from covey.mesh.services.addressee import Addressee
from covey.mesh.services.holder import Holder
from covey.mesh.services.tasks.task import COMPLETED, FAILED, OPEN, Task, read_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.contract.event_kind import EventKind
    from covey.mesh.services.replica import Change
    from covey.mesh.services.tasks.view import TaskViews


def news(change: Change, views: TaskViews) -> Iterator[tuple[EventKind, dict[str, Any]]]:
    """Yield the kind and the data of each event.

    Versions in between may have been missed: a task that was claimed and completed at once has both events.
    """
    document = change.document
    task = read_task(document.value)
    before = read_task(change.before.value) if change.before is not None else None
    if task is None:
        return
    agent = task.changed_by.agent if task.changed_by.member == document.author else ""
    shared = {
        "id": document.key,
        "title": task.title,
        "by": views.holder(Holder(document.author, agent)),
        "revision": document.revision,
    }
    if before is None:
        yield contract.CREATED, {**shared, **views.summary(task)}
    assigned = before.assignee if before is not None else Addressee()
    if task.status == OPEN and task.assignee != assigned and task.assignee != Addressee():
        yours = views.is_ours(task.assignee)
        yield contract.ASSIGNED, {**shared, **views.summary(task), "yours": yours, "description": task.description}
    if task.claims > (before.claims if before is not None else 0) and task.status != OPEN:
        yield contract.CLAIMED, {**shared, "by": views.holder(task.holder), "until": timestamp(task.until)}
    yield from _ended(task, before, shared)


def _ended(task: Task, before: Task | None, shared: dict[str, Any]) -> Iterator[tuple[EventKind, dict[str, Any]]]:
    was = before.status if before is not None else OPEN
    if task.status == was:
        return
    if task.status == COMPLETED:
        yield contract.COMPLETED, {**shared, "result": task.result}
    elif task.status == FAILED:
        yield contract.FAILED, {**shared, "reason": task.reason}
    elif task.status == OPEN:
        yield contract.RELEASED, shared
