"""Tools of MCP servers that members offer: the mesh has a document, what may be called is in the owner's file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from covey.contract.mesh_services.mcp import CALLED, DEPLOYED, LONGEST_CALL_S
from covey.kernel.clock import timestamp
from covey.mesh.authority.register import READER
from covey.mesh.messages.requests import PeerRequests
from covey.mesh.services.mcp.registered import Registered, Registrations, check_server_name, check_transport
from covey.mesh.services.mcp.servers import ServerFailed, ToolServers
from covey.mesh.services.owned import OwnedDocuments
from covey.mesh.services.service import Service
from murli import AgentError, not_found, permission_denied, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.messages.requests import Asked
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings

FILE = "mcp.json"
CALL = "mcp.call"
EVERY = "*"
LARGEST_ARGS = 128 * 1024
LARGEST_OFFER = 128 * 1024
LONGEST_DESCRIPTION = 2000
MARGIN_S = 0.5
"""How much less than the caller waits a tool gets, so that the caller learns what became of it."""


class _Tool(Struct, frozen=True, kw_only=True):
    """A tool as the mesh sees it."""

    name: Annotated[str, Meta(min_length=1, max_length=256)]
    description: str = ""
    input_schema: dict[str, Any] = {}


class _Offer(Struct, frozen=True, kw_only=True):
    """What a document holds."""

    description: str
    open: bool
    tools: list[_Tool]


class _Arguments(Struct, frozen=True, kw_only=True):
    """What another member's peer asks for."""

    server: str
    tool: str
    args: dict[str, Any] = {}


class Mcp(Service):
    """The service `mcp`. A document has the key `<owner>/<server>` and tells which tools there are."""

    name = "mcp"
    exported = False
    """An offer is worth nothing without its owner's peer."""

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._owned = OwnedDocuments(documents, surroundings.directory, self.name, "server")
        self._registered = Registrations(str(Path(surroundings.context.seat.directory) / FILE))
        self.servers = ToolServers(surroundings.context.clock.monotonic)
        self._requests = PeerRequests(
            link=surroundings.link,
            keys=surroundings.keys,
            directory=surroundings.directory,
            now=documents.now,
            answer=self._asked,
        )

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.mcp.register": self.register,
            "mesh.mcp.unregister": self.unregister,
            "mesh.mcp.list": self.list,
            "mesh.mcp.call": self.call,
        }

    def allows(self, key: str, author: str) -> bool:
        """Return whether it is the author's own server."""
        return self._owned.allows(key, author)

    async def run(self) -> None:
        """End servers that nobody uses."""
        await self.servers.run(self.surroundings.context.clock.sleep)

    async def serve(self, session: Session) -> None:
        """Answer calls of other members."""
        await self._requests.serve(session)

    async def register(self, call: Call) -> dict[str, Any]:
        """Offer a server, after asking it for its tools."""
        params = call.params
        name = check_server_name(params["server_name"])
        wanted: list[str] = params["tools"] or []
        if not wanted:
            raise user_error("no tool is named", "Name each tool that may be called, or * for all.", field="tools")
        find = self.surroundings.directory.find
        members = [find(one) for one in params["members"]] if params["members"] else None
        server = Registered(
            name=name,
            description=params["description"],
            transport=check_transport(params["transport"]),
            tools=[],
            members=members,
            at=self.surroundings.context.clock.time(),
        )
        call.note(about=name, outcome=server.kind)
        await self.servers.end(name)
        try:
            return await self._register(server, wanted)
        except BaseException:
            await self.servers.end(name)  # what runs is not what is registered
            raise

    async def _register(self, server: Registered, wanted: list[str]) -> dict[str, Any]:
        tools = await self._tools_of(server, wanted)
        offer = _Offer(description=server.description, open=server.members is None, tools=tools)
        value = msgspec.to_builtins(offer)
        if len(msgspec.json.encode(value)) > LARGEST_OFFER:
            raise user_error(f"the tools need more than {LARGEST_OFFER} bytes", "Offer fewer of them.", field="tools")
        document = await self.documents.put(self.name, self._owned.key(server.name), value)
        self._registered.put(msgspec.structs.replace(server, tools=[tool.name for tool in tools]))
        return self._entry(document, schemas=True)

    async def _tools_of(self, server: Registered, wanted: list[str]) -> list[_Tool]:
        """Return the tools that are to be offered. Raises AgentError if the server does not have them."""
        try:
            found = msgspec.convert(await self.servers.tools(server), list[_Tool])
        except ServerFailed as error:
            detail = f": {error.detail}" if error.detail else ""
            raise tool_error(f"{error.message}{detail}", "Try the command or the address by itself.") from None
        except msgspec.ValidationError as error:
            raise tool_error(
                f"the tools of {server.name} do not have their form: {error}", "Mend the server."
            ) from None
        known = {tool.name: tool for tool in found}
        missing = [name for name in wanted if name not in known and name != EVERY]
        if missing or not known:
            has = ", ".join(sorted(known)) or "none"
            raise not_found(f"{server.name} has no tool {', '.join(missing)}", f"It has: {has}.", field="tools")
        names = known if EVERY in wanted else dict.fromkeys(wanted)
        return [
            msgspec.structs.replace(known[name], description=known[name].description[:LONGEST_DESCRIPTION])
            for name in names
        ]

    async def unregister(self, call: Call) -> dict[str, Any]:
        """Take a server back: first here, so that it is not called any more, then in the mesh."""
        name = call.params["server_name"]
        present = self.documents.get(self.name, self._owned.key(name))
        if name not in self._registered.all() and present is None:
            raise not_found(f"no server {name!r} is registered", "See `covey mesh mcp list`.", field="server_name")
        self._registered.drop(name)
        await self.servers.end(name)
        if present is not None:
            await self.documents.put(self.name, present.key, None)
        return {"server": name}

    async def list(self, call: Call) -> dict[str, Any]:
        """Return what members offer."""
        reference = call.params["server"]
        if reference is not None:
            return {"items": [self._entry(self._owned.find(reference), schemas=True)]}
        found = [self._readable(document) for document in await self._owned.all()]
        return {"items": [one for one in found if one is not None]}

    async def call(self, call: Call) -> dict[str, Any]:
        """Call a tool, here or at its owner's peer."""
        params = call.params
        document = self._owned.find(params["server"])
        server, owner, tool = self._owned.name_in(document.key), document.author, params["tool"]
        call.note(about=f"{tool} of {server} at {self.name_of(owner)}")
        args = params["args"] or {}
        if len(msgspec.json.encode(args)) > LARGEST_ARGS:
            raise user_error(f"the arguments have more than {LARGEST_ARGS} bytes", "Share a file.", field="args")
        offered = [one.name for one in _offer(document).tools]
        if tool not in offered:
            raise not_found(f"{server} has no tool {tool!r}", f"It has: {', '.join(offered)}.", field="tool")
        clock = self.surroundings.context.clock
        began, timeout_s = clock.monotonic(), params["timeout_s"]
        outcome = "answered"
        try:
            if owner == self.documents.member:
                answer = await self._perform(owner, _Arguments(server=server, tool=tool, args=args), timeout_s)
            else:
                asked = {"server": server, "tool": tool, "args": args}
                answer = _answer(await self._requests.ask(owner, CALL, asked, timeout_s=timeout_s))
        except AgentError as error:
            outcome = error.error
            raise
        finally:
            ms = round((clock.monotonic() - began) * 1000, 1)
            if owner != self.documents.member:
                await self._audit(server, tool, owner, "out", outcome, ms)
        whose = {"server": server, "tool": tool, "owner": owner, "owner_name": self.name_of(owner)}
        return {**whose, **answer, "ms": ms}

    async def _asked(self, asked: Asked) -> Any:
        """Perform what another member's peer asks for. Raises AgentError, which it is told."""
        if asked.what != CALL:
            raise user_error(f"this peer does not know the request {asked.what[:100]!r}", "Update one of the peers.")
        try:
            wanted = msgspec.convert(asked.arguments, _Arguments)
        except msgspec.ValidationError as error:
            raise user_error(f"the call does not have its form: {error}") from None
        clock = self.surroundings.context.clock
        began, outcome = clock.monotonic(), "answered"
        try:
            return await self._perform(asked.member, wanted, min(asked.timeout_s, LONGEST_CALL_S) - MARGIN_S)
        except AgentError as error:
            outcome = error.error
            raise
        finally:
            ms = round((clock.monotonic() - began) * 1000, 1)
            await self._audit(wanted.server[:100], wanted.tool[:256], asked.member, "in", outcome, ms)

    async def _perform(self, member: str, wanted: _Arguments, timeout_s: float) -> dict[str, Any]:
        """Call a tool of a server of this member, if the caller may. Raises AgentError."""
        server = self._registered.all().get(wanted.server)
        if server is None:
            raise not_found(f"no server {wanted.server[:100]!r} is registered here", "See `covey mesh mcp list`.")
        if member != self.documents.member:
            self._check_caller(member, server)
        if wanted.tool not in server.tools:
            raise permission_denied(
                f"its owner does not offer {wanted.tool[:100]!r} of {server.name}", "See `covey mesh mcp list`."
            )
        if timeout_s <= 0 or len(msgspec.json.encode(wanted.args)) > LARGEST_ARGS:
            raise user_error("the call has no time left, or too large arguments", "Call it with less.")
        return await self.servers.call(server, wanted.tool, wanted.args, timeout_s)

    def _check_caller(self, member: str, server: Registered) -> None:
        record = self.surroundings.directory.members.get(member)
        if record is None or record.revoked_at is not None or record.role == READER:
            raise permission_denied("readers and former members may not call tools", "Ask an admin of the mesh.")
        if server.members is not None and member not in server.members:
            raise permission_denied(
                f"its owner has not allowed you to call {server.name}",
                f"Ask @{self.name_of(self.documents.member)} to name you: covey mesh mcp register --members …",
            )

    async def changed(self, change: Change) -> None:
        """Tell of a server that is offered, or is not any more."""
        document, removed = change.document, change.document.value is None
        shown = change.before if removed else document
        entry = self._readable(shown) if shown is not None and shown.value is not None else None
        if entry is None:
            return
        data = {name: entry[name] for name in ("server", "description", "owner", "owner_name")}
        data |= {"tools": [tool["name"] for tool in entry["tools"]], "removed": removed}
        await self.surroundings.context.events.append(DEPLOYED, entry["server"], data, source="mesh")

    async def _audit(self, server: str, tool: str, member: str, direction: str, outcome: str, ms: float) -> None:
        data = {"server": server, "tool": tool, "member": member, "member_name": self.name_of(member)}
        how = {"direction": direction, "outcome": outcome, "ms": ms}
        await self.surroundings.context.events.append(CALLED, server, {**data, **how}, source="mesh")

    def _readable(self, document: Document) -> dict[str, Any] | None:
        try:
            return self._entry(document, schemas=False)
        except AgentError:
            return None

    def _entry(self, document: Document, *, schemas: bool) -> dict[str, Any]:
        offer = _offer(document)
        return {
            "server": self._owned.name_in(document.key),
            "description": offer.description,
            "owner": document.author,
            "owner_name": self.name_of(document.author),
            "own": document.author == self.documents.member,
            "open": offer.open,
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.input_schema if schemas else None,
                }
                for tool in offer.tools
            ],
            "revision": document.revision,
            "at": timestamp(document.at),
        }


def _offer(document: Document) -> _Offer:
    """Return what a document offers. Raises AgentError if it was not written by a peer like this one."""
    try:
        return msgspec.convert(document.value, _Offer)
    except msgspec.ValidationError:
        raise tool_error(f"the offer {document.key} cannot be read", "Its owner may have a newer version.") from None


def _answer(found: Any) -> dict[str, Any]:
    """Return what another peer has answered, if it has its form. Raises AgentError."""
    try:
        answer = msgspec.convert(found, _Answered)
    except msgspec.ValidationError:
        raise tool_error(
            "the answer of the other peer does not have its form", "It may be of another version."
        ) from None
    return {"is_error": answer.is_error, "content": answer.content, "structured": answer.structured}


class _Answered(Struct, frozen=True, kw_only=True):
    is_error: bool
    content: list[dict[str, Any]]
    structured: dict[str, Any] | None = None
