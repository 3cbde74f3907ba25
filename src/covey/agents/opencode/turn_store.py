"""Complete turns of opencode, read from the SQLite database in which it keeps all conversations of a user.

The database is opened for reading only and for each reading anew, so that no lock of ours outlasts a few milliseconds.
"""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.json_values import json_object, parse_object
from covey.agents.opencode.blocks import OpencodeBlocks
from covey.agents.transcript_turns import TurnSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.agents.blocks import FinishedTurn
    from covey.agents.signals.signals import Owner
    from covey.agents.transcript_turns import Position

BUSY_S = 0.2
"""Seconds for which a reading waits for opencode's own writing."""
MESSAGES = "SELECT id, data FROM message WHERE session_id = ? AND id > ? ORDER BY id"
PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


class OpencodeTurns(TurnSource):
    """Everything after the last turn that was delivered is read again, when the database has changed.

    Ids of messages are in the order of time. A message that is not complete ends the reading, unless the model was
    asked again afterwards: then the process that was at it is gone.
    """

    def __init__(self, agent: str, path: str, session_id: str = "", position: Position | None = None) -> None:
        super().__init__(agent, path, session_id, position)
        self._open = ""
        self._unanswered_since = 0.0
        self._stamps: deque[tuple[tuple[int, int], ...]] = deque(maxlen=2)
        """What the files looked like at the last readings.

        They are read once more after a change: two writings within one tick of the clock look alike.
        """

    @staticmethod
    def file_of(owner: Owner) -> str:
        return os.path.join(owner.folder("XDG_DATA_HOME", ".local", "share"), "opencode", "opencode.db")  # noqa: PTH118 - a string

    @property
    def open(self) -> bool:
        return bool(self._open) and self._open not in self._keys

    @property
    def unanswered_since(self) -> float:
        return self._unanswered_since

    def read(self) -> list[FinishedTurn]:
        stamp = tuple(_stamp(f"{self.path}{suffix}") for suffix in ("", "-wal"))
        if self._stamps.count(stamp) == self._stamps.maxlen:
            return []
        messages = self._messages()
        if messages is None:
            return []
        self._stamps.append(stamp)
        reader = OpencodeBlocks()
        for place, message in enumerate(messages):
            if not _is_complete(message) and not any(_is_answer(later) for later in messages[place + 1 :]):
                break
            reader.take(message)
        self._note_open(reader)
        return self._new(reader.finished())

    def end(self, now: float) -> list[FinishedTurn]:
        reader = OpencodeBlocks()
        for message in self._messages() or ():
            reader.take(message)
        turns = reader.end(now)
        self._note_open(reader)
        return self._new(turns)

    def _note_open(self, reader: OpencodeBlocks) -> None:
        self._open, self._unanswered_since = reader.key, reader.unanswered_since

    def _messages(self) -> list[dict[str, Any]] | None:
        """Return the messages after the last delivered prompt; None if the database cannot be read now.

        Without a write-ahead log nobody has it open. SQLite would then leave an empty log behind, if it were not told
        that nobody writes.
        """
        unused = "" if Path(f"{self.path}-wal").exists() else "&immutable=1"
        address = f"{Path(self.path).absolute().as_uri()}?mode=ro{unused}"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as database:
                return list(self._rows(database))
        except sqlite3.Error:
            return None

    def _rows(self, database: sqlite3.Connection) -> Iterator[dict[str, Any]]:
        for own, data in database.execute(MESSAGES, (self.session_id, next(reversed(self._keys), ""))).fetchall():
            parts = [parse_object(part) for (part,) in database.execute(PARTS, (own,))]
            yield {"info": {**parse_object(data), "id": own}, "parts": parts}


def _is_answer(message: dict[str, Any]) -> bool:
    return json_object(message["info"]).get("role") == "assistant"


def _is_complete(message: dict[str, Any]) -> bool:
    info = json_object(message["info"])
    return not _is_answer(message) or bool(info.get("error") or json_object(info.get("time")).get("completed"))


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


TURN_STORE = OpencodeTurns
