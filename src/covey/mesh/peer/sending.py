"""What a message becomes: recipients are found, the gate is asked, and a row for each recipient is stored durably."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from covey.mesh.crypto.envelope import Body
from covey.mesh.crypto.envelope_form import parse_body
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.names import EVERYBODY, check_group, check_topic
from covey.mesh.outbox.outbox import Draft, Limits
from covey.mesh.peer.progress import AT_BROKER, IN_INBOX, RUNGS, SEEN, STORED, rung_of, words, words_for_several
from murli import AgentError, not_found, permission_denied, user_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from covey.mesh.directory.directory import Directory
    from covey.mesh.hooks.hooks import Hooks
    from covey.mesh.outbox.outbox import Item, Outbox
    from covey.mesh.peer.progress import Progress, Reach

RUNG_OF_WAIT = {"none": STORED, "broker": AT_BROKER, "inbox": IN_INBOX, "seen": SEEN}
LARGEST_BODY = Limits().max_body_bytes
"""Bytes of a message before it is sealed. It is known here so that one of a batch is refused by itself."""
MOST_RECIPIENTS = 1000
"""Members of a group that are written to; more need a topic."""


class Recipient(NamedTuple):
    """One who gets a copy: a member, or all readers of a topic."""

    kind: str
    target: str
    name: str
    agent: str = ""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent, whoever gets it."""

    text: str
    priority: str = "next"
    meta: dict[str, Any] = {}
    reply_to: str | None = None
    mentions: list[str] = []
    hops: int = 0
    from_agent: str | None = None


class Sending:
    """Accepts messages of this member and seals them for the broker."""

    def __init__(
        self,
        *,
        member: str,
        directory: Directory,
        outbox: Outbox,
        hooks: Hooks,
        progress: Progress,
        limits: Callable[[], Limits],
        online: Callable[[Sequence[str]], Awaitable[Mapping[str, bool]]],
        heard_of: Callable[[Sequence[str]], Mapping[str, bool]],
        reach: Callable[[], Reach],
    ) -> None:
        """`online` finds out which of some members are there, `heard_of` knows it of some without asking.

        `reach` says how it stands with the broker.
        """
        self._member = member
        self._directory = directory
        self._outbox = outbox
        self._hooks = hooks
        self._progress = progress
        self._limits = limits
        self._online = online
        self._heard_of = heard_of
        self._reach = reach

    def to(self, reference: str) -> list[Recipient]:
        """Return who is meant: @name, a member key, @group or @host/agent. Raises AgentError if nobody is."""
        text, slash, agent = reference.partition("/")
        if slash and not agent:
            raise user_error(f"{reference!r} names no agent", "Write @host/agent, such as @web-1/claude.", field="to")
        try:
            member = self._directory.find(text)
        except AgentError:
            if slash or not text.startswith("@"):
                raise
            return self.group(text)
        return [Recipient("direct", member, self._directory.name_of(member), agent)]

    def mentions(self, references: Sequence[str]) -> list[str]:
        """Return the names of members that are mentioned by name or key. Raises AgentError if one is not a member."""
        return [self._directory.name_of(self._directory.find(one, "mentions")) for one in references]

    def scope(self, reference: str) -> list[Recipient]:
        """Return who gets a broadcast: everybody, or a group but ourselves. Raises AgentError if it is not a group."""
        if reference == EVERYBODY:
            return self.topic(EVERYBODY)
        name = check_group(reference)
        if not self._directory.group(name):
            groups = ", ".join(f"@{one}" for one in sorted(self._directory.groups())[:20])
            raise not_found(
                f"there is no group @{name} in this mesh",
                f"Groups: {groups or 'none yet'}. To one member: `covey mesh send`.",
                field="scope",
            )
        return self.group(name)

    def group(self, reference: str) -> list[Recipient]:
        """Return the members of a group but ourselves. Raises AgentError if there is no such group."""
        name = check_group(reference)
        members = self._directory.group(name)
        if not members:
            groups = ", ".join(f"@{one}" for one in sorted(self._directory.groups())[:20])
            people = ", ".join(f"@{self._directory.name_of(one)}" for one in self._directory.present[:20])
            raise not_found(
                f"there is no member and no group @{name} in this mesh",
                f"Members: {people or 'none yet'}. Groups: {groups or 'none yet'}.",
                field="to",
            )
        own = self._member
        found = [Recipient("direct", one, self._directory.name_of(one)) for one in sorted(members) if one != own]
        if not found:
            raise not_found(f"nobody but you is in the group @{name}", "See `covey mesh peers`.", field="to")
        if len(found) > MOST_RECIPIENTS:
            raise user_error(f"@{name} has {len(found)} members", "Use a topic: `covey mesh topic post`.", field="to")
        return found

    @staticmethod
    def topic(name: str) -> list[Recipient]:
        """Return the readers of a topic."""
        checked = name if name == EVERYBODY else check_topic(name)
        return [Recipient("topic", checked, "everybody" if checked == EVERYBODY else f"#{checked}")]

    async def send(
        self, to: str, recipients: Sequence[Recipient], content: Content, *, key: str | None = None
    ) -> dict[str, Any]:
        """Store a message for each recipient, and return the answer. It is durable then. Raises AgentError."""
        content = await self._gated(to, content)
        fingerprint = _fingerprint(to, content)
        drafts = _drafts(recipients, content)

        def answer(items: Sequence[Item]) -> bytes:
            rows = [
                {"member": one.target if one.kind == "direct" else "", "name": one.name, "id": item.id}
                for one, item in zip(recipients, items, strict=True)
            ]
            return msgspec.json.encode({"to": to, "recipients": rows})

        accepted = await self._outbox.accept(
            drafts, key=key, fingerprint=fingerprint, answer=answer, limits=self._limits()
        )
        told = msgspec.json.decode(accepted.answer)
        return self._answer(told, {}, self._heard_of(_members(told)), replayed=accepted.replayed)

    async def drafts(
        self, to: str, recipients: Sequence[Recipient], content: Content, *, gated: bool = True
    ) -> list[Draft]:
        """Return what would be stored for a message, after the gate was asked. Raises AgentError.

        `gated` is what `is_gated` returned a moment ago.
        """
        return _drafts(recipients, await self._gated(to, content) if gated else content)

    def is_gated(self) -> bool:
        """Return whether there is a gate that is to be asked about each message."""
        return self._hooks.has_gate()

    async def send_batch(self, batch: Sequence[tuple[str, Sequence[Recipient], list[Draft]]]) -> list[dict[str, Any]]:
        """Store many messages in one transaction, and return the answer of each. Raises AgentError, then none is."""
        every = [draft for _, _, drafts in batch for draft in drafts]
        accepted = await self._outbox.accept(every, limits=self._limits())
        items = iter(accepted.items)
        return [_fresh_answer(to, recipients, items, self._reach()) for to, recipients, _ in batch]

    async def settle(self, answer: dict[str, Any], wait: str, timeout_s: float) -> dict[str, Any]:
        """Wait until the message has come as far as asked for, and return the answer anew."""
        wanted = RUNG_OF_WAIT[wait]
        ids: list[str] = answer["ids"]
        if wanted != STORED:
            await self._wait(ids, wanted, timeout_s)
        found = {one: item for one in ids if (item := await self._outbox.get(one)) is not None}
        members = _members(answer)
        online = await self._online(members) if wanted != STORED else self._heard_of(members)
        return self._answer(answer, found, online, replayed=answer["replayed"])

    async def _wait(self, ids: list[str], wanted: str, timeout_s: float) -> None:
        """Wait for a rung; what was reached before is read from the outbox, while nothing that comes is missed."""
        with self._progress.watching(ids) as watch:
            goals: dict[str, str] = {}
            for one in ids:
                item = await self._outbox.get(one)
                goal = AT_BROKER if item is not None and item.kind == "topic" else wanted
                if item is None or item.status == "dead" or item.refused:
                    continue
                if RUNGS.index(rung_of(item)) < RUNGS.index(goal):
                    goals[one] = goal
            await watch.reach(goals, timeout_s)

    def _answer(
        self, told: Mapping[str, Any], items: Mapping[str, Item], online: Mapping[str, bool], *, replayed: bool
    ) -> dict[str, Any]:
        rows = [
            {
                "member": row["member"],
                "name": row["name"],
                "id": row["id"],
                "online": online.get(row["member"]),
                "rung": rung_of(items[row["id"]]) if row["id"] in items else STORED,
            }
            for row in told["recipients"]
        ]
        least = min((row["rung"] for row in rows), key=RUNGS.index, default=STORED)
        slowest = next((row for row in rows if row["rung"] == least), None)
        status = "nobody to send to"
        if slowest is not None:
            name, online_now, topic = slowest["name"], slowest["online"], not slowest["member"]
            status = words(least, name, online=online_now, reach=self._reach(), topic=topic)
            if len(rows) > 1:
                status = words_for_several(rows, self._reach())
            refused = items[slowest["id"]].refused if slowest["id"] in items else ""
            status += f". {refused}" if refused else ""
        return {
            "id": rows[0]["id"] if rows else "",
            "ids": [row["id"] for row in rows],
            "to": told["to"],
            "recipients": rows,
            "rung": least,
            "status": status,
            "queued": any(_is_queued(row) for row in rows),
            "replayed": replayed,
        }

    async def _gated(self, to: str, content: Content) -> Content:
        document = {"to": to, "message": content.text, "priority": content.priority, "meta": content.meta}
        gate = await self._hooks.gate(document)
        if not gate.allowed:
            raise permission_denied(
                f"pre-send refused the message: {gate.reason}", "See the hook, and `covey mesh logs`."
            )
        changed = gate.document
        if changed == document:
            return content
        return msgspec.structs.replace(
            content, text=changed["message"], priority=changed["priority"], meta=changed["meta"] or {}
        )


def _fresh_answer(to: str, recipients: Sequence[Recipient], items: Iterator[Item], reach: Reach) -> dict[str, Any]:
    """Return the answer for a message that was stored just now: `Sending._answer` without looking anything up."""
    rows = [
        {
            "member": one.target if one.kind == "direct" else "",
            "name": one.name,
            "id": next(items).id,
            "online": None,
            "rung": STORED,
        }
        for one in recipients
    ]
    several = len(rows) > 1
    return {
        "id": rows[0]["id"],
        "ids": [row["id"] for row in rows],
        "to": to,
        "recipients": rows,
        "rung": STORED,
        "status": words_for_several(rows, reach) if several else words(STORED, "", online=None, reach=reach),
        "queued": True,
        "replayed": False,
    }


def _drafts(recipients: Sequence[Recipient], content: Content) -> list[Draft]:
    return [Draft(kind=_kind(one), target=one.target, body=_body(content, one.agent)) for one in recipients]


def _kind(recipient: Recipient) -> Any:
    return recipient.kind


def _body(content: Content, agent: str) -> bytes:
    try:
        body = msgspec.json.encode(
            Body(
                text=content.text,
                meta=content.meta,
                priority=content.priority,  # type: ignore[arg-type]  # checked by the contract
                reply_to=content.reply_to,
                mentions=content.mentions,
                hops=content.hops,
                agent=agent or None,
                from_agent=content.from_agent,
            )
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise user_error(f"the message cannot be written as JSON: {error}", "Check its meta.", field="meta") from None
    if len(body) > LARGEST_BODY:
        raise user_error(
            f"the message is too large: it has {len(body)} bytes and may have {LARGEST_BODY}",
            "Send a shorter text, or share a file and send where it is.",
            field="message",
        )
    try:
        parse_body(body)  # what is accepted can also be sent
    except MeshCryptoError as error:
        reason = error.__cause__ or error.message
        raise user_error(f"the message cannot be sent: {reason}", "See `covey mesh send --help`.") from None
    return body


def _fingerprint(to: str, content: Content) -> bytes:
    return hashlib.blake2b(msgspec.json.encode([to, content]), digest_size=16).digest()


def _is_queued(row: Mapping[str, Any]) -> bool:
    below = RUNGS.index(row["rung"]) < RUNGS.index(IN_INBOX)
    return below and (row["rung"] == STORED or row["online"] is False)


def _members(answer: Mapping[str, Any]) -> list[str]:
    """Return the members that an answer is about; none for a topic."""
    return [row["member"] for row in answer["recipients"] if row["member"]]
