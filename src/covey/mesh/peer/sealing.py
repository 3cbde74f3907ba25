"""Seals messages of the outbox for the broker, each time with the keys that are right at that moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from covey.mesh.crypto.envelope import Body, seal_direct, seal_topic
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.link.errors import LinkError
from covey.mesh.messages.publisher import Sealed, Undeliverable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.outbox.outbox import Item

_decode_body = msgspec.json.Decoder(Body).decode


class NotReady(LinkError):  # noqa: N818 - a state
    """Keys that are needed to seal a message are not known yet."""

    kind = "mesh_not_ready"


class Sealer:
    """Makes envelopes of items. `fetch` reads a record of the directory now."""

    def __init__(
        self,
        *,
        mesh: str,
        outbox_id: str,
        keys: Callable[[], KeyPair],
        directory: Directory,
        fetch: Callable[[str], Awaitable[None]],
    ) -> None:
        self._mesh = mesh
        self._outbox_id = outbox_id
        self._keys = keys
        self._directory = directory
        self._fetch = fetch

    async def seal(self, item: Item) -> Sealed:
        """Return a message as it goes to the broker, with the keys that are right now.

        Raises Undeliverable if its recipient has left or it cannot be sealed, NotReady if keys are missing, and
        LinkError.
        """
        try:
            return await self._seal(item)
        except (MeshCryptoError, msgspec.MsgspecError) as error:
            raise Undeliverable(f"it cannot be sealed: {error}") from error

    async def _seal(self, item: Item) -> Sealed:
        if item.kind == "topic":
            return self._seal_topic(item)
        to = self._directory.public_keys(item.target)
        if to is None:
            await self._fetch(f"m.{item.target}")
            to = self._directory.public_keys(item.target)
        if not self._directory.is_member(item.target):
            raise Undeliverable(f"{self._directory.name_of(item.target)} is not in the mesh any more")
        if to is None:
            raise NotReady(f"{self._directory.name_of(item.target)} has not published a key yet")
        keys = self._keys()
        data = seal_direct(
            keys,
            to,
            mesh=self._mesh,
            id=item.id,
            at_ms=int(item.enqueued_at * 1000),
            ob=self._outbox_id,
            n=item.n,
            body=None if item.skip else _decode_body(item.body),
        )
        return Sealed(f"dm.{item.target}.{keys.member}", data)

    def _seal_topic(self, item: Item) -> Sealed:
        epoch = self._directory.epoch
        if epoch is None:
            raise NotReady("topic keys were not granted to this member yet")
        token, keys = epoch.token(item.target), self._keys()
        data = seal_topic(
            keys,
            mesh=self._mesh,
            id=item.id,
            at_ms=int(item.enqueued_at * 1000),
            ob=self._outbox_id,
            n=item.n,
            token=token,
            epoch=epoch.epoch,
            topic_key=epoch.key(token),
            body=_decode_body(item.body),
        )
        return Sealed(f"t.{token}.{keys.member}", data)
