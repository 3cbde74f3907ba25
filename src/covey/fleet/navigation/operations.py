"""What the daemon does to bring people to agents and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.fleet.actions.refusal import TARGET_UNREACHABLE, Refusal
from covey.fleet.actions.snapshot import take
from covey.fleet.navigation.places import Place, Places
from covey.fleet.navigation.way import changed, find
from covey.kernel.operations.call import Caller
from covey.tmux.clients import client_at, clients, detach, ring, show_message, switch, switch_back
from covey.tmux.errors import TmuxError, TmuxRefusedError
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.fleet.fleet import Fleet
    from covey.fleet.navigation.way import Way
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context
    from covey.tmux.clients import TmuxClient
    from covey.tmux.typing import Command

WAITING = frozenset({"approval", "question", "error"})
"""The kinds of attention items in which an agent waits for a person."""
CLIENT_NOT_FOUND = "client_not_found"
NO_PLACE = "no_place"
PLACE_GONE = "place_gone"
MOST = 1000
"""Items that are asked for: as many as a list may have."""


class Inside(Struct, frozen=True):
    """The tmux that somebody is in, as their environment has it."""

    socket: str
    server_pid: int
    session_id: str
    pane_id: str

    @classmethod
    def of(cls, text: str) -> Inside | None:
        """Return what TMUX and TMUX_PANE say, with a comma between; None if they say nothing. Raises AgentError."""
        if not text:
            return None
        parts = text.rsplit(",", 3)
        if len(parts) != 4 or not parts[1].isdecimal() or not parts[2].isdecimal():  # noqa: PLR2004 - as above
            raise user_error(f"{text[:100]!r} is not the value of TMUX", "Leave it out.", field="tmux")
        return cls(parts[0], int(parts[1]), f"${parts[2]}", parts[3])

    def is_in(self, way: Way) -> bool:
        """Return whether this is the tmux server of an agent."""
        same_socket = os.path.realpath(self.socket) == os.path.realpath(way.socket)
        return way.here and same_socket and self.server_pid == way.pane.server_pid


class NavigationOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, fleet: Fleet, context: Context) -> None:
        self._fleet = fleet
        self._clock = context.clock
        self._dispatcher = context.dispatcher
        self._places = Places(context.store)
        config: str = context.config.current.get("fleet.ssh_config")
        self._ssh_options = ("-F", config) if config else ()

    def handlers(self) -> Mapping[str, Handler]:
        return {"attach": self.attach, "next": self.next, "back": self.back, "tmux.alert": self.alert}

    async def attach(self, call: Call) -> dict[str, Any]:
        return await self._go(self._way(call.params), call.params)

    async def next(self, call: Call) -> dict[str, Any]:
        listed = await self._dispatcher.call("attention.list", {"limit": MOST}, Caller("internal", subsystem="fleet"))
        found = [(item, way) for item in listed["items"] if (way := self._way_to(item)) is not None]
        if not found:
            return {"item": None, "attachment": None}
        if call.params["client"]:  # which shows agents of its own tmux server only
            found = [one for one in found if await self._is_shown_by(call.params["client"], one[1])] or found
        item, way = found[await self._number_after_here([way for _, way in found], call.params)]
        return {"item": item, "attachment": await self._go(way, call.params)}

    async def back(self, call: Call) -> dict[str, Any]:
        place = await self._place(call.params)
        command = self._command(place.socket)
        try:
            if place.origin:
                shown = await switch_back(command, place.client, place.origin)
            else:
                shown = ""
                await detach(command, place.client)
        except TmuxRefusedError as error:
            raise Refusal(
                PLACE_GONE,
                f"{place.client} cannot return to where it was: {error}",
                "Choose a session: tmux choose-tree",
            ) from error
        except TmuxError as error:
            raise _unreachable(place.socket, error) from error
        await self._places.forget(place)
        return {"client": place.client, "place": shown, "detached": not place.origin}

    async def alert(self, call: Call) -> dict[str, Any]:
        local = self._fleet.watches.local
        alerted, problems = 0, []
        for socket in local.status.sockets if local else ():
            command = self._command(socket)
            try:
                attached = await clients(command)
            except TmuxError as error:
                problems.append(f"{socket}: {error}")
                continue
            for client in attached:
                try:
                    await _alert(command, client, call.params)
                    alerted += 1
                except (TmuxError, OSError) as error:
                    problems.append(f"{client.name}: {error}")
        return {"clients": alerted, "problems": problems}

    # Going there.

    def _way(self, params: Mapping[str, Any]) -> Way:
        return find(self._fleet, take(self._fleet, params, self._clock.time()), self._ssh_options)

    def _way_to(self, item: Mapping[str, Any]) -> Way | None:
        """Return the way to the agent of an attention item; None if there is no such agent, or no way to it."""
        runtime_id = item["data"].get("runtime_id")
        if item["kind"] not in WAITING or runtime_id not in self._fleet.sources:
            return None
        try:
            return self._way({"ref": f"runtime:{runtime_id}"})
        except AgentError:
            return None

    async def _go(self, way: Way, params: Mapping[str, Any]) -> dict[str, Any]:
        """Bring a tmux client to an agent if there is one in the same server; else a terminal is to attach."""
        inside = Inside.of(params["tmux"] or "")
        if params["client"] or (inside is not None and inside.is_in(way)):
            return way.as_dict(client=await self._switch(way, params["client"] or "", inside))
        if way.here and params["terminal"]:
            await self._remember(way, params["terminal"], "")
        return way.as_dict(nested=inside is not None)

    async def _switch(self, way: Way, name: str, inside: Inside | None) -> str:
        """Switch a client to an agent and return its name. Raises Refusal if there is no such client or agent."""
        command = self._command(way.socket)
        try:
            client = await self._client(way, name, inside)
            if client.place != way.pane.place:
                before = await self._places.of_client(client.name, way.server)
                was_brought = bool(before) and before[0].destination == client.pane_id
                # Only somebody who has not gone elsewhere since is still on the same errand.
                await self._remember(way, client.name, before[0].origin if was_brought else client.place)
            if not await switch(command, client.name, way.pane):
                raise changed(way.snapshot)
        except TmuxError as error:
            raise _unreachable(way.snapshot.ref, error) from error
        return client.name

    async def _client(self, way: Way, name: str, inside: Inside | None) -> TmuxClient:
        attached = await clients(self._command(way.socket)) if way.here else []
        if name:
            found = next((client for client in attached if client.name == name), None)
        else:
            found = client_at(attached, inside.session_id, inside.pane_id) if inside else None
        if found is None:
            who = f"no client {name!r}" if name else "no client of yours"
            raise Refusal(
                CLIENT_NOT_FOUND,
                f"there is {who} in the tmux server of {way.snapshot.ref}",
                f"Attach from a terminal: covey attach runtime:{way.snapshot.runtime.runtime_id}",
            )
        return found

    async def _is_shown_by(self, client: str, way: Way) -> bool:
        """Return whether this client is attached to the tmux server of an agent."""
        try:
            return bool(await self._client(way, client, None))
        except (Refusal, TmuxError):
            return False

    async def _remember(self, way: Way, client: str, origin: str) -> None:
        await self._places.put(
            Place(
                server=way.server,
                client=client,
                socket=way.socket,
                origin=origin,
                destination=way.pane.pane_id,
                at=self._clock.time(),
            )
        )

    async def _number_after_here(self, ways: Sequence[Way], params: Mapping[str, Any]) -> int:
        """Return which of these agents comes after the one that the person is at; 0 if they are at none of them."""
        inside = Inside.of(params["tmux"] or "")
        for number, way in enumerate(ways):
            if not way.here or not (params["client"] or (inside is not None and inside.is_in(way))):
                continue
            try:
                client = await self._client(way, params["client"] or "", inside)
            except (Refusal, TmuxError):
                continue
            if client.pane_id == way.pane.pane_id:
                return (number + 1) % len(ways)
        return 0

    # Coming back.

    async def _place(self, params: Mapping[str, Any]) -> Place:
        """Return the place of the client that asks. Raises AgentError if it is not known."""
        inside = Inside.of(params["tmux"] or "")
        name, server = params["client"] or "", ""
        if inside is not None:
            try:
                attached = await clients(self._command(inside.socket))
                (line,) = await self._command(inside.socket)("display-message", "-p", "#{pid}.#{start_time}")
            except (TmuxError, ValueError) as error:
                raise _unreachable(inside.socket, error) from error
            server = line
            client = client_at(attached, inside.session_id, inside.pane_id)
            name = name or (client.name if client else "")
        if not name:
            raise user_error(
                "you are not in tmux, so there is nothing to return from",
                "Call it in a pane, or name the tmux client with --client.",
                error="not_in_tmux",
            )
        found = await self._places.of_client(name, server)
        if len(found) != 1:
            raise Refusal(NO_PLACE, f"{name} was not brought anywhere by Covey", "Go somewhere first: covey next")
        return found[0]

    def _command(self, socket: str) -> Command:
        """Return what runs commands in a tmux server of this machine."""
        local = self._fleet.watches.local
        if local is None:
            raise Refusal(TARGET_UNREACHABLE, "this machine is not watched", "covey target list")
        known = {os.path.realpath(path): path for path in local.status.sockets}
        path = known.get(os.path.realpath(socket), socket)

        async def command(*words: str) -> list[str]:
            return await local.command(path, *words)

        return command


async def _alert(command: Command, client: TmuxClient, params: Mapping[str, Any]) -> None:
    if params["text"]:
        await show_message(command, client, params["text"])
    if params["bell"]:
        ring(client)


def _unreachable(what: str, error: Exception) -> Refusal:
    return Refusal(TARGET_UNREACHABLE, f"the tmux server of {what} cannot be asked: {error}", "covey status")
