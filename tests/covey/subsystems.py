"""Subsystems that serve what a test gives them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from covey.contract import Operation
from covey.kernel.operations.call import Handler
from covey.kernel.subsystem import Context, Opened, Subsystem


def serving(
    operations: Sequence[Operation],
    handlers: Callable[[Context], Mapping[str, Handler]],
    status: Mapping[str, Any] | None = None,
) -> Subsystem:
    """Return a subsystem with these operations; `status` is its part of the status."""

    @contextlib.asynccontextmanager
    async def opened(context: Context) -> AsyncIterator[Opened]:
        yield Opened(handlers(context), (lambda: dict(status)) if status is not None else None)

    return Subsystem("test", opened, operations=operations)
