"""The targets that are watched, by name, and which of them is this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.fleet.watch.targets import LOCAL

if TYPE_CHECKING:
    import asyncio

    from covey.fleet.answers.view import TargetStatus
    from covey.fleet.watch.target_watch import TargetWatch
    from covey.fleet.watch.targets import Targets
    from covey.kernel.tasks import Tasks


class TargetWatches:
    """One watch with its task for each target. `book` says which target is this machine."""

    def __init__(self, book: Targets, tasks: Tasks) -> None:
        self._book = book
        self._owner = tasks
        self._watches: dict[str, TargetWatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._watches

    def __getitem__(self, name: str) -> TargetWatch:
        return self._watches[name]

    @property
    def local(self) -> TargetWatch | None:
        """The watch of this machine; None if it is not among the targets."""
        for known in self._book.all:
            if known.kind == LOCAL and known.name in self._watches:
                return self._watches[known.name]
        return None

    @property
    def local_name(self) -> str:
        """The name of this machine among the targets; empty if it is not among them."""
        local = self.local
        return local.name if local else ""

    def statuses(self) -> list[TargetStatus]:
        """Return how each target is, in the order in which they were added."""
        return [watch.status for watch in self._watches.values()]

    def start(self, watch: TargetWatch) -> None:
        """Run a watch as a task."""
        self._watches[watch.name] = watch
        self._tasks[watch.name] = self._owner.spawn(f"target {watch.name}", watch.run())

    def stop(self, name: str) -> asyncio.Task[None]:
        """Stop watching a target. Returns its task, which may take some seconds to close the connection."""
        self._watches.pop(name).stop()
        task = self._tasks.pop(name)
        task.cancel()
        return task
