"""Notices changes in a folder at once, where the system can tell of them."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from asyncinotify import Inotify

_MOST_EVENTS = 1000
"""That are read at once: whoever makes more of them cannot keep the event loop busy."""

log = logging.getLogger("covey.keeper")


class FolderWatch:
    """Calls `changed` when entries of a folder come, go or are changed, or the folder itself does, until `close`."""

    def __init__(self, inotify: Inotify, changed: Callable[[], None]) -> None:
        self._inotify = inotify
        self._changed = changed
        asyncio.get_running_loop().add_reader(inotify.fd, self._read)

    def close(self) -> None:
        """Stop watching."""
        asyncio.get_running_loop().remove_reader(self._inotify.fd)
        self._inotify.close()

    def _read(self) -> None:
        for _ in range(_MOST_EVENTS):
            if self._inotify.sync_get() is None:
                break
        self._changed()


def watch_folder(folder: Path, changed: Callable[[], None]) -> FolderWatch | None:
    """Watch a folder with inotify. Returns None where that is not to be had: then it has to be listed now and then."""
    if sys.platform != "linux":
        return None
    from asyncinotify import Inotify, Mask  # noqa: PLC0415 - it can be imported on Linux only

    events = Mask.CREATE | Mask.DELETE | Mask.MOVE | Mask.ATTRIB | Mask.DELETE_SELF | Mask.MOVE_SELF
    try:
        inotify = Inotify(sync_timeout=0)
    except OSError as error:  # a user may have 128 of them, and other programs use them too
        log.warning("inotify cannot be used", extra={"folder": str(folder), "reason": str(error)})
        return None
    try:
        inotify.add_watch(folder, events | Mask.ONLYDIR | Mask.DONT_FOLLOW)
    except OSError as error:
        inotify.close()
        log.warning("inotify cannot be used", extra={"folder": str(folder), "reason": str(error)})
        return None
    return FolderWatch(inotify, changed)
