"""The files by which a running daemon is found: checked every few seconds, and written again if they were removed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from covey.kernel.quoting import quoted
from covey.kernel.regular_file import identity_of

if TYPE_CHECKING:
    from covey.kernel.http.server import HttpServer
    from covey.kernel.lock import PidLock
    from covey.kernel.seat import Seat

CHECK_EVERY_S = 3.0
"""A check is five calls of `stat`."""

log = logging.getLogger("covey.daemon")


class SeatFiles:
    """The files that a daemon keeps in place while it runs: socket, pid file, port and token.

    A database that was removed cannot be written again; it is a problem that is shown.
    """

    def __init__(self, seat: Seat, lock: PidLock | None, server: HttpServer) -> None:
        self.problems: list[str] = []
        """What is wrong and could not be mended, each a sentence with what to do."""
        self._seat = seat
        self._lock = lock
        self._server = server
        self._database = identity_of(seat.database)

    async def check(self) -> bool:
        """Write missing files again. Returns False if the daemon's directory was removed or replaced: it must end."""
        problems: list[str] = []
        try:
            if self._lock is not None and not self._lock.restore():
                log.error(
                    "the directory of the daemon was removed or replaced: the daemon stops",
                    extra={"directory": self._seat.directory},
                )
                return False
            for path in await self._server.restore():
                log.warning("a file of the daemon was removed, and has been made anew", extra={"file": path})
        except OSError as error:
            problems.append(f"a file of the daemon was removed and cannot be made anew: {error}")
        if identity_of(self._seat.database) != self._database:
            problems.append(
                f"{self._seat.database} was removed or replaced while the daemon uses it, and what it writes will be "
                f"lost when it stops. Save it: covey backup {quoted(self._seat.database + '.saved')}; then covey down, "
                "mv the copy into its place, covey up"
            )
        for problem in problems:
            if problem not in self.problems:
                log.error("%s", problem)
        self.problems = problems
        return True
