"""Tokens of subsystems that allow less than everything, keys that a handler keeps itself, and what health is told."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.contract import Operation, Parameter
from covey.contract.kernel import with_status
from covey.contract.operation import shape
from covey.kernel.client import Client
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Call, Caller, Scope
from covey.kernel.seat import Seat
from covey.kernel.subsystem import Context, Opened, Subsystem
from murli import AgentError
from tests.covey.conftest import UnixConnection

TOKEN = "hook-token_1"
MESH = Parameter("mesh", "Which one.")
SEND = Operation(
    "say.send",
    "Send.",
    cli=["say"],
    method="POST",
    route="/v1/say",
    parameters=[
        Parameter("text", "T.", required=True),
        Parameter("reply_to", "R.", also="replyTo"),
        Parameter("meta", "M.", type="object"),
    ],
    client_parameters=[MESH],
    seat_parameter="mesh",
    result=shape("Said", key="string", params="object", scope="string"),
    mutating=True,
    own_key=True,
    unaudited="a test",
    served_by="talk",
)
OTHER = Operation(
    "say.other", "Other.", cli=[], method="POST", route="/v1/other", mutating=True, served_by="talk", result=shape()
)
HEALTH = next(one for one in with_status({}, {"colour": {"type": "string"}}) if one.name == "health")
EVENTS = next(one for one in with_status({}) if one.name == "events")


@contextlib.asynccontextmanager
async def opened(_: Context) -> AsyncIterator[Opened]:
    kept: set[str] = set()

    async def send(call: Call) -> dict[str, Any]:
        key = call.idempotency_key or ""
        call.is_replay = key in kept
        kept.add(key)
        return {"key": key, "params": call.params, "scope": call.caller.scope.name if call.caller.scope else ""}

    async def other(_: Call) -> dict[str, Any]:
        return {}

    def scope(token: str) -> Scope | None:
        return Scope("hook:on-dm", frozenset({"say.send"}), {"hops": 2}) if token == TOKEN else None

    yield Opened({"say.send": send, "say.other": other}, health=lambda: {"colour": "blue"}, scope=scope)


TALK = Subsystem("talk", opened, operations=[SEND, OTHER], health={"colour": {"type": "string"}})


@pytest.fixture
def seat() -> Iterator[Seat]:
    folder = tempfile.mkdtemp(prefix="cv-")
    found = Home(f"{folder}/home").seat("talk", "one")
    found.prepare()
    yield found
    shutil.rmtree(folder)


async def posted(seat: Seat, path: str, body: object, **headers: str) -> tuple[int, dict[str, str], Any]:
    """Post to the Unix socket."""

    def ask() -> tuple[int, dict[str, str], Any]:
        with contextlib.closing(UnixConnection(seat.socket)) as connection:
            return _answer(connection, path, body, headers)

    return await asyncio.to_thread(ask)


def _answer(
    connection: http.client.HTTPConnection, path: str, body: object, headers: dict[str, str]
) -> tuple[int, dict[str, str], Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, json.dumps(body), named)
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, json.loads(answer.read())


async def test_a_token_of_a_subsystem_may_do_what_it_is_good_for_and_nothing_else(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]):
        status, _, said = await posted(seat, "/v1/say", {"text": "x"}, Authorization=f"Bearer {TOKEN}")
        assert (status, said["scope"]) == (200, "hook:on-dm")
        for path in ("/v1/other", "/v1/down", "/v1/reload"):
            status, _, error = await posted(seat, path, {}, Authorization=f"Bearer {TOKEN}")
            assert (status, error["error"]) == (403, "permission_denied"), path
        with pytest.raises(AgentError, match="events is not for hook:on-dm"):
            await asyncio.to_thread(lambda: list(Client(seat.socket, token=TOKEN).stream(EVENTS, {})))
        assert (await posted(seat, "/v1/other", {}))[0] == 200


async def test_an_unknown_token_is_refused_on_the_unix_socket_too(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]):
        for header in ("Bearer wrong", "Bearer ", "Basic abc", ""):
            status, _, error = await posted(seat, "/v1/say", {"text": "x"}, Authorization=header)
            assert status == 401, header
            assert "talk/one/http.token" in error["suggestion"]
        whole = Path(seat.token_file).read_text().strip()
        status, _, said = await posted(seat, "/v1/say", {"text": "x"}, Authorization=f"Bearer {whole}")
        assert (status, said["scope"]) == (200, "")


async def test_a_token_works_over_tcp(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]) as daemon:

        def ask() -> int:
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", daemon.port)) as connection:
                return _answer(connection, "/v1/say", {"text": "x"}, {"Authorization": f"Bearer {TOKEN}"})[0]

        assert await asyncio.to_thread(ask) == 200


async def test_the_client_shows_its_token_and_refuses_one_that_breaks_the_request(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]):
        said = await asyncio.to_thread(Client(seat.socket, token=TOKEN).call, SEND, {"text": "x"})
        assert said["scope"] == "hook:on-dm"
        with pytest.raises(AgentError, match="cannot be one of ours"):
            Client(seat.socket, token="a\r\nb").call(SEND, {"text": "x"})


async def test_a_handler_that_keeps_the_key_gets_it_and_nothing_else_keeps_it(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]) as daemon:
        first = await posted(seat, "/v1/say", {"text": "x"}, Idempotency_Key="k1")
        again = await posted(seat, "/v1/say", {"text": "other"}, Idempotency_Key="k1")
        assert (first[2]["key"], again[2]["key"], again[2]["params"]["text"]) == ("k1", "k1", "other")
        assert "idempotency-replayed" not in first[1]
        assert again[1]["idempotency-replayed"] == "true"
        count = await daemon.store.read(lambda db: db.execute("SELECT count(*) FROM idempotent_call").fetchone()[0])
        assert count == 0
        assert (await posted(seat, "/v1/say", {"text": "x"}, Idempotency_Key="a b"))[0] == 400


async def test_what_is_not_audited_is_not_in_the_journal(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]) as daemon:
        await daemon.dispatcher.call("say.send", {"text": "x"}, Caller("internal", subsystem="test"))
        await daemon.dispatcher.call("say.other", {}, Caller("internal", subsystem="test"))
        found = await daemon.events.history(since=0, kinds=["audit.call"], limit=10)
        assert [event.subject for event in found] == ["say.other"]


async def test_another_spelling_an_object_and_the_name_of_the_daemon_are_taken(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]):
        body = {"text": "x", "replyTo": "m1", "meta": {"a": [1]}, "mesh": "one"}
        status, _, said = await posted(seat, "/v1/say", body)
        assert status == 200
        assert said["params"] == {"text": "x", "reply_to": "m1", "meta": {"a": [1]}}
        refused: list[dict[str, Any]] = [{"meta": []}, {"meta": "{}"}, {"replyTo": "a", "reply_to": "b"}]
        for wrong in refused:
            assert (await posted(seat, "/v1/say", {"text": "x", **wrong}))[0] == 400, wrong
        status, _, error = await posted(seat, "/v1/say", {"text": "x", "mesh": "two"})
        assert (status, error["field"]) == (404, "mesh")


async def test_a_subsystem_adds_to_health(seat: Seat) -> None:
    async with Daemon.running(seat, [TALK]):
        health = await asyncio.to_thread(Client(seat.socket).call, HEALTH, {})
        assert (health["ok"], health["colour"]) == (True, "blue")
        assert HEALTH.result["required"][-1] == "colour"


def test_errors_of_a_client_name_the_commands_of_its_daemon(seat: Seat) -> None:
    with pytest.raises(AgentError) as caught:
        Client(seat.socket, seat=seat).call(HEALTH, {})
    assert caught.value.message.startswith("the talk daemon one is not running")
    assert caught.value.suggestion == "Run `covey talk up one` to start it."
