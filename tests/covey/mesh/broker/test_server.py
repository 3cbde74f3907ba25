"""The embedded broker as the node runs it: ready without races, on one port, after any crash."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from covey.kernel.clock import SystemClock
from covey.kernel.processes.supervisor import Supervisor
from covey.mesh.broker.certificates import CertificateFiles
from covey.mesh.broker.server import BrokerFiles
from covey.mesh.broker.server_config import BrokerSettings, Listener, TlsFiles
from covey.mesh.broker.streams import ensure_streams
from covey.mesh.crypto.nkeys import SigningKey
from murli import AgentError
from tests.covey.mesh.embedded_broker import Broker, Mesh, connect, open_broker, open_mesh


def ports_files(broker: Broker) -> list[Path]:
    return sorted((broker.files.directory / "run").glob("*.ports"))


async def test_it_is_ready_after_each_of_ten_kills_and_keeps_its_port(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        first = broker.urls
        for _ in range(10):
            broker.kill()
            pid = broker.spawn()
            addresses = await broker.files.addresses()
            assert (addresses.nats, addresses.pid) == (first, pid)
            assert len(ports_files(broker)) == 1


async def test_ready_that_is_asked_before_the_kill_and_the_start_is_right_too(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        for _ in range(3):
            broker.kill()
            waiting = asyncio.ensure_future(broker.files.addresses())
            await asyncio.sleep(0)
            pid = broker.spawn()
            assert (await waiting).pid == pid


async def test_files_that_dead_and_foreign_processes_left_are_not_believed(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "home")
    run = broker.files.directory / "run"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"nats://127.0.0.1:{silent.getsockname()[1]}"
        (run / f"nats-server_{dead.pid}.ports").write_text(json.dumps({"nats": [url]}))
        (run / f"nats-server_{os.getpid()}.ports").write_text(json.dumps({"nats": ["nats://127.0.0.1:1"]}))
        (run / "nats-server_x.ports").write_text("{}")
        (run / f"nats-server_{os.getppid()}.ports").write_text('{"nats":')  # half written
        try:
            async with asyncio.timeout(30):
                await broker.start()
                assert broker.urls != [url]
            assert not (run / f"nats-server_{dead.pid}.ports").exists()
        finally:
            await broker.aclose()


async def test_the_server_of_another_home_is_not_taken_for_ours(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "one") as one:
        other = Broker(tmp_path / "two")
        theirs = ports_files(one)[0]
        (other.files.directory / "run" / theirs.name).write_text(theirs.read_text())
        with pytest.raises(AgentError):
            await other.files.ready(0.3)


async def test_a_port_that_another_program_took_is_named(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        port = urlsplit(broker.urls[0]).port
        broker.kill()
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            thief.bind(("127.0.0.1", port))
            thief.listen()
            broker.spawn()
            with pytest.raises(AgentError, match=f"port {port} is used by another program"):
                await broker.files.ready(1.0)
            assert broker.process is not None
            broker.process.wait(10)  # it gives up, and the supervisor starts it again later
        await broker.start()
        assert urlsplit(broker.urls[0]).port == port


async def test_a_server_that_hangs_is_reported_as_such(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        assert broker.process is not None
        broker.process.send_signal(signal.SIGSTOP)
        stopped = os.WSTOPPED | os.WNOWAIT  # until it is stopped it may still answer
        await asyncio.to_thread(os.waitid, os.P_PID, broker.process.pid, stopped)
        try:
            with pytest.raises(AgentError, match="did not answer"):
                await broker.files.ready(0.5)
        finally:
            broker.process.send_signal(signal.SIGCONT)
        assert await broker.files.ready() == broker.urls


async def test_it_says_so_when_nothing_starts(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "home")
    with pytest.raises(AgentError, match="not ready within"):
        await broker.files.ready(0.1)


async def test_its_files_are_private_and_prepare_may_be_repeated(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        directory = broker.files.directory
        assert directory.stat().st_mode & 0o777 == 0o700
        for name in ("operator.json", "nats.conf", "settings.json", "broker.log"):
            assert (directory / name).stat().st_mode & 0o777 == 0o600
        before = (directory / "nats.conf").read_text()
        argv = broker.files.argv()
        again = BrokerFiles(str(tmp_path / "home"))
        again.prepare()
        assert (directory / "nats.conf").read_text() == before
        assert again.argv() == argv
        assert await again.ready() == broker.urls


async def test_damaged_settings_are_reported(tmp_path: Path) -> None:
    files = BrokerFiles(str(tmp_path / "home"))
    files.prepare()
    (files.directory / "settings.json").write_text("{")
    with pytest.raises(AgentError, match="cannot be used"):
        files.prepare()


async def test_streams_and_messages_survive_a_kill(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, _, anna, bert):
        me, other = anna.key.public, bert.key.public
        for number in range(50):
            assert (await anna.store(f"dm.{other}.{me}", b"%d" % number))["seq"] == number + 1
        await anna.store(f"p.{me}", b"here")
        mesh.broker.kill()
        await mesh.broker.start()
        owner = await mesh.connect_owner()
        assert not await ensure_streams(owner.client, authority_token=mesh.token)
        info = await owner.api("STREAM.INFO.DM", {})
        assert info is not None
        assert info["state"]["messages"] == 50
        await owner.client.close()


async def test_the_supervisor_keeps_it_and_the_next_one_adopts_it(tmp_path: Path) -> None:
    files = BrokerFiles(str(tmp_path / "home"))
    files.prepare()
    records = tmp_path / "children"
    async with asyncio.timeout(60):
        first = Supervisor(records, SystemClock())
        child = first.keep("broker", files.argv(), {}, outlives=True)
        addresses = await files.addresses()
        assert addresses.pid == child.pid
        await first.aclose()
        second = Supervisor(records, SystemClock())
        try:
            adopted = second.keep("broker", files.argv(), {}, outlives=True)
            assert await files.addresses() == addresses
            os.kill(addresses.pid, signal.SIGKILL)
            restarted = await files.addresses()
            while restarted.pid == addresses.pid:  # the killed process may still have been there
                restarted = await files.addresses()
            assert restarted.nats == addresses.nats
            assert restarted.pid == adopted.pid
        finally:
            await second.drop("broker")


@pytest.mark.filterwarnings("ignore:parameter 'timeout' of type 'float':DeprecationWarning")  # nats-py and aiohttp
async def test_tls_and_websocket_serve_those_who_trust_the_authority(tmp_path: Path) -> None:
    certificates = CertificateFiles(tmp_path / "tls")
    certificates.ensure(["localhost"], ["127.0.0.1"], SystemClock())
    tls = TlsFiles(certificate=str(certificates.server), key=str(certificates.server_key))
    settings = BrokerSettings(tls=tls, websocket=Listener())
    broker = Broker(tmp_path / "home", settings)
    broker.tls = ssl.create_default_context(cafile=certificates.ca)
    async with asyncio.timeout(60):
        try:
            await broker.start()
            addresses = await broker.files.addresses()
            assert broker.files.settings.websocket is not None
            assert broker.files.settings.websocket.port == urlsplit(addresses.websocket[0]).port
            mesh = Mesh(broker)
            await mesh.push()
            key = SigningKey.generate("U")
            for url in (*addresses.nats, *addresses.websocket):
                connection = await connect([url], key, mesh.member_jwt(key), broker.tls)
                assert connection.client.is_connected
                await connection.client.close()
            stranger = Broker(tmp_path / "home")
            stranger.urls = broker.urls
            stranger.tls = ssl.create_default_context()
            with pytest.raises(AgentError, match=r"(?i)certificate"):
                await stranger.system.push_account(mesh.jwt(), deadline=0.1)
        finally:
            await broker.aclose()
