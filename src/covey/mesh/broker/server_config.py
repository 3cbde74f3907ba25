"""The configuration of a NATS server for meshes, as text."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

import msgspec

from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY_PORT = -1
"""The server chooses a free port."""
PING_INTERVAL, PINGS = "3s", 2
"""A client whose link is cut is noticed after `PINGS` intervals; the default is four minutes."""
KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
LOOPBACK = "127.0.0.1"


class Listener(msgspec.Struct, frozen=True, kw_only=True):
    """An address at which the server listens."""

    host: str = LOOPBACK
    port: int = ANY_PORT

    @property
    def address(self) -> str:
        """Host and port as the configuration wants them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it. A name is taken for one that others can reach."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The certificate that the server shows, and its key."""

    certificate: str
    key: str


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """The other servers of a cluster."""

    name: str
    listener: Listener
    routes: tuple[str, ...]


class BrokerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a person can set about the broker."""

    listener: Listener = Listener()
    websocket: Listener | None = None
    tls: TlsFiles | None = None
    """Needed as soon as a listener is not on the loopback; holds for both listeners."""
    max_payload: int = MB
    max_memory_store: int = 128 * MB
    max_file_store: int = 10 * GB
    log_size: int = 4 * MB
    cluster: Cluster | None = None


class BrokerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What tells a broker from all others, and where its files are."""

    server_name: str
    directory: str
    operator_jwt: str
    system_account: str
    system_account_jwt: str


def server_config(identity: BrokerIdentity, settings: BrokerSettings) -> str:
    """Return the text of the configuration.

    Raises `AgentError` if it would let others read the traffic, or if a path has a character that cannot be written.
    """
    _require_tls(settings)
    directory = identity.directory
    lines = [
        "# Written by Covey at each start; changes are lost.",
        f"server_name: {_text(identity.server_name)}",
        f"listen: {_text(settings.listener.address)}",
        f"ports_file_dir: {_text(f'{directory}/run')}",
        f"log_file: {_text(f'{directory}/broker.log')}",
        f"log_size_limit: {settings.log_size}",
        "log_max_num: 3",
        "logtime_utc: true",
        f"max_payload: {settings.max_payload}",
        f"ping_interval: {_text(PING_INTERVAL)}",
        f"ping_max: {PINGS}",
        *_block("jetstream", _jetstream(identity, settings)),
        f"operator: {_text(identity.operator_jwt)}",
        f"system_account: {identity.system_account}",
        *_block(
            "resolver",
            ["type: full", f"dir: {_text(f'{directory}/accounts')}", "allow_delete: true", 'interval: "2m"'],
        ),
        *_block("resolver_preload", [f"{identity.system_account}: {_text(identity.system_account_jwt)}"]),
    ]
    if settings.tls is not None:
        lines += _block("tls", _tls(settings.tls))
    if settings.websocket is not None:
        inner = [f"listen: {_text(settings.websocket.address)}"]
        inner += ["no_tls: true"] if settings.tls is None else _block("tls", _tls(settings.tls))
        lines += _block("websocket", inner)
    if settings.cluster is not None:
        lines += _block("cluster", _cluster(settings.cluster))
    return "\n".join(lines) + "\n"


def _jetstream(identity: BrokerIdentity, settings: BrokerSettings) -> list[str]:
    return [
        f"store_dir: {_text(f'{identity.directory}/store')}",
        "sync_interval: always",
        f"max_memory_store: {settings.max_memory_store}",
        f"max_file_store: {settings.max_file_store}",
    ]


def _tls(files: TlsFiles) -> list[str]:
    return [f"cert_file: {_text(files.certificate)}", f"key_file: {_text(files.key)}", "timeout: 3"]


def _cluster(cluster: Cluster) -> list[str]:
    routes = ", ".join(_text(route) for route in cluster.routes)
    return [f"name: {_text(cluster.name)}", f"listen: {_text(cluster.listener.address)}", f"routes: [{routes}]"]


def _block(name: str, lines: Iterable[str]) -> list[str]:
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _require_tls(settings: BrokerSettings) -> None:
    for listener in (settings.listener, settings.websocket):
        if listener is not None and not listener.is_loopback and settings.tls is None:
            raise user_error(
                f"the broker would listen at {listener.address} without TLS: others could read who writes to whom",
                "Let Covey make the certificates: covey mesh expose   or listen on 127.0.0.1.",
                error="broker_needs_tls",
            )


def _text(value: str) -> str:
    """Return a text in quotes. Raises `AgentError` for control characters, which the format cannot express."""
    if not value.isprintable():
        raise user_error(
            f"the broker's configuration cannot hold {value!r}: it has characters that do not print",
            "Use a home without such characters: export COVEY_HOME=$HOME/.covey",
            error="unsafe_home",
        )
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
