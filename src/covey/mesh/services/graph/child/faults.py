"""Faults of the machine that SQLite has met: memory, disk, files.

The engine passes over some of them and goes on, which would leave half of a statement's effects; SQLite logs them all.
"""

from __future__ import annotations

import apsw

from covey.mesh.services.graph.engine import EngineFaultError

SERIOUS = {
    apsw.SQLITE_NOMEM,
    apsw.SQLITE_IOERR,
    apsw.SQLITE_CORRUPT,
    apsw.SQLITE_FULL,
    apsw.SQLITE_CANTOPEN,
    apsw.SQLITE_NOTADB,
}


class MemoryFaultError(EngineFaultError):
    """There was not enough memory: it may be for the statement."""


class Faults:
    """What SQLite has logged since `clear`. There can be one in a process, made before its first connection."""

    def __init__(self) -> None:
        self._found: tuple[int, str] | None = None
        self.refused_write = False
        """Something was to be written over a connection that may only read."""
        apsw.config(apsw.SQLITE_CONFIG_LOG, self._log)

    def clear(self) -> None:
        """Forget what was logged."""
        self._found = None
        self.refused_write = False

    def raise_any(self) -> None:
        """Raise EngineFaultError if there was one."""
        if self._found is None:
            return
        code, text = self._found
        self._found = None
        if code == apsw.SQLITE_NOMEM:
            raise MemoryFaultError("there is not enough memory")
        raise EngineFaultError(text)

    def _log(self, code: int, text: str) -> None:
        if code & 0xFF == apsw.SQLITE_READONLY:
            self.refused_write = True
        if code & 0xFF in SERIOUS and self._found is None:
            self._found = (code & 0xFF, text[:300])
