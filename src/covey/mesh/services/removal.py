"""Removing documents that nobody needs any more. All peers look for them; whoever is first has done it for all."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from covey.mesh.link.errors import Overtaken
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from covey.kernel.clock import Clock
    from covey.mesh.link.session import Session
    from covey.mesh.services.documents import Documents

EVERY_S = 3600.0


async def remove_now_and_then(session: Session, clock: Clock, remove: Callable[[], Awaitable[object]]) -> None:
    """Call `remove` about once an hour until the session breaks; not all peers do at the same moment."""
    while not session.broken.is_set():
        await clock.sleep(EVERY_S * random.uniform(0.5, 1.5))  # noqa: S311 - not a secret
        await remove()


async def remove_documents(documents: Documents, service: str, keys: Iterable[str]) -> int:
    """Delete documents unless they have changed meanwhile, and return how many were deleted from here.

    It ends early without a connection, and where this member may not write.
    """
    removed = 0
    for key in keys:
        found = documents.get(service, key)
        if found is None:
            continue
        try:
            await documents.put(service, key, None, after=found.revision)
        except Overtaken:
            continue
        except AgentError:
            break
        removed += 1
    return removed
