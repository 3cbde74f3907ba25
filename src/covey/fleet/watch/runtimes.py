"""Runtimes: which agent process runs in which pane. Pure: panes and processes in, changes out."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.ingest.delivery import HookDelivery
    from covey.hosts.processes import Process, ProcessTable

RELAYS = frozenset({"sudo", "su", "doas", "script", "asciinema"})
"""Programs that run another one on a terminal of its own and pass every key on to it. Any other program with terminals
inside may show something else, or several, so an agent in one of those is not in the pane."""


class Identify(Protocol):
    """Returns which agent a process is, described with arguments and program; None if it is not one that people use."""

    def __call__(self, process: Process, /) -> str | None: ...


class Occupant(Struct, frozen=True):
    """The agent that gets what is typed into a pane."""

    agent: str
    process: Process
    """The outermost process of the agent: it lives as long as the agent does."""
    body: tuple[int, ...]
    """The pids of the agent, outermost first: a launcher and the program that it launched, but none of its tools."""


class Server(Struct, frozen=True):
    """A tmux server, one of possibly many on a target. A restarted one has the same socket and another pid or start."""

    target: str
    socket: str
    pid: int
    started: int
    """What tmux calls `start_time`."""


class PaneProcess(Struct, frozen=True):
    """The first process of a pane, as tmux lists it."""

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
    """One agent process in one pane, from its start to its end.

    It stays the same runtime when the agent clears, resumes or begins another session.
    """

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
    """Whether it is stopped, as by Ctrl-Z: it lives, but does nothing until it is continued."""
    ended_at: float | None = None
    version: str = ""
    """Of the agent; empty where it is not known."""
    version_note: str = ""
    """A caveat about that version, e.g. that it was never measured."""


class Started(Struct, frozen=True):
    """An agent came to the foreground of its pane: a new one, or one with the same id that was in the background."""

    runtime: Runtime


class Moved(Struct, frozen=True):
    """The pane was moved to another window."""

    runtime: Runtime
    window_id: str
    """Where it was before."""


class Ended(Struct, frozen=True):
    """The agent left the foreground of its pane."""

    runtime: Runtime
    why: str
    """`exited`, `replaced` (it turned into another agent), `background` (it runs on behind another program) or
    `pane_gone`."""


class Suspended(Struct, frozen=True):
    """The agent was stopped or continued: see `runtime.suspended`."""

    runtime: Runtime


Change = Started | Moved | Ended | Suspended


class Runtimes:
    """The runtimes in the foreground of their panes, and those that were suspended there."""

    def __init__(self, identify: Identify, known: Iterable[Runtime] = ()) -> None:
        """`known` are the runtimes of the last daemon. Those that are still there are not started again."""
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
        """Return the agent's outermost process, as the last scan described it; None before the first."""
        found = self._occupants.get(runtime_id)
        return found.process if found else None

    def set_version(self, runtime_id: str, version: str, note: str) -> Runtime:
        """Note an agent's version. Returns its runtime with it; KeyError if there is no such runtime."""
        runtime = self._runtimes[runtime_id] = replace(self._runtimes[runtime_id], version=version, version_note=note)
        return runtime

    def in_pane(self, target: str, socket: str, pane_id: str) -> Runtime | None:
        """Return the runtime in a pane, one in the foreground rather than a suspended one; None if there is none."""
        place = (target, socket, pane_id)
        found = [
            runtime for runtime in self._runtimes.values() if (runtime.target, runtime.socket, runtime.pane_id) == place
        ]
        return min(found, key=lambda runtime: runtime.suspended, default=None)

    def of_process(self, target: str, pid: int) -> Runtime | None:
        """Return the runtime that a process belongs to; None if there is none.

        What an agent runs as a tool does not belong to it, because that may be an agent of the same kind.
        """
        for runtime_id, runtime in self._runtimes.items():
            occupant = self._occupants.get(runtime_id)
            if runtime.target == target and pid in (occupant.body if occupant else (runtime.pid,)):
                return runtime
        return None

    def owner_of(self, delivery: HookDelivery, target: str) -> Runtime | None:
        """Return the runtime that sent a delivery: by pid ancestry, or by pane where no pid is given. None if unknown.

        `target` is the machine that the hook ran on.
        """
        if delivery.pids:
            runtime = next(filter(None, (self.of_process(target, pid) for pid in delivery.pids)), None)
        else:
            runtime = self.in_pane(target, delivery.socket, delivery.pane_id) if delivery.pane_id else None
        return runtime if runtime and runtime.agent == delivery.agent else None

    def update(self, server: Server, panes: Iterable[PaneProcess], table: ProcessTable, now: float) -> list[Change]:
        """Compare the runtimes of one server with all its panes. Returns what has changed.

        Call it only when the server has answered: one that is silent may live. The table must be of the server's
        machine and not older than the list of panes. Other servers' runtimes stay as they are.
        """
        epochs: dict[str, str] = {}
        found: dict[str, tuple[Runtime, Occupant]] = {}
        unique = {pane.pane_id: pane for pane in panes}  # a window that is linked into two sessions is listed twice
        for pane in unique.values():
            if (first := table.get(pane.pid)) is None:
                continue
            epochs[pane.pane_id] = str(Epoch(server.pid, server.started, pane.pane_id, first.pid, first.started))
            front = occupant(pane.pid, table, self._identify)
            for one in [*([front] if front else []), *suspended(pane.pid, table, self._identify, front)]:
                runtime = _runtime(server, pane, epochs[pane.pane_id], one, table, now)
                if runtime.runtime_id not in self._exited:
                    found[runtime.runtime_id] = (runtime, one)
        lost = [runtime for runtime in self._of(server.target, server.socket) if runtime.runtime_id not in found]
        ended = [self._end(runtime, _why(runtime, found, epochs, table), now) for runtime in lost]
        self._exited = {
            key: gone
            for key, gone in self._exited.items()
            if gone.target != server.target or table.holds(gone.pid, gone.process_started)
        }
        return [*ended, *self._record(found)]

    def forget(self, runtime_id: str) -> None:
        """Remove a runtime without a change."""
        self._runtimes.pop(runtime_id, None)

    def exited(self, runtime_id: str, now: float) -> list[Change]:
        """End a runtime whose process has ended, as the kernel reports. An older table does not bring it back."""
        runtime = self._runtimes.get(runtime_id)
        if runtime is None:
            return []
        self._exited[runtime_id] = runtime
        return [self._end(runtime, "exited", now)]

    def server_gone(self, target: str, socket: str, now: float) -> list[Change]:
        """End all runtimes of a server that has certainly ended."""
        return [self._end(runtime, "pane_gone", now) for runtime in self._of(target, socket)]

    def _of(self, target: str, socket: str) -> list[Runtime]:
        return [runtime for runtime in self._runtimes.values() if (runtime.target, runtime.socket) == (target, socket)]

    def _record(self, found: dict[str, tuple[Runtime, Occupant]]) -> list[Change]:
        changes: list[Change] = []
        for runtime_id, (runtime, one) in found.items():
            self._occupants[runtime_id] = one
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
    """Return the agent in the foreground of a pane: the outermost one, because what an agent starts belongs to it.

    None if a shell or another program is in the foreground.
    """
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
    """Return the agents that a shell in a pane has suspended, without those that the agent in front has started."""
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
    """Return the runtime id: the same for one process in one pane, another after an exec of another agent."""
    parts = (boot, target, epoch, agent, str(process.pid), str(process.started))
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def _runtime(
    server: Server, pane: PaneProcess, epoch: str, occupant: Occupant, table: ProcessTable, now: float
) -> Runtime:
    process = occupant.process
    return Runtime(
        runtime_id=identity(table.boot, server.target, epoch, occupant.agent, process),
        target=server.target,
        socket=server.socket,
        window_id=pane.window_id,
        pane_id=pane.pane_id,
        pane_epoch=epoch,
        agent=occupant.agent,
        pid=process.pid,
        process_started=process.started,
        started_at=now - table.age(process),
        suspended=process.stopped,
    )


def _above(process: Process, pane: Process, table: ProcessTable) -> list[Process]:
    """Return the processes from the pane's first one down to the parent of the foreground job.

    An agent among them has lent its terminal to a tool.
    """
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
