"""The operations of a peer: its handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from covey.contract.mesh_messages import LONGEST_WAIT_S
from covey.kernel.clock import timestamp
from covey.kernel.moments import moment
from covey.mesh.crypto.envelope import is_message_id
from covey.mesh.names import EVERYBODY, check_topic
from covey.mesh.peer.member_operations import MemberOperations
from covey.mesh.peer.message_view import held_view, message_view
from covey.mesh.peer.metrics import SENT
from covey.mesh.peer.progress import rung_of, words
from covey.mesh.peer.sending import Content
from murli import AgentError, not_found, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.inbox.inbox import Message
    from covey.mesh.outbox.item import Status
    from covey.mesh.outbox.outbox import Draft, Item
    from covey.mesh.peer.peer import Peer
    from covey.mesh.peer.sending import Recipient

MOST_IN_BATCH = 1000


class PeerOperations:
    """The handlers that concern messages; those that concern members are in `MemberOperations`."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of a peer by the name of their operation."""
        return {
            "mesh.send": self.send,
            "mesh.send_batch": self.send_batch,
            "mesh.topic.post": self.post,
            "mesh.topic.subscribe": self.subscribe,
            "mesh.topic.unsubscribe": self.unsubscribe,
            "mesh.topic.list": self.topics,
            "mesh.broadcast": self.broadcast,
            "mesh.inbox": self.inbox,
            "mesh.search": self.search,
            "mesh.receipt": self.receipt,
            "mesh.outbox": self.outbox,
            "mesh.outbox.requeue": self.requeue,
            "mesh.outbox.drop": self.drop,
            **MemberOperations(self._peer).handlers(),
        }

    async def send(self, call: Call) -> dict[str, Any]:
        """Store a message to a member, a group or an agent, and wait as far as the caller wants."""
        params = call.params
        recipients = self._peer.sending.to(params["to"])
        answer = await self._send(call, params["to"], recipients)
        if params["wait"] == "none" and not answer["replayed"]:
            return answer
        wait_s = min(float(params["timeout_s"]), LONGEST_WAIT_S)
        return await self._peer.sending.settle(answer, params["wait"], wait_s)

    async def post(self, call: Call) -> dict[str, Any]:
        """Store a message to a topic."""
        topic = check_topic(call.params["topic"])
        answer = await self._send(call, f"#{topic}", self._peer.sending.topic(topic))
        await self._peer.state.note_post(topic, self._peer.context.clock.time())
        return answer

    async def broadcast(self, call: Call) -> dict[str, Any]:
        """Store a message to everybody, or to everybody in a group."""
        scope = call.params["scope"]
        return await self._send(call, scope, self._peer.sending.scope(scope))

    async def _send(self, call: Call, to: str, recipients: Sequence[Recipient]) -> dict[str, Any]:
        mentions = self._peer.sending.mentions(call.params.get("mentions") or [])
        content = _content(call.params, mentions, _hops(call))
        answer = await self._peer.sending.send(to, recipients, content, key=call.idempotency_key)
        self._peer.context.metrics.count(SENT, kind=recipients[0].kind)
        return answer

    async def send_batch(self, call: Call) -> dict[str, Any]:
        """Store many messages in one transaction. One that is wrong is refused by itself."""
        messages = call.params["messages"]
        if len(messages) > MOST_IN_BATCH:
            raise user_error(f"a batch has at most {MOST_IN_BATCH} messages", "Send several batches.", field="messages")
        sending = self._peer.sending
        items: list[dict[str, Any] | None] = [None] * len(messages)
        together: list[tuple[int, tuple[str, Sequence[Recipient], list[Draft]]]] = []
        targets: dict[tuple[str, str], tuple[str, list[Recipient]]] = {}
        gated, hops = sending.is_gated(), _hops(call)
        for index, message in enumerate(messages):
            try:
                parsed = msgspec.convert(message, _BatchMessage)
                _check(parsed.message, parsed.reply_to_id)
                named = (parsed.to, parsed.topic)
                to, recipients = targets.get(named) or targets.setdefault(named, self._target(parsed))
                content = Content(
                    text=parsed.message,
                    priority=parsed.priority,
                    meta=parsed.meta,
                    reply_to=parsed.reply_to_id or None,
                    mentions=sending.mentions(parsed.mentions),
                    hops=hops,
                )
                if parsed.idempotency_key:
                    answer = await sending.send(to, recipients, content, key=parsed.idempotency_key)
                    items[index] = {"answer": answer, "error": None}
                else:
                    drafts = await sending.drafts(to, recipients, content, gated=gated)
                    together.append((index, (to, recipients, drafts)))
            except msgspec.ValidationError as error:
                wrong = user_error(f"message {index} is not as it must be: {error}", "See mesh.send.", field="messages")
                items[index] = {"answer": None, "error": wrong.envelope()}
            except AgentError as error:
                items[index] = {"answer": None, "error": error.envelope()}
        if together:
            answers = await sending.send_batch([entry for _, entry in together])
            for (index, _), answer in zip(together, answers, strict=True):
                items[index] = {"answer": answer, "error": None}
        refused = sum(1 for item in items if item is not None and item["error"] is not None)
        return {"items": items, "accepted": len(items) - refused, "refused": refused}

    def _target(self, message: _BatchMessage) -> tuple[str, list[Recipient]]:
        if bool(message.to) == bool(message.topic):
            raise user_error("a message has either `to` or `topic`", "Give one of them.", field="messages")
        if message.to:
            return message.to, self._peer.sending.to(message.to)
        return f"#{message.topic}", self._peer.sending.topic(check_topic(message.topic))

    async def subscribe(self, call: Call) -> dict[str, Any]:
        """Read a topic from now on."""
        return await self._subscribe(call, subscribed=True)

    async def unsubscribe(self, call: Call) -> dict[str, Any]:
        """Read a topic no more."""
        return await self._subscribe(call, subscribed=False)

    async def _subscribe(self, call: Call, *, subscribed: bool) -> dict[str, Any]:
        topic = check_topic(call.params["topic"])
        await self._peer.subscribe(topic, subscribed=subscribed)
        return await self._topic(topic)

    async def topics(self, _: Call) -> dict[str, Any]:
        """Return the topics that are known here."""
        names = [name for name in sorted(self._peer.state.topics) if name != EVERYBODY]
        return {"items": [await self._topic(name) for name in names]}

    async def _topic(self, name: str) -> dict[str, Any]:
        use = self._peer.state.topics[name]
        received = await self._peer.inbox.list(topic=name, limit=1000)
        last = max(use.last_at, received[-1].received_at if received else 0.0)
        return {
            "name": name,
            "subscribed": use.subscribed,
            "messages": len(received),
            "last_at": timestamp(last) if last else None,
        }

    async def inbox(self, call: Call) -> dict[str, Any]:
        """Return messages of the inbox."""
        params, peer = call.params, self._peer
        since, limit = params["since"], params["limit"]
        sender = peer.directory.find_sender(params["from"], "from") if params["from"] else None
        topic = check_topic(params["topic"]) if params["topic"] else None
        position = int(since) if since.isascii() and since.isdigit() else None
        begin = moment(since, "since", peer.context.clock.time()) if since and position is None else None
        found = await peer.inbox.list(since=begin, after=position, topic=topic, sender=sender, limit=limit + 1)
        forward = bool(since)
        more = len(found) > limit
        if more:
            found = found[:limit] if forward else found[1:]
        if call.caller.surface == "mcp":
            await self._seen_by_agent(found)
        cursor = found[-1].position if found else position or 0
        held = [] if topic else [one for one in peer.inbox.held_back() if sender in (None, one.sender)]
        return {
            "items": [self._view(message) for message in found],
            "cursor": cursor,
            "more": more,
            "held_from": held_view(held, peer.directory),
        }

    async def _seen_by_agent(self, messages: Sequence[Message]) -> None:
        """Tell the senders of direct messages that an agent has read them: it has them as the answer of its tool."""
        for message in messages:
            if message.kind == "direct" and message.seen_at is None:
                await self._peer.tell_seen(message.id)

    async def search(self, call: Call) -> dict[str, Any]:
        """Return messages with some words."""
        found = await self._peer.inbox.search(call.params["q"], call.params["limit"])
        return {"items": [self._view(message) for message in found], "indexed": True}

    def _view(self, message: Message) -> dict[str, Any]:
        return message_view(message, self._peer.membership.slug, self._peer.name)

    async def receipt(self, call: Call) -> dict[str, Any]:
        """Return what is proven about a message, after waiting for it if the caller wants to."""
        peer, id_ = self._peer, call.params["id"]
        item = await peer.outbox.get(id_)
        if item is None:
            raise not_found(f"no message {id_[:60]!r} was sent from here", "See `covey mesh outbox list`.", field="id")
        if call.params["wait"] != "none":
            answer = {"ids": [id_], "to": item.target, "recipients": [], "replayed": False}
            await peer.sending.settle(answer, call.params["wait"], min(call.params["timeout_s"], LONGEST_WAIT_S))
            item = await peer.outbox.get(id_) or item
        online = (await peer.online([item.target])).get(item.target) if item.kind == "direct" else None
        return self._receipt(item, online=online)

    def _receipt(self, item: Item, *, online: bool | None) -> dict[str, Any]:
        rung, name = rung_of(item), self._name(item)
        status = words(rung, name, online=online, reach=self._peer.reach(), topic=item.kind == "topic")
        if item.refused:
            status += f". {item.refused}"
        if item.status == "dead":
            status = f"given up: {item.last_error or 'it was too old'}"
        return {
            "id": item.id,
            "to": name,
            "member": item.target if item.kind == "direct" else "",
            "online": online,
            "rung": rung,
            "state": item.status,
            "status": status,
            "accepted_at": timestamp(item.enqueued_at),
            "delivered_at": _moment(item.delivered_at),
            "received_at": _moment(item.inbox_at),
            "seen_at": _moment(item.seen_at),
            "refused": bool(item.refused),
            "attempts": item.attempts,
            "error": item.last_error,
        }

    def _name(self, item: Item) -> str:
        if item.kind == "direct":
            return self._peer.directory.name_of(item.target)
        return "everybody" if item.target == EVERYBODY else f"#{item.target}"

    async def outbox(self, call: Call) -> dict[str, Any]:
        """Return messages that were sent from here."""
        peer, status, limit = self._peer, call.params["status"], call.params["limit"]
        states: list[Status] = ["pending", "done", "dead"]
        wanted = [state for state in states if state == status or (not status and state != "done")]
        found: list[Item] = []
        for state in wanted:
            found += await peer.outbox.list(status=state, limit=limit)
        found.sort(key=lambda item: item.position, reverse=True)
        counts = await peer.outbox.counts()
        oldest = await peer.outbox.pending(limit=1)
        return {
            "items": [self._row(item) for item in found[:limit]],
            "pending": counts.pending,
            "dead": counts.dead,
            "oldest_at": timestamp(oldest[0].enqueued_at) if oldest else None,
        }

    def _row(self, item: Item) -> dict[str, Any]:
        kind = "broadcast" if item.target == EVERYBODY else item.kind
        return {
            "id": item.id,
            "to": self._name(item),
            "member": item.target if item.kind == "direct" else "",
            "kind": kind,
            "state": item.status,
            "rung": rung_of(item),
            "attempts": item.attempts,
            "bytes": len(item.body),
            "accepted_at": timestamp(item.enqueued_at),
            "next_attempt_at": timestamp(item.next_attempt_at) if item.status == "pending" else None,
            "delivered_at": _moment(item.delivered_at),
            "error": item.last_error,
        }

    async def requeue(self, call: Call) -> dict[str, Any]:
        """Try dead messages again."""
        requeued = await self._peer.outbox.requeue(_ids(call))
        self._peer.housekeeping.count_again()
        return {"ids": _some([one.item.id for one in requeued], call, "was given up")}

    async def drop(self, call: Call) -> dict[str, Any]:
        """Drop messages that were not sent."""
        dropped = await self._peer.outbox.drop(_ids(call))
        self._peer.housekeeping.count_again()
        self._peer.publisher.withdraw(item.id for item in dropped)
        return {"ids": _some([item.id for item in dropped], call, "waits or was given up")}


def _some(found: list[str], call: Call, what: str) -> list[str]:
    """Return the ids that were found. Raises AgentError if the call names messages and none of them is there."""
    if not found and not call.params["all"]:
        named = ", ".join(one[:40] for one in call.params["id"][:5])
        raise not_found(f"no message {named!r} {what} here", "See `covey mesh outbox list`.", field="id")
    return found


class _BatchMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    message: str
    to: str = ""
    topic: str = ""
    priority: Literal["now", "next", "low"] = "next"
    meta: dict[str, Any] = {}
    reply_to_id: str = ""
    mentions: list[str] = []
    idempotency_key: str = ""


def _content(params: Mapping[str, Any], mentions: list[str], hops: int) -> Content:
    _check(params["message"], params.get("reply_to_id") or "")
    return Content(
        text=params["message"],
        priority=params["priority"],
        meta=params.get("meta") or {},
        reply_to=params.get("reply_to_id") or None,
        mentions=mentions,
        hops=hops,
    )


def _check(text: str, reply_to: str) -> None:
    if not text:
        raise user_error("the message is empty", "Give it a text.", field="message")
    if reply_to and not is_message_id(reply_to):
        raise user_error(
            f"{reply_to[:60]!r} is not the id of a message",
            "Take it from the field `id` of a message: covey mesh inbox --output json.",
            field="reply_to_id",
        )


def _hops(call: Call) -> int:
    """Return the hops of a message: one more than those of the message for which the hook runs that sends it."""
    scope = call.caller.scope
    return 0 if scope is None else int(scope.data["hops"]) + 1


def _ids(call: Call) -> list[str] | None:
    if call.params["all"]:
        return None
    if not call.params["id"]:
        raise user_error("no message is named", "Give the ids of messages, or --all.", field="id")
    return list(call.params["id"])


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else timestamp(seconds)
