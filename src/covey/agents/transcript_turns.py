"""The complete turns of a conversation as they end, each once, also when the daemon is started again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.agents.json_values import parse_object
from covey.agents.registry import BLOCKS, TURN_STORES
from covey.agents.signals.sources import CHUNK, LONGEST_LINE
from covey.kernel.regular_file import open_regular

if TYPE_CHECKING:
    from typing import BinaryIO

    from covey.agents.blocks import BlockReader, FinishedTurn
    from covey.agents.signals.signals import Owner

KEPT = 1000
"""How many keys of delivered turns are kept, for files that are read anew from their beginning."""


class Position(Struct, frozen=True, kw_only=True):
    """Up to where the turns of a conversation were delivered. It may be stored, and given to a source later."""

    offset: int = 0
    """The byte at which the turn begins that is open, or else from which on nothing was read."""
    file: tuple[int, int] = (0, 0)
    """Device and inode of the file that the offset is about."""
    keys: tuple[str, ...] = ()
    """The turns that were delivered, the oldest first."""


class TurnSource:
    """Delivers the turns of one conversation. A subclass knows where they are kept."""

    def __init__(self, agent: str, path: str, session_id: str = "", position: Position | None = None) -> None:
        """`path`: the transcript, or the database that has many conversations, of which `session_id` is one."""
        self.agent = agent
        self.path = path
        self.session_id = session_id
        self._keys = dict.fromkeys(position.keys if position else ())

    @staticmethod
    def file_of(owner: Owner) -> str:
        """Return the file in which a process keeps its conversations, if that can be told from its environment."""
        del owner
        return ""

    @property
    def marks_end(self) -> bool:
        """Whether ends of turns are found without `end`, unless the agent dies."""
        return BLOCKS[self.agent].marks_end

    @property
    def open(self) -> bool:
        """Whether a turn has begun and not ended, as far as was read."""
        raise NotImplementedError

    @property
    def unanswered_since(self) -> float:
        """When the open turn began, as long as the agent's last words in it are not there; 0 otherwise."""
        raise NotImplementedError

    @property
    def behind(self) -> bool:
        """Whether there is more to read at once."""
        return False

    @property
    def position(self) -> Position:
        """Up to where turns were delivered. It is to be stored together with the turns."""
        return Position(keys=tuple(self._keys))

    def read(self) -> list[FinishedTurn]:
        """Return the turns that ended since the last time, the oldest first; none if nothing can be read."""
        raise NotImplementedError

    def end(self, now: float) -> list[FinishedTurn]:
        """Read the rest, close the open turn and return as `read` does.

        It is called when a hook says that the turn is over, with the time of the hook, and when the agent has ended. A
        turn that began after `now` stays open.
        """
        raise NotImplementedError

    def _new(self, turns: list[FinishedTurn]) -> list[FinishedTurn]:
        """Return those that were not delivered before, and count them as delivered."""
        new = [turn for turn in turns if turn.key not in self._keys]
        self._keys.update(dict.fromkeys(turn.key for turn in new))
        for key in list(self._keys)[:-KEPT]:
            del self._keys[key]
        return new


class TranscriptTurns(TurnSource):
    """The turns in a transcript to which an agent appends lines.

    A file that was cut off, replaced or removed is read again from its beginning.
    """

    def __init__(self, agent: str, path: str, session_id: str = "", position: Position | None = None) -> None:
        super().__init__(agent, path, session_id, position)
        self._reader: BlockReader = BLOCKS[agent]()
        self._file = position.file if position else (0, 0)
        self._at = position.offset if position else 0
        """The byte at which the next line begins."""
        self._turn_at = self._at
        """The byte at which the line begins that opened the open turn."""
        self._skipping = False
        """Whether what comes next is the rest of a line that is too long."""
        self._behind = False

    @property
    def open(self) -> bool:
        return self._reader.open and self._reader.key not in self._keys

    @property
    def unanswered_since(self) -> float:
        return self._reader.unanswered_since

    @property
    def behind(self) -> bool:
        return self._behind

    @property
    def position(self) -> Position:
        offset = self._turn_at if self._reader.open else self._at
        return Position(offset=offset, file=self._file, keys=tuple(self._keys))

    def read(self) -> list[FinishedTurn]:
        """Return as described above; at most CHUNK bytes are read, or one longer line, so that others need not wait."""
        self._behind = False
        try:
            with open_regular(self.path) as file:
                self._reopen(file)
                lines = self._lines(file)
        except OSError:
            return []
        for line in lines:
            if entry := parse_object(line.decode(errors="replace")):
                before = self._reader.key
                self._reader.take(entry)
                if self._reader.key != before:
                    self._turn_at = self._at
            self._at += len(line) + 1
        return self._new(self._reader.finished())

    def end(self, now: float) -> list[FinishedTurn]:
        turns = self.read()
        while self.behind:
            turns += self.read()
        return turns + self._new(self._reader.end(now))

    def _reopen(self, file: BinaryIO) -> None:
        """Begin at the beginning if it is another file than before, or if what was read has changed."""
        found = os.fstat(file.fileno())
        identity = (found.st_dev, found.st_ino)
        if self._at and not self._skipping:
            file.seek(self._at - 1)
        same = identity == self._file and found.st_size >= self._at
        if same and (not self._at or self._skipping or file.read(1) == b"\n"):
            return
        self._file = identity
        self._at = 0
        self._turn_at = 0
        self._skipping = False
        self._reader = BLOCKS[self.agent]()

    def _lines(self, file: BinaryIO) -> list[bytes]:
        """Return the next whole lines, without their line breaks. A line that is too long is skipped."""
        file.seek(self._at)
        data = file.read(CHUNK)
        if b"\n" not in data and len(data) == CHUNK:
            data += file.readline(LONGEST_LINE - CHUNK)
        *lines, unfinished = data.split(b"\n")
        self._behind = len(data) >= CHUNK and (bool(lines) or len(data) == LONGEST_LINE)
        if lines and self._skipping:
            self._at += len(lines.pop(0)) + 1
            self._skipping = False
        elif len(unfinished) == LONGEST_LINE:
            self._at += LONGEST_LINE
            self._skipping = True
        return lines


def follow_turns(agent: str, path: str, session_id: str = "", position: Position | None = None) -> TurnSource:
    """Return the source of the turns of a conversation. Raises `KeyError` for an agent without one.

    `position` is that of an earlier source; without it the turns are delivered from the beginning on.
    """
    if agent not in BLOCKS:
        raise KeyError(agent)
    return TURN_STORES.get(agent, TranscriptTurns)(agent, path, session_id, position)
