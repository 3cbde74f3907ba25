"""Somebody on the way to the broker who says that there is no TLS gets no credentials."""

from __future__ import annotations

import asyncio
import json
import ssl

import pytest

from covey.mesh.crypto.identity import KeyPair
from covey.mesh.link.errors import NotConnected
from covey.mesh.link.session import Address, Credentials, Session

INFO = {"server_id": "X", "version": "2.15.1", "proto": 1, "headers": True, "max_payload": 1 << 20, "nonce": "a" * 16}
ANSWER_S = 2.0


@pytest.mark.parametrize("said", [{}, {"tls_required": False}, {"tls_available": True}])
async def test_a_server_that_does_not_ask_for_tls_is_told_nothing(said: dict[str, bool]) -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"INFO " + json.dumps({**INFO, **said, "auth_required": True}).encode() + b"\r\n")
        async with asyncio.timeout(ANSWER_S):
            heard.set_result(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        keys = KeyPair.generate(0.0)
        credentials = Credentials(keys.member, "the.jwt.of-the-member", keys.identity.sign_nonce)
        with pytest.raises(NotConnected, match="does not offer TLS"):
            await Session.connect(Address([f"tls://127.0.0.1:{port}"], ssl.create_default_context()), credentials)
        assert await heard == b""
