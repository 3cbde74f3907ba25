"""What the owner of MCP servers has registered: how each is reached, which tools may be called, and by whom.

It is in a file of this peer alone. Command lines, environments and headers never leave it.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from murli import tool_error, user_error

LARGEST_FILE: Final = 4 << 20
MOST_SERVERS: Final = 100
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Stdio(Struct, frozen=True, kw_only=True, tag="stdio", tag_field="type", forbid_unknown_fields=True):
    """A program that speaks MCP on its standard input and output."""

    command: Annotated[list[str], Meta(min_length=1, max_length=200)]
    env: dict[str, str] = {}
    cwd: str | None = None


class Http(Struct, frozen=True, kw_only=True, tag="http", tag_field="type", forbid_unknown_fields=True):
    """A server that speaks streamable HTTP."""

    url: Annotated[str, Meta(pattern=r"\Ahttps?://[^\s/?#]+\S*\Z", max_length=2000)]
    headers: dict[str, str] = {}


Transport = Stdio | Http


class Registered(Struct, frozen=True, kw_only=True):
    """One server. What is not among `tools` is never called."""

    name: str
    description: str
    transport: Transport
    tools: list[str]
    members: list[str] | None
    """The keys of the members that may call it; None for all."""
    at: float

    @property
    def kind(self) -> Literal["stdio", "http"]:
        """Return how it is reached."""
        return "stdio" if isinstance(self.transport, Stdio) else "http"


class Registrations:
    """The file with all registered servers."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._known: dict[str, Registered] | None = None

    def all(self) -> dict[str, Registered]:
        """Return all servers by name. Raises AgentError if the file cannot be read: then none is called."""
        if self._known is None:
            try:
                found = msgspec.json.decode(read_regular(self.path, LARGEST_FILE), type=list[Registered])
            except FileNotFoundError:
                found = []
            except (OSError, msgspec.MsgspecError) as error:
                raise tool_error(
                    f"the registered MCP servers cannot be read: {error}",
                    f"Look at {self.path}, or register them anew.",
                ) from error
            self._known = {one.name: one for one in found}
        return self._known

    def put(self, server: Registered) -> None:
        """Store a server, in the place of an earlier one of its name."""
        known = {**self.all(), server.name: server}
        if len(known) > MOST_SERVERS:
            raise user_error(f"{MOST_SERVERS} servers are registered", "Unregister one: covey mesh mcp unregister")
        self._save(known)

    def drop(self, name: str) -> None:
        """Forget a server."""
        self._save({one: server for one, server in self.all().items() if one != name})

    def _save(self, known: dict[str, Registered]) -> None:
        write_file(self.path, msgspec.json.encode(sorted(known.values(), key=lambda one: one.name)), 0o600)
        self._known = known


def check_transport(document: dict[str, Any]) -> Transport:
    """Return how a server is reached. Raises AgentError."""
    try:
        transport: Transport = msgspec.convert(document, Transport)
    except msgspec.ValidationError as error:
        raise user_error(
            f"the transport does not have its form: {error}",
            'Give {"type": "stdio", "command": ["program", "argument"]} or {"type": "http", "url": "http://…/mcp"}.',
            field="transport",
        ) from None
    if isinstance(transport, Stdio):
        words = [*transport.command, *transport.env.values(), transport.cwd or ""]
        good = transport.command[0] and all(map(_VARIABLE.fullmatch, transport.env))
    else:
        words = list(transport.headers.values())
        good = all(map(_HEADER.fullmatch, transport.headers)) and not any("\n" in one or "\r" in one for one in words)
    if not good or any("\0" in word for word in words):
        raise user_error("a word, variable or header of the transport cannot be used", "Check it.", field="transport")
    return transport


def check_server_name(name: str) -> str:
    """Return a name if it can be a server's. Raises AgentError."""
    if not _NAME.fullmatch(name):
        raise user_error(
            f"{name[:70]!r} cannot be the name of a server",
            "Use 1 to 64 lower-case letters, digits, - and _, such as weather.",
            field="server_name",
        )
    return name
