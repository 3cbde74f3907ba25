"""Runtimes: which agent process sits in which pane. Pure: panes and processes in, changes out."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.hosts.processes import Process, ProcessTable

RELAYS = frozenset({"sudo", "su", "doas", "script", "asciinema"})
"""Programs that run another one on a terminal of its own and pass every key on to it. Any other program with terminals inside may show
something else, or several, so an agent in one of those is not in the pane."""


class Identify(Protocol):
    """What the adapters know: whether a process, described with arguments and program, is an agent that a person talks to, and which."""

    def __call__(self, process: Process, /) -> str | None: ...


class Occupant(Struct, frozen=True):
    """The agent that gets what is typed into a pane."""

    agent: str
    process: Process
    """The outermost process of the agent: it lives as long as the agent does."""
    body: tuple[int, ...]
    """Pids that speak for the agent, outermost first: a launcher and the program that it launched. What its tools start is not among them."""


class Server(Struct, frozen=True):
    """A tmux server: one of possibly many on a target. A restarted one has the same socket, and another pid or start."""

    target: str
    socket: str
    pid: int
    started: int
    """What tmux calls `start_time`."""


class Pane(Struct, frozen=True):
    """A pane of a server, as listed."""

    pane_id: str
    pid: int
    window_id: str


class Epoch(Struct, frozen=True):
    """One life of a pane: pane ids begin anew with every server, a respawned pane keeps its id, and pids are reused."""

    server_pid: int
    server_started: int
    pane_id: str
    pane_pid: int
    pane_started: int

    def __str__(self) -> str:
        return f"{self.server_pid}.{self.server_started}.{self.pane_id}.{self.pane_pid}.{self.pane_started}"


class Runtime(Struct, frozen=True, kw_only=True):
    """One agent process in one pane, from its start to its end. What it does meanwhile (clear, resume, another session) is the same runtime."""

    runtime_id: str
    target: str
    socket: str
    window_id: str
    pane_id: str
    pane_epoch: str
    agent: str
    pid: int
    process_started: int
    """In the ticks of the machine's process table."""
    started_at: float
    suspended: bool = False
    """Stopped, as by Ctrl-Z: it lives, but does nothing until it is continued."""
    ended_at: float | None = None
    version: str = ""
    """Of the agent; empty where it is not known."""
    version_note: str = ""
    """What is to be said about that version, e.g. that it was never measured."""


class Started(Struct, frozen=True):
    """An agent has come to the front of its pane: a new one, or one with the same id that was in the background for a while."""

    runtime: Runtime


class Moved(Struct, frozen=True):
    """The pane was moved to another window."""

    runtime: Runtime
    window_id: str
    """Where it was before."""


class Ended(Struct, frozen=True):
    """The agent is no longer what the pane talks to."""

    runtime: Runtime
    why: str
    """`exited`, `replaced` (it turned into another agent), `background` (it runs on, but another program is in front) or `pane_gone`."""


class Suspended(Struct, frozen=True):
    """The agent was stopped, or goes on: see `runtime.suspended`."""

    runtime: Runtime


Change = Started | Moved | Ended | Suspended


class Runtimes:
    """The book of runtimes that are in front of their panes, and of those that were suspended there."""

    def __init__(self, identify: Identify, known: Iterable[Runtime] = ()) -> None:
        """`known`: what the book held when the daemon went down. Those that are still there are not started again."""
        self._identify = identify
        self._runtimes = {runtime.runtime_id: runtime for runtime in known}
        self._occupants: dict[str, Occupant] = {}
        self._exited: dict[str, Runtime] = {}

    @property
    def all(self) -> list[Runtime]:
        return list(self._runtimes.values())

    def get(self, runtime_id: str) -> Runtime | None:
        return self._runtimes.get(runtime_id)

    def process(self, runtime_id: str) -> Process | None:
        """The agent's outermost process, as it was described at the last look."""
        found = self._occupants.get(runtime_id)
        return found.process if found else None

    def know_version(self, runtime_id: str, version: str, note: str) -> Runtime:
        """Note an agent's version; returns its runtime with it. KeyError if there is no such runtime."""
        runtime = self._runtimes[runtime_id] = replace(self._runtimes[runtime_id], version=version, version_note=note)
        return runtime

    def in_pane(self, target: str, socket: str, pane_id: str) -> Runtime | None:
        """The runtime in a pane: the one in front rather than a suspended one."""
        place = (target, socket, pane_id)
        found = [
            runtime for runtime in self._runtimes.values() if (runtime.target, runtime.socket, runtime.pane_id) == place
        ]
        return min(found, key=lambda runtime: runtime.suspended, default=None)

    def speaking(self, target: str, pid: int) -> Runtime | None:
        """The runtime that a process speaks for: its agent, not what the agent runs as a tool (which may be an agent of the same kind)."""
        for runtime_id, runtime in self._runtimes.items():
            occupant = self._occupants.get(runtime_id)
            if runtime.target == target and pid in (occupant.body if occupant else (runtime.pid,)):
                return runtime
        return None

    def update(self, server: Server, panes: Iterable[Pane], table: ProcessTable, now: float) -> list[Change]:
        """Bring the book up to date with all panes of one server. Call it only when the server has answered: one that is silent may live.

        The table must be of the server's machine and not older than the list of panes. Other servers' runtimes stay as they are.
        """
        epochs: dict[str, str] = {}
        found: dict[str, tuple[Runtime, Occupant]] = {}
        for pane in {
            pane.pane_id: pane for pane in panes
        }.values():  # a window that is linked into two sessions is listed twice
            if (first := table.get(pane.pid)) is None:
                continue
            epochs[pane.pane_id] = str(Epoch(server.pid, server.started, pane.pane_id, first.pid, first.started))
            front = occupant(pane.pid, table, self._identify)
            for sitting in [*([front] if front else []), *suspended(pane.pid, table, self._identify, front)]:
                runtime = _runtime(server, pane, epochs[pane.pane_id], sitting, table, now)
                if runtime.runtime_id not in self._exited:
                    found[runtime.runtime_id] = (runtime, sitting)
        lost = [runtime for runtime in self._of(server.target, server.socket) if runtime.runtime_id not in found]
        ended = [self._end(runtime, _why(runtime, found, epochs, table), now) for runtime in lost]
        self._exited = {
            key: gone
            for key, gone in self._exited.items()
            if gone.target != server.target or table.holds(gone.pid, gone.process_started)
        }
        return [*ended, *self._take(found)]

    def forget(self, runtime_id: str) -> None:
        """Take a runtime out of the book."""
        self._runtimes.pop(runtime_id, None)

    def exited(self, runtime_id: str, now: float) -> list[Change]:
        """The process has ended, says the kernel. A table that was read a moment before does not bring it back."""
        runtime = self._runtimes.get(runtime_id)
        if runtime is None:
            return []
        self._exited[runtime_id] = runtime
        return [self._end(runtime, "exited", now)]

    def server_gone(self, target: str, socket: str, now: float) -> list[Change]:
        """The server has ended for certain, and all its panes with it."""
        return [self._end(runtime, "pane_gone", now) for runtime in self._of(target, socket)]

    def _of(self, target: str, socket: str) -> list[Runtime]:
        return [runtime for runtime in self._runtimes.values() if (runtime.target, runtime.socket) == (target, socket)]

    def _take(self, found: dict[str, tuple[Runtime, Occupant]]) -> list[Change]:
        changes: list[Change] = []
        for runtime_id, (runtime, sitting) in found.items():
            self._occupants[runtime_id] = sitting
            known = self._runtimes.get(runtime_id)
            if known is None:
                self._runtimes[runtime_id] = runtime
                changes.append(Started(runtime))
                continue
            self._runtimes[runtime_id] = replace(known, window_id=runtime.window_id, suspended=runtime.suspended)
            if known.window_id != runtime.window_id:
                changes.append(Moved(self._runtimes[runtime_id], known.window_id))
            if known.suspended != runtime.suspended:
                changes.append(Suspended(self._runtimes[runtime_id]))
        return changes

    def _end(self, runtime: Runtime, why: str, now: float) -> Ended:
        del self._runtimes[runtime.runtime_id]
        self._occupants.pop(runtime.runtime_id, None)
        return Ended(replace(runtime, ended_at=now), why)


def occupant(pane_pid: int, table: ProcessTable, identify: Identify) -> Occupant | None:
    """The agent that a pane has in front: the outermost one, for what an agent starts belongs to it. None if a shell or another program is in front."""
    pane, job = table.get(pane_pid), table.foreground(pane_pid)
    if pane is None or not job:
        return None
    reached: dict[int, Process] = {}
    for process in [*_above(job[0], pane, table), *job]:
        parent = reached.get(process.parent)
        relayed = (
            parent is not None
            and process.foreground > 0
            and (parent.foreground == process.foreground or parent.name in RELAYS)
        )
        if process.foreground == pane.foreground or relayed:
            reached[process.pid] = process
            described = table.describe(process)
            if agent := identify(described):
                return Occupant(agent, described, _body(described, agent, table, identify))
    return None


def suspended(pane_pid: int, table: ProcessTable, identify: Identify, front: Occupant | None) -> list[Occupant]:
    """The agents that a shell in a pane has suspended. What the agent in front has started is its own affair."""
    pane = table.get(pane_pid)
    if pane is None:
        return []
    found, waiting = list[Occupant](), list(table.children(pane_pid))
    for process in waiting:
        if (front is not None and process.pid == front.process.pid) or process.foreground != pane.foreground:
            continue
        described = table.describe(process) if process.stopped else process
        if process.stopped and (agent := identify(described)):
            found.append(Occupant(agent, described, _body(described, agent, table, identify)))
        else:
            waiting += table.children(process.pid)
    return found


def identity(boot: str, target: str, epoch: str, agent: str, process: Process) -> str:
    """The same for the same process in the same pane, whoever asks and however often; another after an exec of another agent."""
    parts = (boot, target, epoch, agent, str(process.pid), str(process.started))
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def _runtime(server: Server, pane: Pane, epoch: str, sitting: Occupant, table: ProcessTable, now: float) -> Runtime:
    process = sitting.process
    return Runtime(
        runtime_id=identity(table.boot, server.target, epoch, sitting.agent, process),
        target=server.target,
        socket=server.socket,
        window_id=pane.window_id,
        pane_id=pane.pane_id,
        pane_epoch=epoch,
        agent=sitting.agent,
        pid=process.pid,
        process_started=process.started,
        started_at=now - table.age(process),
        suspended=process.stopped,
    )


def _above(process: Process, pane: Process, table: ProcessTable) -> list[Process]:
    """From the pane's first process down to the parent of the job in front. An agent among them has lent its terminal to a tool."""
    line: list[Process] = []
    while process.pid != pane.pid:
        parent = table.get(process.parent)
        if parent is None or parent in line:
            return []
        line.insert(0, parent)
        process = parent
    return line


def _body(process: Process, agent: str, table: ProcessTable, identify: Identify) -> tuple[int, ...]:
    body = [process.pid]
    for pid in body:  # tools get a group of their own, or a shell between them and the agent
        body += [
            child.pid
            for child in table.children(pid)
            if child.group == process.group and identify(table.describe(child)) == agent
        ]
    return tuple(body)


def _why(
    runtime: Runtime, found: dict[str, tuple[Runtime, Occupant]], epochs: dict[str, str], table: ProcessTable
) -> str:
    if not table.holds(runtime.pid, runtime.process_started):
        return "exited"
    if any((other.pid, other.process_started) == (runtime.pid, runtime.process_started) for other, _ in found.values()):
        return "replaced"
    return "background" if epochs.get(runtime.pane_id) == runtime.pane_epoch else "pane_gone"
