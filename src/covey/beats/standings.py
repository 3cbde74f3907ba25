"""How all beats stand, in memory first: who looks after another has changed something sees it, whether it is on the disk yet or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from covey.beats.ledger import Ledger, Standing


class Standings:
    """By file. To change one, read it and put it back with nothing awaited in between."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._standings: dict[str, Standing] = {}

    async def load(self) -> None:
        self._standings = await self._ledger.standings()

    def get(self, file: str) -> Standing | None:
        return self._standings.get(file)

    def __getitem__(self, file: str) -> Standing:
        return self._standings[file]

    def __contains__(self, file: object) -> bool:
        return file in self._standings

    def set(self, standing: Standing) -> None:
        """In memory only; for one that is written down together with something else."""
        self._standings[standing.file] = standing

    async def put(self, standing: Standing) -> None:
        """On the disk too. If that fails it is as it was, unless somebody has changed it since."""
        before = self._standings.get(standing.file)
        self._standings[standing.file] = standing
        try:
            await self._ledger.put(standing)
        except Exception:
            if before is not None and self._standings[standing.file] is standing:
                self._standings[standing.file] = before
            raise

    def count(self, running: dict[str, int]) -> None:
        """How many runs each beat has, for those that have some."""
        for file, standing in self._standings.items():
            self._standings[file] = replace(standing, plan=replace(standing.plan, running=running.get(file, 0)))
