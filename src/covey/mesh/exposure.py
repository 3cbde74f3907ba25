"""The broker of a home opened to other machines: where it listens, by which names, and what its own peers are told."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import re
import socket
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from covey.contract.mesh_shapes import KIND
from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from covey.mesh.authority.authority_file import AuthorityFile
from covey.mesh.broker.certificates import CertificateFiles
from covey.mesh.broker.server_config import BrokerSettings, Listener, TlsFiles
from covey.mesh.joined import joined
from covey.mesh.membership_file import Membership, address_of
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.home import Home
    from covey.mesh.broker.server import BrokerFiles
    from covey.mesh.link.session import Address

FILE = "exposed.json"
LARGEST = 1 << 16
MOST_PORTS = 65_535
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """The names and addresses by which others reach the broker; none if only this machine does."""

    names: list[str] = []

    @classmethod
    def load(cls, broker: BrokerFiles) -> Exposure:
        """Return what was stored last; an empty one if nothing was, or it cannot be read."""
        try:
            return msgspec.json.decode(read_regular(broker.directory / FILE, LARGEST), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()

    def save(self, broker: BrokerFiles) -> None:
        """Store it. Raises OSError."""
        write_file(os.fspath(broker.directory / FILE), msgspec.json.encode(self), 0o600)

    def urls(self, settings: BrokerSettings) -> list[str]:
        """Return the URLs for other machines."""
        found = [f"tls://{_bracketed(name)}:{settings.listener.port}" for name in self.names]
        if settings.websocket is not None:
            found += [f"wss://{_bracketed(name)}:{settings.websocket.port}" for name in self.names]
        return found


class Wish(NamedTuple):
    """What a person asks for: where to listen, and the names that others use. Without `listen`: loopback only."""

    listen: str
    websocket: str
    names: Sequence[str]


def exposed_settings(broker: BrokerFiles, wish: Wish, clock: Clock) -> BrokerSettings:
    """Return settings for what is wished, after making the certificate. Raises AgentError."""
    before = broker.settings
    if not wish.listen:
        Exposure().save(broker)
        return msgspec.structs.replace(before, listener=Listener(port=before.listener.port), websocket=None, tls=None)
    listener = parse_listener(wish.listen, "listen", port=before.listener.port)
    websocket = parse_listener(wish.websocket, "websocket") if wish.websocket else None
    names = _checked(wish.names) or _names_of(listener)
    check_free(listener, before.listener, "listen")
    if websocket is not None:
        check_free(websocket, before.websocket, "websocket")
    files = CertificateFiles(broker.directory / "tls")
    ips = [name for name in (*names, *THIS_MACHINE) if _is_address(name)]
    files.ensure([name for name in (*names, *THIS_MACHINE) if not _is_address(name)], ips, clock)
    Exposure(names=names).save(broker)
    tls = TlsFiles(certificate=str(files.server), key=str(files.server_key))
    return msgspec.structs.replace(before, listener=listener, websocket=websocket, tls=tls)


def tell_own_peers(home: Home, broker: BrokerFiles) -> list[str]:
    """Write the broker's address into the memberships of the meshes whose authority is here; return their slugs.

    Their peers read it when they start. Raises AgentError.
    """
    settings = broker.settings
    ca = "" if settings.tls is None else base64.b64encode(CertificateFiles(broker.directory / "tls").ca_der()).decode()
    urls = list(dict.fromkeys([own_url(settings), *Exposure.load(broker).urls(settings)]))
    changed = []
    for one in joined(home):
        seat = home.seat(KIND, one.slug)
        authority = None if one.problem else AuthorityFile.load(seat)
        if authority is None or authority.operator != str(broker.directory):
            continue
        membership = Membership.load(seat)
        msgspec.structs.replace(membership, urls=urls, ca=ca).save(seat)
        changed.append(one.slug)
    return changed


def own_url(settings: BrokerSettings) -> str:
    """Return the URL by which this machine reaches the broker."""
    host = settings.listener.host
    if _is_address(host) and ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1"
    return f"{'nats' if settings.tls is None else 'tls'}://{_bracketed(host)}:{settings.listener.port}"


def own_address(broker: BrokerFiles) -> Address:
    """Return where the broker of this home is reached from this machine."""
    settings = broker.settings
    ca = b"" if settings.tls is None else CertificateFiles(broker.directory / "tls").ca_der()
    return address_of([own_url(settings)], ca)


def fingerprint_of(broker: BrokerFiles) -> str:
    """Return the fingerprint of the certificate authority; an empty string if there is none."""
    files = CertificateFiles(broker.directory / "tls")
    return hashlib.sha256(files.ca_der()).hexdigest() if files.ca.exists() else ""


def parse_listener(text: str, field: str, *, port: int = 0) -> Listener:
    """Return an address such as 0.0.0.0:4222, [::]:4222 or 0.0.0.0, which has the given port. Raises AgentError."""
    if port > 0 and _is_address(text):
        return Listener(host=text, port=port)
    return _with_port(text, field)


def check_free(listener: Listener, before: Listener | None, field: str) -> None:
    """Raise AgentError if this machine cannot listen there. The port of `before` is in use by the broker itself."""
    port = 0 if before is not None and before.port == listener.port else listener.port
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    try:
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((listener.host, port))
    except OSError as error:
        raise user_error(
            f"this machine cannot listen at {listener.address}: {error.strerror or error}",
            "Give an address of this machine, or 0.0.0.0 for all of them, and a port that no other program has.",
            field=field,
        ) from None


def _with_port(text: str, field: str) -> Listener:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= MOST_PORTS):
        raise user_error(
            f"{text[:60]!r} is not an address to listen at", "Give host and port, such as 0.0.0.0:4222.", field=field
        )
    if not _is_address(host) and host != "localhost":
        raise user_error(
            f"{host[:60]!r} is not an address of this machine",
            "Give a number such as 0.0.0.0:4222; names by which others reach it belong to --names.",
            field=field,
        )
    return Listener(host=host, port=int(port))


def _names_of(listener: Listener) -> list[str]:
    """Return the address itself as the name by which it is reached. Raises AgentError if it is no such address."""
    if _is_address(listener.host) and not ipaddress.ip_address(listener.host).is_unspecified:
        return [listener.host]
    raise user_error(
        f"{listener.host} says where to listen, and not how others reach this machine",
        "Say it with --names, such as --names build.example.org or --names 10.0.0.5; invites carry it.",
        field="names",
    )


def _checked(names: Sequence[str]) -> list[str]:
    """Return names by which others reach this host. Raises AgentError for one that no host has."""
    for name in names:
        if not (_is_address(name) or _HOST_NAME.fullmatch(name)):
            raise user_error(
                f"{name[:80]!r} is not a host name or an address",
                "Give what others use to reach this host, such as build.example.org or 192.0.2.7.",
                field="names",
            )
    return list(names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
