"""The clients that are attached to a tmux server: people at their terminals. They can be shown a pane, and alerted."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.tmux.errors import TmuxRefusedError, TmuxUnreadableError
from covey.tmux.format_text import all_of, equal, message, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.tmux.typing import Command

MESSAGE_MS = 4000
"""How long a message stands on the message line, unless a key is pressed. Older tmux draws nothing else meanwhile."""
BELL = b"\a"
WENT, REFUSED = "covey-went", "covey-refused"
_FIELDS = (
    "client_name", "client_tty", "client_activity", "client_control_mode", "session_id", "window_id", "pane_id",
)  # fmt: skip
_FORMAT = "\t".join(f"#{{{field}}}" for field in _FIELDS)


class TmuxClient(Struct, frozen=True):
    """A terminal that is attached to a session, and what it shows."""

    name: str
    tty: str
    activity: int
    """The second in which a key was last pressed there."""
    session_id: str
    window_id: str
    pane_id: str
    """The pane that gets its keys."""

    @property
    def place(self) -> str:
        """What it shows, as a target of tmux commands."""
        return f"{self.session_id}:{self.window_id}.{self.pane_id}"


class LivingPane(Struct, frozen=True, kw_only=True):
    """One life of a pane, which must not have ended when a client goes there."""

    server_pid: int
    server_started: int
    session_id: str
    window_id: str
    pane_id: str
    pane_pid: int
    """The first process of the pane."""

    @property
    def place(self) -> str:
        """Its session, window and pane, as a target of tmux commands. Names of sessions may have colons."""
        return f"{self.session_id}:{self.window_id}.{self.pane_id}"

    @property
    def condition(self) -> str:
        """The format that is true as long as it lives."""
        return all_of(
            [
                equal("pid", str(self.server_pid)),
                equal("start_time", str(self.server_started)),
                equal("pane_id", self.pane_id),
                equal("pane_pid", str(self.pane_pid)),
                equal("pane_dead", "0"),
            ]
        )


async def clients(command: Command) -> list[TmuxClient]:
    """Return the attached clients that are terminals, the one with the latest key first. Raises TmuxError."""
    found = []
    for line in await command("list-clients", "-F", _FORMAT):
        fields = line.split("\t")
        if len(fields) != len(_FIELDS):
            continue  # a hook of the user may print more
        name, tty, activity, control, *place = fields
        if tty and control != "1":
            found.append(TmuxClient(name, tty, int(activity), *place))
    return sorted(found, key=lambda client: client.activity, reverse=True)


def client_at(attached: Sequence[TmuxClient], session_id: str, pane_id: str) -> TmuxClient | None:
    """Return the client of whoever works in a pane, or in a session if no client shows that pane; None without one."""
    shows = [client for client in attached if pane_id and client.pane_id == pane_id]
    return next(iter(shows or [client for client in attached if client.session_id == session_id]), None)


async def switch(command: Command, client: str, pane: LivingPane) -> bool:
    """Have a client show a pane, if it still lives. Returns whether it does. Raises TmuxError."""
    lines = await command(
        "if-shell",
        "-F",
        "-t",
        pane.pane_id,
        pane.condition,
        f"switch-client -Z -c {quoted(client)} -t {quoted(pane.place)} ; display-message -p {WENT}",
        f"display-message -p {REFUSED}",
    )
    if WENT in lines or REFUSED in lines:
        return WENT in lines
    raise TmuxUnreadableError(f"tmux did not say whether it switched: {lines[:3]!r}")


async def switch_back(command: Command, client: str, place: str) -> str:
    """Have a client show a place again: its pane, else its window, else its session. Returns what it shows now.

    Raises TmuxRefusedError if not even the session is left, another TmuxError if the server cannot be asked.
    """
    session, _, rest = place.partition(":")
    window = rest.partition(".")[0]
    for left in (place, f"{session}:{window}"):
        try:
            await command("switch-client", "-Z", "-c", client, "-t", left)
        except TmuxRefusedError:
            continue
        return left
    await command("switch-client", "-c", client, "-t", session)
    return session


async def detach(command: Command, client: str) -> None:
    """Detach a client: its terminal returns to where it was attached. Raises TmuxError."""
    await command("detach-client", "-t", client)


async def show_message(command: Command, client: TmuxClient, text: str) -> None:
    """Show a text on the message line of a client. Raises TmuxError."""
    await command("display-message", "-c", client.name, "-d", str(MESSAGE_MS), message(text))


def ring(client: TmuxClient) -> None:
    """Ring the bell of the terminal of a client. Raises OSError.

    One byte is written to the terminal's output, as write(1) would do, not to the input of any pane.
    """
    descriptor = os.open(client.tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        if not stat.S_ISCHR(os.fstat(descriptor).st_mode) or not os.isatty(descriptor):
            raise OSError(f"{client.tty} is not a terminal")
        os.write(descriptor, BELL)
    finally:
        os.close(descriptor)


def attach_words(pane: LivingPane, refusal: str, code: int) -> list[str]:
    """Return the words for the tmux program that attach a terminal to a pane, if it still lives.

    Otherwise a refusal is printed, and the program ends with a code.
    """
    return [
        "if-shell",
        "-F",
        "-t",
        pane.pane_id,
        pane.condition,
        f"attach-session -t {quoted(pane.place)}",
        f"display-message -p {quoted(message(refusal))} ; run-shell {quoted(f'exit {code}')}",
    ]
