"""Long work of the event loop in slices, so that everything else goes on beside it."""

from __future__ import annotations

import asyncio
import time

SLICE_S = 0.005


class TimeSlices:
    """Half of the time for one piece of work: after each slice of it comes a pause as long as the slice."""

    def __init__(self) -> None:
        self._began = time.thread_time()

    async def pause(self) -> None:
        """Let everything else run if the work has run for a slice. Call it after each item: it is cheap."""
        spent = time.thread_time() - self._began
        if spent >= SLICE_S:
            await asyncio.sleep(spent)
            self._began = time.thread_time()
