"""A lease, and what may become of it. Pure: each change returns the next version, or raises why it cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from covey.kernel.clock import timestamp
from covey.mesh.services.holder import Holder, Moment  # noqa: TC001 - msgspec reads the types of fields
from murli import conflict, not_found

if TYPE_CHECKING:
    from collections.abc import Callable


class Lease(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The value of a lease's document."""

    holder: Holder
    until: Moment
    """When it expires, by the broker's clock."""
    acquired_at: Moment
    note: str = ""


class Rules:
    """What one caller may do with the lease on a name now. `label` returns what a holder is called."""

    def __init__(
        self,
        name: str,
        caller: Holder,
        now: float,
        *,
        label: Callable[[Holder], str],
        is_member: Callable[[str], bool],
    ) -> None:
        self._name = name
        self._caller = caller
        self._now = now
        self._label = label
        self._is_member = is_member

    def acquired(self, lease: Lease | None, length: float, note: str) -> Lease:
        """Return a lease of the caller, if nobody has one."""
        self._check_free(lease)
        return Lease(holder=self._caller, until=self._now + length, acquired_at=self._now, note=note)

    def renewed(self, lease: Lease | None, length: float) -> Lease:
        """Return the caller's lease, made longer; also one that has expired, if nobody else has one."""
        return structs.replace(self._own(lease), until=self._now + length)

    def check_releasable(self, lease: Lease | None) -> None:
        """Raise unless the caller has the lease."""
        self._own(lease)

    def _own(self, lease: Lease | None) -> Lease:
        if lease is None:
            raise not_found(f"nobody has a lease on {self._name}", "See `covey mesh leases`.", field="name")
        if not self._caller.answers_for(lease.holder):
            self._check_free(lease)
            raise conflict(f"you have no lease on {self._name}", "Acquire it: covey mesh lease acquire")
        return lease

    def _check_free(self, lease: Lease | None) -> None:
        if lease is not None and lease.until > self._now and self._is_member(lease.holder.member):
            doing = f" ({lease.note[:100]})" if lease.note else ""
            raise conflict(
                f"{self._label(lease.holder)} has the lease on {self._name} until {timestamp(lease.until)}{doing}",
                "Wait for it (--wait 5m), work on something else, or ask for it.",
                field="name",
            )


def read_lease(value: object) -> Lease | None:
    """Return the lease of a document; None if it holds none, whoever has written it."""
    try:
        return msgspec.convert(value, Lease)
    except msgspec.ValidationError:
        return None


def written(lease: Lease) -> dict[str, Any]:
    """Return the value of a document for a lease."""
    value: dict[str, Any] = msgspec.to_builtins(lease)
    return value
