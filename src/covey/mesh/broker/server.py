"""The embedded broker of a home: its files, the command that the node supervises, and when it can be used."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from covey.kernel.atomic_file import write_file
from covey.kernel.processes.process import birth
from covey.kernel.regular_file import descriptor_of, read_regular
from covey.kernel.seat import Seat
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.program import nats_server
from covey.mesh.broker.server_config import ANY_PORT, BrokerIdentity, BrokerSettings, Listener, server_config
from murli import AgentError, conflict, timed_out, tool_error

SETTINGS = "settings.json"
CONFIG = "nats.conf"
LOG = "broker.log"
POLL_S = 0.01
INFO_S = 2.0
LARGEST = 1 << 20
LOG_TAIL = 16 * 1024
_STARTING = "Starting nats-server"
_IN_USE = "address already in use"


class _Ports(msgspec.Struct, frozen=True):
    """What the server writes into its ports file."""

    nats: list[str] = []
    websocket: list[str] = []


class _Info(msgspec.Struct, frozen=True):
    """The part of a server's greeting that identifies it."""

    server_name: str = ""


class Addresses(NamedTuple):
    """Where a running broker can be reached."""

    nats: list[str]
    websocket: list[str]
    pid: int


class BrokerFiles:
    """The files of the broker in `<home>/broker/`. Making one reads nothing."""

    def __init__(self, home: str) -> None:
        self.seat = Seat(home, "broker")
        self.directory = Path(self.seat.directory)
        self.config = self.directory / CONFIG
        self.log = self.directory / LOG
        self._run = self.directory / "run"

    def prepare(self, settings: BrokerSettings | None = None) -> OperatorFile:
        """Write everything that the server needs, and return the broker's keys. May be called while it runs.

        `settings` replace those of before, but the port stays unless they name one. Raises `AgentError`.
        """
        self.seat.prepare()
        keys = OperatorFile.load_or_create(self.directory)
        try:
            self._run.mkdir(mode=0o700, exist_ok=True)
            self._make_log_private()
            self._write(self.settings if settings is None else _with_ports_of(settings, self.settings), keys)
        except OSError as error:
            raise _cannot_write(error) from error
        return keys

    def _make_log_private(self) -> None:
        """Make the server's log before the server does, which lets its group read it."""
        descriptor = descriptor_of(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW)
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)

    @property
    def settings(self) -> BrokerSettings:
        """The settings with which the next start happens. Raises `AgentError` if the file is damaged."""
        path = self.directory / SETTINGS
        try:
            return msgspec.json.decode(read_regular(path, LARGEST), type=BrokerSettings)
        except FileNotFoundError:
            return BrokerSettings()
        except (OSError, msgspec.DecodeError) as error:
            raise tool_error(
                f"{path} cannot be used: {error}",
                "Restore it from a backup, or remove it: the broker then chooses a new port, "
                "and members need to be told.",
                error="broker_unusable",
            ) from error

    def argv(self) -> list[str]:
        """Return the command of the broker for a supervisor. It stays the same as long as the program does."""
        return [str(nats_server()), "--config", str(self.config)]

    async def ready(self, deadline: float = 15.0) -> list[str]:
        """Wait at most `deadline` seconds for the server, and return its URLs: see `addresses`."""
        return (await self.addresses(deadline)).nats

    async def addresses(self, deadline: float = 15.0) -> Addresses:
        """Wait at most `deadline` seconds until the server answers, and return where.

        The first port that a server has chosen is kept in the configuration, so that members find it again. What a
        killed server left is not believed: a process must live, and the server must greet with this broker's name.
        Raises `AgentError` with the reason if it does not come up.
        """
        keys = OperatorFile.load(self.directory)
        try:
            async with asyncio.timeout(deadline):
                while True:
                    found = await self._running(_server_name(keys))
                    if found is not None:
                        break
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise self._failure(deadline) from None
        self._forget_dead(found.pid)
        self._keep_ports(found, keys)
        return found

    async def _running(self, name: str) -> Addresses | None:
        """Return the addresses of the server that runs; None if none does, or it is not ready."""
        for file in sorted(self._run.glob("*.ports")):
            pid = _pid_of(file)
            if not pid or not birth(pid):
                continue
            with contextlib.suppress(OSError, msgspec.DecodeError):  # it is being written, or was just removed
                ports = msgspec.json.decode(read_regular(file, LARGEST), type=_Ports)
                if ports.nats and await _name_at(ports.nats) == name:
                    return Addresses(_nearest_first(ports.nats), _nearest_first(ports.websocket), pid)
        return None

    def _forget_dead(self, running: int) -> None:
        """Remove the ports files of processes that have ended. A home has one server, so no other is coming up."""
        for file in self._run.glob("*.ports"):
            pid = _pid_of(file)
            if pid != running and not birth(pid):
                file.unlink(missing_ok=True)

    def _keep_ports(self, found: Addresses, keys: OperatorFile) -> None:
        before = self.settings
        chosen = BrokerSettings(
            listener=Listener(port=_port(found.nats)),
            websocket=Listener(port=_port(found.websocket)) if found.websocket else None,
        )
        settings = _with_ports_of(before, chosen)
        if settings != before:
            try:
                self._write(settings, keys)
            except OSError as error:
                raise _cannot_write(error) from error

    def _write(self, settings: BrokerSettings, keys: OperatorFile) -> None:
        identity = BrokerIdentity(
            server_name=_server_name(keys),
            directory=str(self.directory),
            operator_jwt=keys.operator_jwt(),
            system_account=keys.system_account.public,
            system_account_jwt=keys.system_account_jwt(),
        )
        config = server_config(identity, settings)
        for path, data in (
            (self.directory / SETTINGS, msgspec.json.format(msgspec.json.encode(settings))),
            (self.config, config.encode()),
        ):
            write_file(os.fspath(path), data, 0o600)

    def _failure(self, deadline: float) -> AgentError:
        """Return why the server did not come up: its port is taken, or what its log says last."""
        listener = self.settings.listener
        complaint = _last_complaint(self.log)
        if any(birth(_pid_of(file)) for file in self._run.glob("*.ports")):
            return timed_out(
                f"the broker runs and did not answer within {deadline:g} s",
                f"See its log: tail {self.log}",
            )
        if _is_taken(listener) or _IN_USE in complaint:
            return conflict(
                f"the broker's port {listener.port} is used by another program, and members expect the broker there",
                f"Find the program and end it: ss -ltnp 'sport = :{listener.port}'   "
                "The broker is tried again by itself.",
            )
        return timed_out(
            f"the broker was not ready within {deadline:g} s" + (f": {complaint}" if complaint else ""),
            f"See its log: tail {self.log}",
        )


def _server_name(keys: OperatorFile) -> str:
    return f"covey-{keys.operator.public}"


def _cannot_write(error: OSError) -> AgentError:
    return tool_error(
        f"the broker's files cannot be written: {error}",
        "Free some space or mend it, then try again.",
        error="broker_unusable",
    )


def _with_ports_of(settings: BrokerSettings, known: BrokerSettings) -> BrokerSettings:
    """Return settings with the ports that are known, where none is named."""

    def filled(listener: Listener, other: Listener | None) -> Listener:
        if listener.port != ANY_PORT or other is None:
            return listener
        return msgspec.structs.replace(listener, port=other.port)

    websocket = None if settings.websocket is None else filled(settings.websocket, known.websocket)
    return msgspec.structs.replace(settings, listener=filled(settings.listener, known.listener), websocket=websocket)


def _pid_of(file: Path) -> int:
    """Return the pid in the name of a ports file; 0 if there is none."""
    pid = file.stem.rpartition("_")[2]
    return int(pid) if pid.isascii() and pid.isdigit() else 0


def _port(urls: list[str]) -> int:
    return urlsplit(urls[0]).port or ANY_PORT


def _nearest_first(urls: list[str]) -> list[str]:
    """Return the URLs with those of this machine first, each once."""
    return sorted(dict.fromkeys(urls), key=lambda url: not _is_local(url))


def _is_local(url: str) -> bool:
    return Listener(host=urlsplit(url).hostname or "").is_loopback


async def _name_at(urls: list[str]) -> str:
    """Return the name with which the server at the first of the URLs greets. Raises `OSError` if none does."""
    url = urlsplit(_nearest_first(urls)[0])
    try:
        async with asyncio.timeout(INFO_S):
            reader, writer = await asyncio.open_connection(url.hostname, url.port, limit=LARGEST)
            try:
                line = await reader.readline()
            finally:
                writer.transport.abort()
    except TimeoutError:
        raise OSError(errno.ETIMEDOUT, "the server does not greet") from None
    verb, _, info = line.partition(b" ")
    return msgspec.json.decode(info, type=_Info).server_name if verb == b"INFO" else ""


def _is_taken(listener: Listener) -> bool:
    """Return whether the port cannot be bound now."""
    if listener.port <= 0:
        return False
    with socket.socket(socket.AF_INET6 if ":" in listener.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((listener.host, listener.port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def _last_complaint(log: Path) -> str:
    """Return the last fatal message since the server's last start; empty if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LOG_TAIL))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    starts = [number for number, line in enumerate(lines) if _STARTING in line]
    fatal = [line for line in lines[starts[-1] if starts else 0 :] if "[FTL]" in line]
    return fatal[-1].partition("[FTL]")[2].strip() if fatal else ""
