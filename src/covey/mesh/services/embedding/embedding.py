"""Embedding as the services use it: with the embedder that is configured, beside the event loop, one text at a time."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.mesh.services.embedding.embedder import AUTO, NONE, TIERS, EmbedderUnavailable, load
from covey.mesh.services.embedding.stored_vector import StoredVector, stored_vector
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.mesh.services.embedding.embedder import Embedder, Tier

NOT_INSTALLED = f"no embedder is installed, so texts are found by their words only: {TIERS['static'].install}"
TURNED_OFF = "services.embedder is none, so texts are found by their words only"

log = logging.getLogger("covey.mesh.services")


class Embedded(NamedTuple):
    """What a text means, and who says so; without a vector `note` says why."""

    tier: Tier | None
    numbers: Any
    """A numpy array; None without an embedder."""
    note: str

    @property
    def stored(self) -> StoredVector | None:
        """The vector as a document holds it."""
        if self.tier is None:
            return None
        return stored_vector(self.tier.model, self.numbers.astype("<f2").tobytes())

    def as_dict(self) -> dict[str, Any]:
        """Return for an answer which embedder was used."""
        return {
            "tier": NONE if self.tier is None else self.tier.name,
            "model": None if self.tier is None else self.tier.model,
            "note": self.note,
        }


class Embedding:
    """Embeds texts. The embedder is loaded when it is used the first time, and chosen again when it is configured."""

    def __init__(self, configured: Callable[[], str]) -> None:
        self._configured = configured
        self._one_at_a_time = asyncio.Lock()
        self._chosen_for = ""
        self._tier: Tier | None = None
        self._embedder: Embedder | None = None
        self._note = ""

    async def embed(self, text: str) -> Embedded:
        """Return what a text means. It never fails for want of an embedder: then there is no vector, and a note."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._embed, text)

    async def tier(self) -> Embedded:
        """Return which embedder is used, without a text."""
        async with self._one_at_a_time:
            await asyncio.to_thread(self._choose)
            return Embedded(self._tier, None, self._note)

    def _embed(self, text: str) -> Embedded:
        self._choose()
        numbers = None if self._embedder is None else self._embedder.numbers(storable(text))
        return Embedded(self._tier, numbers, self._note)

    def _choose(self) -> None:
        """Load what is configured, unless that was done."""
        configured = self._configured()
        if self._chosen_for == configured:
            return
        self._tier = self._embedder = None
        self._note = TURNED_OFF if configured == NONE else NOT_INSTALLED
        for name in TIERS if configured == AUTO else [configured] if configured in TIERS else []:
            try:
                self._embedder = load(TIERS[name])
            except EmbedderUnavailable as error:
                if configured != AUTO:
                    self._note = f"{error}; until then texts are found by their words only"
                log.info("embedder not available", extra={"tier": name, "reason": str(error)})
                continue
            self._tier = TIERS[name]
            self._note = ""
            break
        self._chosen_for = configured
