"""What this member says of itself, and the encryption keys that go with it: changed here, published at the broker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.directory.reader import DirectoryReader
    from covey.mesh.link.session import Session
    from covey.mesh.peer.member_state import MemberState

PUBLISH_S = 5.0


class OwnProfile:
    """The profile and the keys of this member."""

    def __init__(
        self, mesh: str, keys: KeyPair, keys_file: str, *, state: MemberState, directory: Directory, clock: Clock
    ) -> None:
        self.keys = keys
        """All keys: they open what is sealed for any of them."""
        self.sealing_keys = keys
        """With these messages are sealed: the newest are used when the profile with them is at the broker."""
        self.published = asyncio.Event()
        """Set when the profile is at the broker, in this session."""
        self._mesh = mesh
        self._keys_file = keys_file
        self._state = state
        self._directory = directory
        self._clock = clock
        self._changed = asyncio.Event()
        self._rotating = asyncio.Lock()

    @property
    def subject(self) -> str:
        """The subject of the profile."""
        return f"m.{self.keys.member}"

    @property
    def is_visible(self) -> bool:
        """Whether others may know that this member is online."""
        return self._state.profile is None or self._state.profile.visible

    async def change(self, **changes: Any) -> None:
        """Change what this member says of itself. It is published when there is a connection."""
        await self._state.change_profile(self._mesh, lambda: self.keys, self._clock.time(), **changes)
        self._changed.set()

    async def rotate_keys(self) -> None:
        """Make a new encryption key, and tell the others."""
        async with self._rotating:
            rotated = self.keys.rotated(self._clock.time())
            await asyncio.to_thread(rotated.save, self._keys_file)
            self.keys = rotated
            self._directory.keys = rotated
        await self.change()  # it is used when others can know it

    def publish_again(self) -> None:
        """Publish the profile again: somebody has overwritten it."""
        self._changed.set()

    async def publish(self, session: Session, reader: DirectoryReader) -> None:
        """Publish the profile, and again when it has changed, until the session breaks. Raises LinkError."""
        await reader.fetch(session, self.subject)
        known = self._directory.profiles.get(self.keys.member)
        await self._state.exceed(known)
        profile = self._state.profile
        current = known is not None and profile is not None and known.number >= profile.number
        while True:
            keys = self.keys
            if not current:
                self._changed.clear()
                await session.publish(self.subject, self._state.signed_profile(keys), deadline_s=PUBLISH_S)
            profile = self._state.profile
            if profile is not None and profile.certificate.encode() == keys.certificate:
                self.sealing_keys = keys
            self.published.set()
            await self._changed.wait()
            current = False
