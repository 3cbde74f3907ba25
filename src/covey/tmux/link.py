"""Our foothold in one tmux server: a hidden session, the control client attached to it, and the hooks that wake the client."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from covey.tmux import hooks, listing, sessions
from covey.tmux.control import ControlClient
from covey.tmux.errors import TmuxError, TmuxRefusedError, TmuxTimeoutError
from covey.tmux.server import IDENTITY, Identity, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Self

    from covey.tmux.listing import Pane, Pulse
    from covey.tmux.protocol import Notice
    from covey.tmux.server import Address

OPEN_S = 15.0
"""For the first answer: over ssh a connection is made first, and a login shell starts."""
CLIENT_FLAGS = "ignore-size"
"""Of the client; what it is shown is only the output of its own session: the echo of the hooks."""
BELL = ("sh", "-c", "exec cat >/dev/null")
"""What runs in the hidden session: it takes the keys that the hooks press, so that the terminal goes on echoing them."""
ATTACHED = "session-changed"
WAKING = {
    "output", "sessions-changed", "session-renamed", "window-renamed", "unlinked-window-add", "unlinked-window-close", "unlinked-window-renamed",
    "pane-mode-changed", "client-session-changed", "client-detached",
}  # fmt: skip
# Whatever the hooks miss (a session's own hook shadows ours, a pane is respawned, a program starts in a shell) shows here.
# No commas: inside #{P:} they would part active from inactive panes. Control characters are taken out of it all at once: tmux compiles the pattern each time.
_GLANCE = f"#{{s/{listing.CONTROL}/?/:#{{S:#{{W:#{{P:#{{pane_id}} #{{pane_pid}} #{{pane_dead}} #{{pane_current_command}}|}}}}}}}}}}"


class Link:
    """An open foothold. `woken` is called whenever something may have changed.

    Closing removes the session and the hooks. When this process is killed the session goes with its client; hook entries that are left do nothing, and
    the next link removes them.
    """

    def __init__(self, address: Address, woken: Callable[[], None]) -> None:
        self.session = listing.HIDDEN_PREFIX + secrets.token_hex(4)
        self.identity = Identity(0, 0)
        self._address = address
        self._woken = woken
        self._session_id = ""
        self._stands = asyncio.Event()
        self._client: ControlClient | None = None
        self._strayed = False
        self._seen: list[str] = []

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def client(self) -> ControlClient:
        assert self._client, "the link is not open"
        return self._client

    async def command(self, *words: str) -> list[str]:
        return await self.client.command(*words)

    async def panes(self) -> dict[str, Pane]:
        return listing.panes(await self.command(*listing.arguments()))

    async def pulses(self, only: Collection[str], *, of: int) -> tuple[int, dict[str, Pulse]]:
        """The server's own clock, read first, and how those among so many panes are that are still there."""
        clock, *told = await self.client.each(("display-message", "-p", "%s"), *listing.pulse_arguments(only, of=of))
        if isinstance(clock, TmuxRefusedError):
            raise clock
        return int(clock[0]), listing.pulses(line for lines in told if not isinstance(lines, TmuxRefusedError) for line in lines)

    async def glance(self) -> bool:
        """Whether anything is other than at the last glance; hooks that were overwritten are put back. Cheap: two lines, however many panes.

        Asked for and not subscribed to: tmux 3.3a crashes when the session of a client with a subscription is killed and the client lingers.
        """
        topology, shown = await self.client.commands(
            ("display-message", "-p", _GLANCE), ("display-message", "-p", "-t", f"={self.session}:", hooks.probe(self.session))
        )
        if hooks.overwritten(shown[0], self.session):
            await self.client.commands(*hooks.set_all(self.session))
        before, self._seen = self._seen, topology
        return topology != before

    async def tidy(self) -> None:
        """After notices: see to people who have strayed into our session."""
        if self._strayed:
            self._strayed = False
            await self._usher()

    async def unwanted(self, panes: Collection[Pane]) -> bool:
        """Whether the server would exit, as its options say, were it not for us."""
        if any(pane.attached for pane in panes):
            return False
        exits = (await self.command("display-message", "-p", "#{exit-empty} #{exit-unattached}"))[0].split()
        return (not panes and exits[0] == "1") or exits[1] == "1"

    async def aclose(self) -> None:
        """Leave no trace. What cannot be undone any more, because the server is gone or stuck, is left to the next link."""
        if self._client is None:
            return
        with contextlib.suppress(TmuxError):
            await self._client.commands(*hooks.unset_all(self.session))
            await self._client.command("kill-session", "-t", f"={self.session}")
        await self._client.aclose()

    async def _open(self) -> None:
        make = ("new-session", "-E", "-s", self.session, "-f", CLIENT_FLAGS, "--", *BELL)
        self._client = client = ControlClient(await self._address.control(*make, ";", *hooks.set_first(self.session)), self._notice)
        self.identity = identity("".join(await client.command("display-message", "-p", IDENTITY, deadline_s=OPEN_S)))
        await _attached(client, self._stands)
        await self._hook()

    async def _hook(self) -> None:
        """Set the hooks, and remove what Coveys that were killed have left."""
        global_hooks, window_hooks, there = await self.client.commands(
            ("show-hooks", "-g"), ("show-hooks", "-gw"), ("list-sessions", "-F", "#{session_attached} #{session_name}")
        )
        names = [line.partition(" ")[2] for line in there]
        left = [name for name in names if name.startswith(listing.HIDDEN_PREFIX) and f"0 {name}" in there]
        found = hooks.entries(global_hooks + window_hooks)
        if any(entry.place == hooks.place(self.session) and entry.session != self.session and entry.session in names for entry in found):
            raise TmuxRefusedError("another Covey has the same place among the hooks")
        for name in left:
            with contextlib.suppress(TmuxRefusedError):  # it has gone by itself
                await self.command("kill-session", "-t", f"={name}")
        await self.client.commands(*map(hooks.unset, hooks.dead(found, set(names) - set(left))))
        await self.client.commands(*hooks.set_all(self.session))

    def _notice(self, notice: Notice) -> None:
        if notice.name == ATTACHED:
            self._session_id = notice.rest.partition(" ")[0]
            self._stands.set()
        if notice.name not in WAKING:
            return
        self._strayed |= notice.name == "client-session-changed" and self._session_id in notice.rest.split(" ")
        self._woken()

    async def _usher(self) -> None:
        """A person switched into our session, by walking through all of them or because tmux chose it: lead them out."""
        clients = await self.command("list-clients", "-t", f"={self.session}", "-F", "#{client_control_mode} #{client_name} #{client_last_session}")
        strayed = [line.split(" ", 2)[1:] for line in clients if line.startswith("0 ")]
        if not strayed:
            return
        there = sessions.parse(await self.command("list-sessions", "-F", sessions.FORMAT))
        for client, came_from in strayed:
            if goal := sessions.way_out(there, self.session, came_from):
                with contextlib.suppress(TmuxRefusedError):  # they have left by themselves
                    await self.command("switch-client", "-c", client, "-t", goal.id)


async def _attached(client: ControlClient, there: asyncio.Event) -> None:
    """Wait until a client has its session: tmux may answer what is typed before it runs what the client was started with."""
    client.over.add_done_callback(lambda _: there.set())
    try:
        async with asyncio.timeout(OPEN_S):
            await there.wait()
    except TimeoutError:
        raise TmuxTimeoutError(f"tmux attached no session within {OPEN_S:g} s") from None
    if client.over.done():
        raise await client.ended()
