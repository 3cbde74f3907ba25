"""A write-through cache of the beat records: a reader sees a change before it is on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from covey.beats.ledger import Ledger
    from covey.beats.records import BeatRecord


class RecordCache:
    """Beat records, keyed by the path of their HEARTBEAT.md. A read-modify-write must not await in between."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._records: dict[str, BeatRecord] = {}

    async def load(self) -> None:
        """Read all records from the database."""
        self._records = await self._ledger.records()

    def get(self, file: str) -> BeatRecord | None:
        """Return the record of a file, or None."""
        return self._records.get(file)

    def __getitem__(self, file: str) -> BeatRecord:
        return self._records[file]

    def __contains__(self, file: object) -> bool:
        return file in self._records

    def set(self, record: BeatRecord) -> None:
        """Change a record in memory only; the caller writes it to the disk together with something else."""
        self._records[record.file] = record

    async def save(self, record: BeatRecord) -> None:
        """Change a record in memory and on the disk.

        Raises what the database raises; the record in memory is then as before, unless it was changed meanwhile.
        """
        before = self._records.get(record.file)
        self._records[record.file] = record
        try:
            await self._ledger.save_record(record)
        except Exception:
            if before is not None and self._records[record.file] is record:
                self._records[record.file] = before
            raise

    def set_running(self, counts: dict[str, int]) -> None:
        """Set, in memory, how many runs each beat has; zero for beats that are not in `counts`."""
        for file, record in self._records.items():
            self._records[file] = replace(record, plan=replace(record.plan, running=counts.get(file, 0)))
