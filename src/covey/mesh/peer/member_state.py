"""What a peer remembers of its own: its profile, the topics it reads, and the time of its last request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from covey.mesh.crypto.records import Profile, sign_record
from covey.mesh.directory.directory import MOST_FORMER_KEYS
from covey.mesh.names import EVERYBODY

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.kernel.clock import Clock
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.directory.record_store import RecordStore

_PROFILE, _TOPICS, _ASKED = "profile", "topics", "asked_at"


class TopicUse(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A topic that this peer subscribes to or has posted to."""

    subscribed: bool = False
    messages: int = 0
    last_at: float = 0.0
    after: int = 0
    """Where the stream of topics ended when the subscription began: what is not behind that is not shown."""
    incarnation: str = ""
    """The streams for which `after` is true."""


class MemberState:
    """Facts about this member that last over restarts. Open with `await MemberState.open(…)`."""

    def __init__(
        self, records: RecordStore, profile: Profile | None, topics: dict[str, TopicUse], asked: float
    ) -> None:
        self.profile = profile
        self.topics = topics
        """By name. Messages to everybody are not in it: they are always read."""
        self._records = records
        self._asked = asked
        self._changing = asyncio.Lock()

    @classmethod
    async def open(cls, records: RecordStore) -> MemberState:
        """Return what is remembered."""
        profile, topics = await records.fact(_PROFILE), await records.fact(_TOPICS)
        return cls(
            records,
            msgspec.json.decode(profile, type=Profile) if profile else None,
            msgspec.json.decode(topics, type=dict[str, TopicUse]) if topics else {},
            float(await records.fact(_ASKED) or 0),
        )

    async def change_profile(self, mesh: str, keys: Callable[[], KeyPair], now: float, **changes: Any) -> Profile:
        """Change fields of the profile, or make the first one, and return it. It has a higher number then.

        A change that is a function is called with the value of before. `keys` returns the present keys.
        """
        async with self._changing:
            own = keys()
            former = self.profile or Profile(mesh=mesh, member=own.member, certificate="", number=0, at=now)
            values = {
                name: value(getattr(former, name)) if callable(value) else value for name, value in changes.items()
            }
            profile = msgspec.structs.replace(
                former,
                **values,
                certificate=own.certificate.decode(),
                former=[key.certificate.decode() for key in own.encryption[1 : 1 + MOST_FORMER_KEYS]],
                number=former.number + 1,
                at=now,
            )
            if self.profile is not None and _same(profile, self.profile):
                return self.profile
            await self._records.save_fact(_PROFILE, msgspec.json.encode(profile).decode())
            self.profile = profile
            return profile

    async def exceed(self, published: Profile | None) -> None:
        """Give the profile a higher number than another that is published: ours was lost and made anew."""
        profile = self.profile
        if profile is None or published is None or published == profile or published.number < profile.number:
            return
        self.profile = msgspec.structs.replace(profile, number=published.number + 1)
        await self._records.save_fact(_PROFILE, msgspec.json.encode(self.profile).decode())

    def signed_profile(self, keys: KeyPair) -> bytes:
        """Return the profile as it is published."""
        assert self.profile is not None
        return sign_record(keys.identity, "profile", self.profile)

    async def subscribe(
        self, name: str, *, subscribed: bool, after: int | None = None, incarnation: str = ""
    ) -> TopicUse:
        """Subscribe to a topic, beginning after a sequence of its stream if that is known, or end that."""
        use = self.topics.setdefault(name, TopicUse())
        if subscribed and not use.subscribed and after is not None:
            use.after, use.incarnation = after, incarnation
        use.subscribed = subscribed
        await self._save_topics()
        return use

    async def note_post(self, name: str, at: float) -> None:
        """Remember a topic that was posted to the first time."""
        known = name in self.topics
        use = self.topics.setdefault(name, TopicUse())
        use.last_at = at
        if not known and name != EVERYBODY:
            await self._save_topics()

    def read_topics(self, directory: Directory) -> dict[str, str]:
        """Return the names of the topics that are read, by their tokens; none before topic keys were granted."""
        epoch = directory.epoch
        if epoch is None:
            return {}
        names = [EVERYBODY, *(name for name, use in self.topics.items() if use.subscribed)]
        return {epoch.token(name): name for name in names}

    def begins_after(self, name: str, incarnation: str) -> int:
        """Return the sequence after which messages of a topic are read; 0 if all are."""
        use = self.topics.get(name)
        return use.after if use is not None and use.incarnation == incarnation else 0

    async def next_ask(self, clock: Clock) -> float:
        """Return the time for a request to the authority: later than that of any before, wherever the clock goes."""
        self._asked = max(clock.time(), self._asked + 0.001)
        await self._records.save_fact(_ASKED, repr(self._asked))
        return self._asked

    async def _save_topics(self) -> None:
        kept = {name: use for name, use in self.topics.items() if name != EVERYBODY}
        await self._records.save_fact(_TOPICS, msgspec.json.encode(kept).decode())


def _same(one: Profile, other: Profile) -> bool:
    return msgspec.structs.replace(one, number=0, at=0.0) == msgspec.structs.replace(other, number=0, at=0.0)
