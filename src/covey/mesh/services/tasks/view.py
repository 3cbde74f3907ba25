"""What operations and events show of a task, and who may have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.clock import timestamp
from covey.mesh.services.holder import Holder, holder_view
from covey.mesh.services.tasks import table
from covey.mesh.services.tasks.task import CLAIMED, Task, read_task

if TYPE_CHECKING:
    from covey.mesh.services.addressee import Addressee
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.service import Surroundings


class TaskViews:
    """Shows tasks with the names that members have now."""

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        self._documents = documents
        self._surroundings = surroundings

    def label(self, holder: Holder) -> str:
        """Return what somebody is called: `name` or `name/agent`."""
        return str(self.holder(holder)["label"])

    def holder(self, holder: Holder) -> dict[str, Any]:
        """Return the shape `MeshHolder`."""
        return holder_view(holder, self._surroundings)

    def assigned(self, assignee: Addressee) -> str:
        """Return an assignee as it was written; empty if it is anybody."""
        return assignee.label(self._surroundings.directory)

    def is_for(self, assignee: Addressee, holder: Holder) -> bool:
        """Return whether somebody may claim a task with this assignee; anybody may if that member was removed."""
        directory = self._surroundings.directory
        if assignee.group:
            return holder.member in directory.group(assignee.group)
        if not assignee.member or not directory.is_member(assignee.member):
            return True
        return holder.member == assignee.member and assignee.agent in ("", holder.agent)

    def is_ours(self, assignee: Addressee) -> bool:
        """Return whether a task is assigned to this member or one of its agents, or to a group that it is in."""
        return assignee.includes(self._documents.member, self._surroundings.directory)

    async def view(self, document: Document, now: float | None = None) -> dict[str, Any]:
        """Return the shape `MeshTask`, as it is now or was a moment ago."""
        task = read_task(document.value)
        assert task is not None  # it was read as one before
        state = task.state(self._documents.now() if now is None else now)
        waits = state == "open" and bool(task.depends_on)
        return {
            "id": document.key,
            **self.summary(task),
            "description": task.description,
            "status": state,
            "depends_on": task.depends_on,
            "blocked_by": await self._documents.replica.read(lambda db: table.needed_first(db, document.key))
            if waits
            else [],
            "created_by": self.holder(task.created_by),
            "created_at": timestamp(task.created_at),
            "claimed_by": self.holder(task.holder) if state == CLAIMED else None,
            "until": timestamp(task.until) if state == CLAIMED else None,
            "claims": task.claims,
            "result": task.result,
            "reason": task.reason,
            "ended_by": self.holder(task.ended_by) if task.has_ended else None,
            "ended_at": timestamp(task.ended_at) if task.has_ended else None,
            "revision": document.revision,
        }

    def summary(self, task: Task) -> dict[str, Any]:
        """Return what is told of a new task."""
        return {
            "title": task.title,
            "priority": task.priority,
            "tags": task.tags,
            "assignee": self.assigned(task.assignee) or None,
        }
