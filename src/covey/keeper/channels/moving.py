"""A folder of channels that gets another path, with the FIFOs that programs have made in it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from covey.keeper.channels.directory import LIMIT_FILE
from covey.keeper.channels.fifo import NotAChannel, open_fifo
from covey.keeper.channels.folder import make_private
from murli import conflict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_MOST_NAMED = 5
_OURS = {"in", "output.sock", "control.sock", LIMIT_FILE}
"""What is made anew for each folder that is served."""


class FolderMove:
    """Moves what is in a folder of channels to another one. `others` are folders of other sessions, which stay.

    A FIFO that is moved stays the same one: programs that have it open for writing go on.
    """

    def __init__(self, old: Path, new: Path, others: Collection[Path]) -> None:
        self._old = old
        self._new = new
        self._others = others

    def prepare(self) -> None:
        """Make the new folder. Raises AgentError if it cannot be used, or if something in it is in the way."""
        existed = os.path.lexists(self._new)
        device, _ = make_private(self._new)
        entries = self._entries()
        blocking = [name for name in entries if os.path.lexists(self._new / name)]
        foreign = [name for name in entries if name not in _OURS]
        far = bool(foreign) and self._old.lstat().st_dev != device
        if not existed and (blocking or far):
            self._new.rmdir()
        if blocking:
            raise conflict(
                f"{self._new} already has {_listed(blocking)}, which {self._old} has too",
                "Move these out of the way, or choose another name.",
                field="new_name",
            )
        if far:
            raise conflict(
                f"{_listed(foreign)} cannot be moved to {self._new}: that is a different file system",
                f"Remove these from {self._old}, or choose a folder beside it with keeper.runtime_dir.",
                field="new_name",
            )

    def discard(self) -> None:
        """Remove the new folder if it is empty, because nothing is moved."""
        with contextlib.suppress(OSError):
            self._new.rmdir()

    @contextlib.contextmanager
    def held_open(self) -> Iterator[None]:
        """Hold the incoming FIFOs open, so that writers do not lose their reader while nobody serves the folder."""
        descriptors = []
        try:
            for name in self._entries():
                if name == "in" or name.startswith("in."):
                    with contextlib.suppress(OSError, NotAChannel):
                        descriptors.append(open_fifo(self._old / name, os.O_RDONLY))
            yield
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def move(self) -> None:
        """Move everything, and remove the old folder unless other sessions have theirs in it. Raises OSError."""
        if not self._old.is_dir():
            return
        if not self._stays_inside(self._old):
            with contextlib.suppress(OSError):  # the new one is not empty, or on a different file system
                self._old.rename(self._new)  # at once: no writer finds the old folder without its FIFOs
                return
        for name in self._entries():
            if name in _OURS and self._old.lstat().st_dev != self._new.lstat().st_dev:
                (self._old / name).unlink()
            else:
                (self._old / name).rename(self._new / name)
        with contextlib.suppress(OSError):
            self._old.rmdir()

    def _entries(self) -> list[str]:
        """Return the names in the old folder that are to be moved, sorted."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return sorted(entry.name for entry in self._old.iterdir() if not self._stays(entry))
        return []

    def _stays(self, entry: Path) -> bool:
        return self._stays_inside(entry) or entry in self._others or entry == self._new

    def _stays_inside(self, folder: Path) -> bool:
        return any(folder in one.parents for one in (self._new, *self._others))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
