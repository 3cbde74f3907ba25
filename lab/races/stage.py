"""Where races of one agent take place: a tmux server, the agent in a shell of it, and a daemon that watches it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import processes
from lab.person import Person
from lab.play import environment_of
from lab.races.node import COVEY, Node
from lab.races.race import has_token
from lab.size import DEFAULT
from lab.sshd import Sshd
from lab.terminal import Terminal, TerminalError
from murli import AgentError

if TYPE_CHECKING:
    from lab.races.race import Found, Race, Sent
    from lab.races.subjects import Subject

FAR = "far"
SESSION = "race"
SHELL = ("bash", "--norc", "--noprofile")
LIMIT_S = 60.0
ARRIVES_S = 5.0
"""How long the model of an agent may take to be told what the agent has."""
LOOK_S = 0.05
LONGEST_S = 2.0
"""What of a send is counted: an agent that does not report the prompt is waited for much longer."""
KEY_S = 1.0
"""How long an agent is given to draw what a key does."""
RESETS = 40
AROUND = 60
"""How many of the last texts may still be delivered late."""


class StageError(RuntimeError):
    """A race could not be held: what it needs did not come about."""


class Stage:
    """One agent, its pane, and the daemon. With `far`, the daemon reaches the tmux server over ssh.

    With `far_node` there is a Covey on the other host too, to which the agent's hooks belong.
    """

    def __init__(
        self, folder: Path, subject: Subject, *, mark: str, path: str = "", far: bool = False, far_node: bool = False
    ) -> None:
        self.folder = folder
        self.subject = subject
        self.markers = folder / "executed"
        self.usual_s = 0.2
        """How long a send takes here if nothing happens."""
        self.link: Sshd | None = None
        self._far = far
        self._starter = folder / "start"
        environment = environment_of(folder, mark)
        if path:
            environment["PATH"] = f"{path}:{environment['PATH']}"
        if "PYTHONPATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self.environment = {**environment, "TMUX_TMPDIR": str(folder), "HISTFILE": os.devnull, "TERM": "xterm-256color"}
        sockets = folder / f"tmux-{os.getuid()}"
        sockets.mkdir(mode=0o700, parents=True)
        self.terminal = Terminal(sockets / "default", self.environment)
        seen = folder / "nothing" if far else folder
        self.node = Node(folder / "covey", {**self.environment, "TMUX_TMPDIR": str(seen)})
        self.far_node = Node(folder / "far-covey", self.environment) if far_node else None
        self.pane = ""
        self._texts: list[str] = []

    async def open(self) -> None:
        for folder in (self.markers, self.folder / "nothing", self.folder / "home", self.folder / "tmp"):
            folder.mkdir(exist_ok=True)
        own = self.far_node or self.node
        for home in {self.node.home, own.home}:
            home.mkdir(mode=0o700)
        self._starter = self.subject.prepare(own.home)
        if self._far:
            wanted = ("PATH", "HOME", "TMUX_TMPDIR", "PYTHONPATH")
            kept = {name: self.environment[name] for name in wanted if name in self.environment}
            if self.far_node:
                kept["PATH"] = f"{Path(COVEY).parent}:{kept['PATH']}"
                kept["COVEY_HOME"] = str(own.home)
            self.link = await asyncio.to_thread(Sshd, self.folder, FAR, **kept)
            (self.node.home / "config.toml").write_text(f'[fleet]\nssh_config = "{self.folder}/ssh_config"\n')
        await self.start_server()
        for node in {self.node, own}:
            await node.up()
        if self._far:
            await self.node.command("target", "add", FAR, "--kind", "ssh")
            await self.node.command("target", "connect", FAR)
        await self.start_agent()
        self.calibrate(await self.node.send(self.ref, "calibration", "race nobody"))

    async def close(self) -> None:
        for node in filter(None, (self.node, self.far_node)):
            await node.down()
        if self.link:
            self.link.let_in()
            self.link.close()
        self.end_agent()
        with contextlib.suppress(TerminalError):
            await self.terminal.run("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def ref(self) -> str:
        return f"{FAR}/{self.pane}" if self._far else self.pane

    async def start_server(self) -> None:
        """Start the tmux server with a shell in the second pane; it has the same id after every start."""
        size = ["-x", str(DEFAULT.columns), "-y", str(DEFAULT.rows)]
        await self.terminal.run("new-session", "-d", "-s", "rest", *size, "exec sleep 86400")
        out = await self.terminal.run("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", SESSION, *size, *SHELL)
        self.pane = out.strip()

    async def end_server(self) -> None:
        """Return when the server is gone."""
        pid = int(await self.terminal.run("display-message", "-p", "#{pid}"))
        with contextlib.suppress(TerminalError):
            await self.terminal.run("kill-server")
        while processes.alive(pid):
            await asyncio.sleep(LOOK_S)
        self.end_agent()

    async def start_agent(self) -> None:
        """Start the agent in its shell, and return when it takes a message."""
        await self.begin_agent()
        await self._free(self.subject.start_limit_s)

    async def begin_agent(self) -> None:
        """Start the agent in its shell, and return at once."""
        await self.terminal.run("send-keys", "-t", self.pane, f" {shlex.quote(str(self._starter))}", "Enter")

    def end_agent(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the agent with a signal to its group, or to itself if it is in the group of a script."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.folder / "pid").read_text())
            try:
                os.killpg(pid, number)
            except ProcessLookupError:
                os.kill(pid, number)

    async def respawn(self, *command: str) -> None:
        """Replace what runs in the pane."""
        await self.terminal.run("respawn-pane", "-k", "-t", self.pane, *command)

    async def restart(self) -> None:
        """Begin again with a new shell and a new agent."""
        self.end_agent()
        await self.respawn(*SHELL)
        await self.start_agent()

    async def start_from_script(self) -> None:
        """Start the agent from a script that goes on as a shell: under the same name, in the same process group."""
        self.end_agent()
        await self.respawn("sh", "-c", f"{shlex.quote(str(self._starter))}; exec sh")
        await self._free(self.subject.start_limit_s)

    def attach(self) -> Person:
        """Attach a person's terminal to the session."""
        tmux = shutil.which("tmux", path=self.environment["PATH"]) or "tmux"
        words = [tmux, "-u", "-S", str(self.terminal.socket), "attach-session", "-t", f"={SESSION}"]
        return Person(words, self.environment)

    async def screen(self) -> str:
        return await self.terminal.run("capture-pane", "-p", "-t", self.pane)

    async def ready(self) -> None:
        """Bring the agent to its prompt with an empty composer: leave modes and dialogs, delete drafts, or restart."""
        for _ in range(RESETS):
            if await self._settled():
                return
            await asyncio.sleep(0.15)
        await self.restart()

    async def _settled(self) -> bool:
        """Take one step towards an agent that takes a message. Returns whether it does."""
        try:
            if (await self._tmux("#{pane_in_mode}")) == "1":
                await self.terminal.run("send-keys", "-X", "-t", self.pane, "cancel")
            row, seen = await self._row_and_view()
        except TerminalError:
            await self.start_server()
            await self.start_agent()
            return False
        if row is None or seen is None:
            if not await self._agent_lives():
                await self.restart()
            return False
        if row["state"] in {"waiting_approval", "waiting_input"}:
            await asyncio.sleep(0.3)  # an Escape at once after the dialog was drawn is lost
            await self._press("Escape", seen["lines"])
        elif seen["composer"] == "draft":
            await self._press(self.subject.clear_key, seen["lines"])
        return seen["composer"] in {"empty", "suggestion"} and row["state"] in {"idle", "completed"}

    async def _press(self, key: str, before: list[str]) -> None:
        """Press a key, and wait until the screen has changed: pressed twice, the keys used here mean something else."""
        await self.terminal.run("send-keys", "-t", self.pane, key)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KEY_S):
                while True:
                    _, seen = await self._row_and_view()
                    if seen is None or seen["lines"] != before:
                        break
                    await asyncio.sleep(LOOK_S)
        await asyncio.sleep(self.subject.rests_s)

    async def _row_and_view(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        row = await self.node.row(self.pane)
        if row is None:
            return None, None
        with contextlib.suppress(AgentError):
            return row, await self.node.call("view", ref=self.ref)
        return row, None

    async def _agent_lives(self) -> bool:
        try:
            return processes.alive(int((self.folder / "pid").read_text())) and (await self._tmux("#{pane_dead}")) == "0"
        except (OSError, ValueError):
            return False

    async def _tmux(self, form: str) -> str:
        return (await self.terminal.run("display-message", "-p", "-t", self.pane, form)).strip()

    async def _free(self, limit_s: float) -> None:
        """Wait until Covey sees the agent at its prompt with an empty composer."""
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    row, seen = await self._row_and_view()
                    if (
                        row
                        and seen
                        and row["state"] in {"idle", "completed"}
                        and seen["composer"] in {"empty", "suggestion"}
                    ):
                        return
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            screen = await self.screen()
            raise StageError(
                f"{self.subject.name} is not at its prompt after {limit_s:g} s:\n{screen.rstrip()}"
            ) from None

    async def send(self, race: Race, text: str, arrives: str | None = None, *, part: int = 0, **more: Any) -> Sent:
        """Send a text that begins with the token of the race."""
        token = race.token if not part else f"{race.token}p{part}"
        self._texts.append(arrives or text)
        return await self.node.send(self.ref, token, text, arrives, **more)

    def calibrate(self, sent: Sent) -> None:
        """Learn from a send that nothing disturbed how long one takes."""
        if sent.rung:
            self.usual_s += 0.5 * (min(sent.seconds, LONGEST_S) - self.usual_s)

    async def look(self, sent: list[Sent], found: Found, since: int, approvals: int) -> Found:
        """Complete what was found with what the agent, the shell and the journal show."""
        found.approved = found.approved or self.subject.approvals() > approvals
        await self._await_told(sent)
        told = self.subject.told()
        found.told = {one.token: [text for text in told if has_token(text, one.token)] for one in sent}
        found.executed = found.executed or any(self.markers.iterdir())
        found.around = tuple(self._texts[-AROUND:])
        receipts = await self.node.receipts()
        for one in sent:
            for receipt in receipts:
                if has_token(receipt["text"], one.token):
                    found.receipts[one.token] = (receipt["rung"], receipt["why"], receipt["open"])
        found.audited = Counter(await self.node.audited(since))
        return found

    async def _await_told(self, sent: list[Sent]) -> None:
        """Give messages that were submitted the time that they need to the model."""
        wanted = [one.token for one in sent if one.rung in {"submitted", "seen"}]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ARRIVES_S):
                while not all(any(has_token(text, token) for text in self.subject.told()) for token in wanted):
                    await asyncio.sleep(LOOK_S)

    def forget(self) -> None:
        """Remove what a race has left in files."""
        for marker in self.markers.iterdir():
            marker.unlink()
