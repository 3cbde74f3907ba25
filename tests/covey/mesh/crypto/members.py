"""A mesh with some members, and the two ways in which a message goes from one to another."""

from __future__ import annotations

from covey.mesh.crypto.envelope import Body, Envelope, new_message_id, open_direct, open_topic, seal_direct, seal_topic
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from covey.mesh.crypto.topic_keys import EpochSecret

NOW = 1_767_225_600.0
NOW_MS = int(NOW * 1000)


class Mesh:
    """An authority, three members that know each other's keys, and an epoch."""

    def __init__(self) -> None:
        self.authority = SigningKey.generate("A")
        self.id = encode_mesh_id(self.authority.public_bytes)
        self.alice, self.bob, self.mallory = (KeyPair.generate(NOW) for _ in range(3))
        self.epoch = EpochSecret.first()
        self.known = {
            (keys.member, key.key_id): key.public
            for keys in (self.alice, self.bob, self.mallory)
            for key in keys.encryption
        }

    def learn(self, keys: KeyPair) -> None:
        """Publish the keys of a member to everybody."""
        self.known.update({(keys.member, key.key_id): key.public for key in keys.encryption})

    def key_of(self, member: str, key_id: str) -> bytes | None:
        """Return an encryption key of a member; None if it is not known."""
        return self.known.get((member, key_id))

    def direct(self, sender: KeyPair, to: KeyPair, body: Body | None, n: int = 1) -> bytes:
        """Return an envelope from one member to another."""
        return seal_direct(
            sender, to.public_keys, mesh=self.id, id=new_message_id(), at_ms=NOW_MS, ob="outbox1", n=n, body=body
        )

    def open(self, data: bytes, reader: KeyPair, sender: KeyPair, to: KeyPair | None = None) -> Envelope:
        """Open an envelope that came on the subject of `sender` and of `to` (else of the reader)."""
        subject_to = (to or reader).member
        return open_direct(data, reader, self.key_of, mesh=self.id, subject_from=sender.member, subject_to=subject_to)

    def post(self, sender: KeyPair, body: Body, name: str = "news", epoch: EpochSecret | None = None) -> bytes:
        """Return an envelope from a member to the readers of a topic."""
        secret = epoch or self.epoch
        token = secret.token(name)
        return seal_topic(
            sender,
            mesh=self.id,
            id=new_message_id(),
            at_ms=NOW_MS,
            ob="outbox1",
            n=1,
            token=token,
            epoch=secret.epoch,
            topic_key=secret.key(token),
            body=body,
        )

    def open_post(self, data: bytes, sender: KeyPair, name: str = "news", epoch: EpochSecret | None = None) -> Envelope:
        """Open an envelope that came on the subject of a topic and of `sender`."""
        secret = epoch or self.epoch
        token = secret.token(name)
        return open_topic(
            data, mesh=self.id, subject_from=sender.member, subject_token=token, topic_key=secret.key(token)
        )
