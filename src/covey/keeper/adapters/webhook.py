"""Sends what is posted to an HTTP endpoint: `python -m covey.keeper.adapters.webhook <folder> <settings>`.

The endpoint is on the loopback interface, and `webhook.<name>.url` in the session's folder holds its address. Only
requests that are signed with the secret are taken, in the form of GitHub, of Slack, or `X-Signature-256: sha256=<hex>`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
import sys
import time
import urllib.error
import urllib.request
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import uvicorn

from covey.adapter import Channel, ChannelClosed, MessageTooLong
from covey.keeper.adapters import payloads
from covey.keeper.adapters.program import LOG, Rejected, carry_in_background, run
from covey.kernel.atomic_file import write_file

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from types import FrameType

    from covey.keeper.adapters.program import Adapter

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

HOST = "127.0.0.1"
LONGEST_BODY = 1 << 20
WINDOW_S = 300
"""A request of Slack whose time is farther away was recorded by somebody, and is sent again."""
WAIT_S = 8.0
"""How long a request waits for the daemon: GitHub gives up after ten seconds."""
MOST_DELIVERIES = 10_000
REPLY_S = 20.0
_PREFIX = "sha256="
_LONGEST_NUMBER = 20


class Refused(Exception):  # noqa: N818 - it is an answer
    """A request is not taken: an HTTP status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Signature(NamedTuple):
    """The right signature of a request."""

    value: str
    once: bool
    """Whether its sender never signs two requests alike, so that a second one is a replay."""


def check_signature(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> Signature:
    """Return the signature if the body is signed with the secret, in one of the three forms. Raises `Refused`."""
    key = secret.encode()
    if (given := headers.get("x-hub-signature-256", headers.get("x-signature-256"))) is not None:
        wanted = _PREFIX + hmac.new(key, body, hashlib.sha256).hexdigest()
    elif (given := headers.get("x-slack-signature")) is not None:
        at = headers.get("x-slack-request-timestamp", "")
        if not (at.isdecimal() and len(at) < _LONGEST_NUMBER and abs(now - int(at)) <= WINDOW_S):
            raise Refused(401, "the request is not from the last five minutes")
        wanted = "v0=" + hmac.new(key, b"v0:%b:%b" % (at.encode(), body), hashlib.sha256).hexdigest()
    else:
        raise Refused(401, "the request is not signed: send X-Hub-Signature-256, X-Slack-Signature or X-Signature-256")
    if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
        raise Refused(401, "the signature is wrong")
    return Signature(wanted, once="x-hub-signature-256" in headers or "x-slack-signature" in headers)


class Webhook:
    """The endpoint, an ASGI application: each signed request becomes a message of the channel."""

    def __init__(self, channel: Channel, secret: str, template: str) -> None:
        self._channel = channel
        self._secret = secret
        self._template = template
        self._taken: dict[str, str] = {}
        """The ids of deliveries, by themselves and by their signatures; the oldest first."""

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            status, answer = 202, await self._take(headers, await _body(scope["method"], headers, receive))
        except Refused as error:
            status, answer = error.status, {"error": str(error)}
            LOG.warning("request refused: %s", error, extra={"status": status})
        if "challenge" in answer:
            status = 200
        start = {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def _take(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """Send the message and return the answer, which has its id."""
        signature = check_signature(headers, body, self._secret, time.time())
        try:
            payload = payloads.parse(body, headers.get("content-type", ""))
        except ValueError as error:
            raise Refused(400, f"the body cannot be read: {error}") from None
        fields = payload if isinstance(payload, dict) else {}
        if fields.get("type") == "url_verification":
            return {"challenge": fields.get("challenge")}
        event = headers.get("x-github-event", "")
        delivery = headers.get("x-github-delivery") or str(fields.get("event_id") or uuid.uuid4())
        try:
            text = payloads.render(payload, self._template, event)
        except payloads.FieldsMissing as error:
            raise Refused(422, str(error)) from None
        if not text.strip():
            raise Refused(400, "the message is empty")
        if former := self._taken.get(delivery, self._taken.get(signature.value)):
            return {"id": former, "duplicate": True}
        known = (delivery, signature.value) if signature.once else (delivery,)
        self._taken.update(dict.fromkeys(known, delivery))  # before the wait: it may come again meanwhile
        try:
            await asyncio.to_thread(self._channel.send, text, {"delivery": delivery, "event": event}, wait_s=WAIT_S)
        except MessageTooLong as error:
            self._forget(known)
            raise Refused(413, str(error)) from None
        except ChannelClosed:
            self._forget(known)
            raise Refused(503, "the session does not take messages now: try again later") from None
        while len(self._taken) > 2 * MOST_DELIVERIES:
            del self._taken[next(iter(self._taken))]
        LOG.info("message sent", extra={"channel": self._channel.name, "delivery": delivery, "event": event})
        return {"id": delivery}

    def _forget(self, known: Iterable[str]) -> None:
        for key in known:
            self._taken.pop(key, None)


async def _body(method: str, headers: Mapping[str, str], receive: Receive) -> bytes:
    """Return the body of a POST. Raises `Refused` if it is another request, or too long."""
    if method != "POST":
        raise Refused(405, "only POST is taken")
    body = bytearray()
    announced = headers.get("content-length", "")
    more = True
    while more:
        if len(body) > LONGEST_BODY or (announced.isdecimal() and int(announced) > LONGEST_BODY):
            raise Refused(413, f"the body is longer than {LONGEST_BODY} bytes")
        part = await receive()
        if part["type"] == "http.disconnect":
            raise Refused(400, "the request ended before its body")
        body += part.get("body", b"")
        more = part.get("more_body", False)
    return bytes(body)


class Server(uvicorn.Server):
    """A server that ends at once: requests that wait for the daemon are refused."""

    def __init__(self, webhook: Webhook, channel: Channel) -> None:
        super().__init__(
            uvicorn.Config(
                webhook,
                log_config=None,
                log_level="warning",
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._channel = channel

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._channel.close()
        super().handle_exit(sig, frame)


def reply(url: str, text: str) -> None:
    """Post a message of the agent. Raises `Rejected` if the server does not want it, and OSError if it failed."""
    body = json.dumps({"message": text}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - checked: http
    try:
        urllib.request.urlopen(request, timeout=REPLY_S).close()  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        if 400 <= error.code < 500 and error.code not in (408, 429):  # noqa: PLR2004 - they ask to try later
            raise Rejected(f"reply_url answered {error.code}") from None
        raise OSError(f"reply_url answered {error.code}") from None


def main(adapter: Adapter) -> None:
    """Serve until the adapter is ended. Raises OSError if the port is taken."""
    settings = adapter.settings
    address = adapter.folder / f"webhook.{adapter.name}.url"
    with (
        socket.create_server((HOST, settings["port"])) as listener,
        Channel(adapter.name, folder=adapter.folder, receives=bool(settings["reply_url"])) as channel,
    ):
        if settings["reply_url"]:
            carry_in_background(channel, lambda text: reply(settings["reply_url"], text))
        url = f"http://{HOST}:{listener.getsockname()[1]}/"
        write_file(str(address), f"{url}\n".encode(), 0o600)
        LOG.info("listening", extra={"channel": adapter.name, "url": url})
        try:
            Server(Webhook(channel, adapter.secret, settings["template"]), channel).run(sockets=[listener])
        finally:
            address.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(run("webhook", main))
