"""The system link: accounts that are pushed and deleted, and who is online."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from covey.mesh.auth.jwt import account_jwt
from covey.mesh.broker.accounts import Online
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.crypto.nkeys import SigningKey
from covey.mesh.link.errors import RefusedError as LinkRefusedError
from murli import AgentError
from tests.covey.mesh.embedded_broker import Broker, Mesh, RefusedError, open_broker


async def following(changes: AsyncIterator[tuple[str, bool]]) -> tuple[str, bool]:
    async with asyncio.timeout(15):
        return await anext(changes)


async def test_an_account_is_there_after_a_push_and_gone_after_its_deletion(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh, key = Mesh(broker), SigningKey.generate("U")
        with pytest.raises(RefusedError):
            await mesh.connect_member(key)
        await mesh.push()
        member = await mesh.connect_member(key)
        await broker.system.delete_account(mesh.account.public)
        async with asyncio.timeout(5):
            await member.ended.wait()
        with pytest.raises(RefusedError):
            await mesh.connect_member(key)


async def test_a_push_waits_for_a_broker_that_restarts(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        await mesh.push()
        broker.kill()
        pushing = asyncio.ensure_future(mesh.push())
        await asyncio.sleep(0)
        await broker.start()
        await pushing


async def test_claims_that_a_stranger_signed_are_refused(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        forged = account_jwt(SigningKey.generate("O"), mesh.account.public, "x", signing_keys={})
        with pytest.raises(AgentError, match="refused the change"):
            await broker.system.push_account(forged)
        with pytest.raises(AgentError, match="refused the change"):
            await broker.system.push_account("nonsense")


async def test_only_the_system_user_administrates(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        (tmp_path / "other").mkdir()
        stranger = Broker(tmp_path / "home")
        stranger.keys = stranger.system._keys = OperatorFile.create(tmp_path / "other")
        stranger.urls = broker.urls
        with pytest.raises(LinkRefusedError):
            await stranger.system.push_account(Mesh(stranger).jwt())
        await stranger.system.aclose()


async def test_who_comes_and_goes_is_seen(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh, other = Mesh(broker), Mesh(broker)
        await mesh.push()
        await other.push()
        anna, bert = SigningKey.generate("U"), SigningKey.generate("U")
        early = await mesh.connect_member(anna)
        stranger = await other.connect_member(SigningKey.generate("U"))
        changes = broker.system.watch(mesh.account.public)
        assert await following(changes) == (anna.public, True)
        second = await mesh.connect_member(anna)  # a second connection of the same member changes nothing
        late = await mesh.connect_member(bert)
        assert await following(changes) == (bert.public, True)
        await early.client.close()
        await late.client.close()
        assert await following(changes) == (bert.public, False)
        await second.client.close()
        assert await following(changes) == (anna.public, False)
        await stranger.client.close()
        await changes.aclose()  # type: ignore[attr-defined] # it is a generator


async def test_the_watch_goes_on_after_a_crash_of_the_broker(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh, anna = Mesh(broker), SigningKey.generate("U")
        await mesh.push()
        await mesh.connect_member(anna)
        changes = broker.system.watch(mesh.account.public)
        assert await following(changes) == (anna.public, True)
        waiting = asyncio.ensure_future(following(changes))
        broker.kill()
        await broker.start()
        assert await waiting == (anna.public, False)
        again = await mesh.connect_member(anna)
        assert await following(changes) == (anna.public, True)
        await again.client.close()
        await changes.aclose()  # type: ignore[attr-defined] # it is a generator


def test_a_member_is_online_while_it_has_a_connection() -> None:
    online = Online()
    assert online.apply("A", ("s", 1), connected=True)
    assert not online.apply("A", ("s", 2), connected=True)
    assert not online.apply("A", ("s", 2), connected=True)
    assert not online.apply("A", ("s", 1), connected=False)
    assert online.apply("A", ("s", 2), connected=False)
    assert not online.apply("A", ("s", 9), connected=False)
    assert online.replace({"A": {("s", 3)}, "B": {("s", 4)}}) == [("A", True), ("B", True)]
    assert online.replace({"B": {("t", 1)}}) == [("A", False)]
