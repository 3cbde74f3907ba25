"""The text of the server's configuration, checked by the server itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.program import nats_server
from covey.mesh.broker.server_config import (
    BrokerIdentity,
    BrokerSettings,
    Cluster,
    Listener,
    TlsFiles,
    server_config,
)
from murli import AgentError


def identity(directory: Path) -> BrokerIdentity:
    directory.mkdir(parents=True, exist_ok=True)
    keys = OperatorFile.load_or_create(directory)
    return BrokerIdentity(
        server_name="covey-test",
        directory=str(directory),
        operator_jwt=keys.operator_jwt(),
        system_account=keys.system_account.public,
        system_account_jwt=keys.system_account_jwt(),
    )


def is_valid(directory: Path, settings: BrokerSettings) -> bool:
    config = directory / "nats.conf"
    config.write_text(server_config(identity(directory), settings))
    checked = subprocess.run([nats_server(), "--config", config, "-t"], capture_output=True, text=True, check=False)
    return checked.returncode == 0


@pytest.mark.parametrize("name", ["plain", "with space", 'quote"and\\slash', "ünï 日本", "$HOME # {brace} ;", "-"])
def test_the_server_accepts_it_whatever_the_home_is_called(tmp_path: Path, name: str) -> None:
    assert is_valid(tmp_path / name, BrokerSettings(websocket=Listener()))


def test_the_server_accepts_a_cluster(tmp_path: Path) -> None:
    cluster = Cluster(name="c", listener=Listener(port=7001), routes=("nats://127.0.0.1:7002", "nats://[::1]:7003"))
    assert is_valid(tmp_path, BrokerSettings(cluster=cluster, listener=Listener(host="::1")))


def test_a_home_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="characters that do not print"):
        server_config(identity(tmp_path / "line\nbreak"), BrokerSettings())


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "mesh.example.org"])
def test_a_listener_that_others_reach_needs_tls(tmp_path: Path, host: str) -> None:
    for settings in (
        BrokerSettings(listener=Listener(host=host)),
        BrokerSettings(websocket=Listener(host=host)),
    ):
        with pytest.raises(AgentError, match="without TLS"):
            server_config(identity(tmp_path), settings)
    files = TlsFiles(certificate="/c.pem", key="/k.pem")
    assert "/c.pem" in server_config(identity(tmp_path), BrokerSettings(listener=Listener(host=host), tls=files))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_the_loopback_needs_no_tls(tmp_path: Path, host: str) -> None:
    assert "tls {" not in server_config(identity(tmp_path), BrokerSettings(listener=Listener(host=host)))


def test_every_message_is_on_disk_before_it_is_acknowledged(tmp_path: Path) -> None:
    assert "sync_interval: always" in server_config(identity(tmp_path), BrokerSettings())
