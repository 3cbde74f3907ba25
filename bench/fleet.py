"""What does it cost to see a fleet, against asking tmux again and again?

A private tmux server with 10, 100 and 500 panes: up to 50 of them hold an agent (a small script that Covey knows from a
TOML file alone), a tenth writes two lines a second, half of that tenth agents. A daemon that is confined to this server
is left alone for a while; then it is asked for the list. Side by side in the same run: one `tmux list-panes -a` in a
process of its own, one `tmux display-message` for each pane, and `Server.panes` of libtmux. They only list panes, where
Covey knows the agents and their states; their share of a core is what one pass a second takes.

First the daemon at rest: one server with one idle agent, and eleven on four servers, beside a `tmux list-panes` a
second for each server.

    ./run python bench/fleet.py [panes …]
    ./run python bench/fleet.py rest
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from libtmux import Server

from covey.contract.fleet import OPERATIONS
from covey.hosts.processes import ProcessTable
from covey.kernel.client import Client
from lab.at_terminal import typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COVEY = str(Path(sys.executable).parent / "covey")
SIZES = (10, 100, 500)
AGENTS = 50
P95_MS, P95_AT = 50.0, 500
CPU_SHARE, CPU_AT = 0.01, 100
SETTLE_S, REST_S, LIMIT_S = 5.0, 20.0, 30.0
AT_REST_S, AT_REST_SETTLE_S = 40.0, 15.0
REST_CASES = (("1 idle agent, 1 server", (1,), 0.002), ("11 idle agents, 4 servers", (5, 3, 2, 1), 0.008))
QUESTIONS, PASSES, NAIVE_PASSES = 200, 20, 2
LIST = next(operation for operation in OPERATIONS if operation.name == "list.panes")
SLEEP = "exec sleep 100000"
AGENT = "#!/bin/sh\nprintf '[ready]\\n'\nwhile read -r line; do :; done\n"
ADAPTER = """
name = "bench"
title = "Agent of the benchmark"
process = { names = ["bench-agent"], launchers = ["sh", "dash", "bash"] }
[[screens]]
name = "work"
state = "running"
match = '^\\[work\\].*\\Z'
lines = 1
[[screens]]
name = "ready"
state = "idle"
match = '^\\[ready\\].*\\Z'
lines = 1
"""
CHATTER = """
import os, sys, time
ttys = [os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK) for path in sys.argv[1:]]
number = 0
while True:
    for tty in ttys:
        number += 1
        try: os.write(tty, b"[work] line %d\\n" % number)
        except OSError: pass
        time.sleep(0.5 / len(ttys))
"""
FORMAT = (
    "#{pane_id} #{pane_pid} #{session_name} #{window_id} #{pane_current_command} #{pane_current_path} #{pane_title}"
)


class Passes(NamedTuple):
    """The seconds of each pass of one method, and the CPU seconds per pass, its own and the tmux server's."""

    seconds: list[float]
    cpu: float
    server: float


class Figures(NamedTuple):
    """All figures with one number of panes."""

    agents: int
    asked: list[float]
    others: dict[str, Passes]
    share: float
    server: float
    spawned: str
    memory: float


class Rest(NamedTuple):
    """The cost of a daemon while nothing happens.

    Its share of a core and that of the servers on its behalf, how often the servers ran a second, and what naive
    polling takes a second.
    """

    share: float
    servers: float
    ran: float
    naive: float


class Fleet:
    """A tmux server with its panes, and a home for the daemon that monitors it."""

    def __init__(self, folder: Path, panes: int) -> None:
        self.folder = folder
        self.panes = panes
        self.agents = min(AGENTS, panes // 2)
        self.socket = str(folder / "s")
        self.sockets = [self.socket]
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "COVEY_HOME": str(folder / "home"),
            "TMUX_TMPDIR": str(folder),
        }

    def agent(self) -> Path:
        """Write a program that Covey knows as an agent, and return its path."""
        agent = self.folder / "bench-agent"
        agent.write_text(AGENT)
        agent.chmod(0o700)
        return agent

    @contextlib.contextmanager
    def resting(self, agents: Sequence[int]) -> Iterator[list[int]]:
        """Start a server for each number, with that many idle agents; yield the process ids of the servers."""
        self.agents = sum(agents)
        self.sockets = [str(self.folder / f"s{number}") for number in range(len(agents))]
        agent = str(self.agent())
        try:
            for socket, count in zip(self.sockets, agents, strict=True):
                for number in range(count):
                    self.run(
                        "tmux",
                        "-S",
                        socket,
                        "-f",
                        "/dev/null",
                        "new-session",
                        "-d",
                        "-s",
                        f"a{number}",
                        "-x",
                        "120",
                        "-y",
                        "40",
                        agent,
                    )
            yield [int(self.run("tmux", "-S", socket, "display-message", "-p", "#{pid}")) for socket in self.sockets]
        finally:
            for socket in self.sockets:
                self.run("tmux", "-S", socket, "kill-server")

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        agent = self.agent()
        every = self.panes // self.agents
        windows = [f"new-window -d -t w{i // 10}: '{agent if i % every == 0 else SLEEP}'" for i in range(self.panes)]
        sessions = [f"new-session -d -s w{i} -x 200 -y 50 '{SLEEP}'" for i in range((self.panes + 9) // 10)]
        script = self.folder / "tmux.conf"
        script.write_text("\n".join([*sessions, *windows, *(f"kill-window -t w{i}:0" for i in range(len(sessions)))]))
        self.tmux("-f", str(script), "start-server", ";", "list-sessions")
        chatter: subprocess.Popen[bytes] | None = None
        try:
            ttys = self.tmux("list-panes", "-a", "-F", "#{pane_index} #{pane_tty} #{pane_pid}").splitlines()
            assert len(ttys) == self.panes, f"{len(ttys)} panes in place of {self.panes}"
            ttys.sort(key=lambda line: int(line.split()[2]))  # in the order in which they were made
            chatty = [line.split()[1] for i, line in enumerate(ttys) if i % 20 in {0, 15}]
            chatter = subprocess.Popen([sys.executable, "-S", "-E", "-c", CHATTER, *chatty])
            yield
        finally:
            if chatter is not None:
                chatter.kill()
                chatter.wait()
            self.tmux("kill-server")

    @contextlib.contextmanager
    def watched(self) -> Iterator[int]:
        """Start a daemon, wait until it sees every agent, and yield its pid."""
        adapters = self.folder / "home" / "adapters"
        adapters.mkdir(parents=True)
        (adapters / "bench.toml").write_text(ADAPTER)
        self.run(*typed([COVEY, "config", "set", "fleet.sockets", json.dumps(self.sockets)]))
        self.run(COVEY, "up")
        try:
            end = time.monotonic() + LIMIT_S
            while len([row for row in self.ask()["items"] if row["state"] != "unknown"]) < self.agents:
                assert time.monotonic() < end, "the daemon does not see all agents"
                time.sleep(0.1)
            yield int(json.loads(self.run(COVEY, "status"))["result"]["pid"])
        finally:
            self.run(COVEY, "down")

    def run(self, *words: str) -> str:
        return subprocess.run(
            words, env=self._environment, stdout=subprocess.PIPE, text=True, check=True, cwd=self.folder
        ).stdout

    def tmux(self, *words: str) -> str:
        return self.run("tmux", "-u", "-S", self.socket, *words)

    @property
    def server(self) -> int:
        return int(self.tmux("display-message", "-p", "#{pid}"))

    def ask(self) -> Any:
        return Client(str(self.folder / "home" / "node" / "sock")).call(LIST, {})

    def once(self) -> None:
        self.tmux("list-panes", "-a", "-F", FORMAT)

    def each(self) -> None:
        for pane in self.tmux("list-panes", "-a", "-F", "#{pane_id}").split():
            self.tmux("display-message", "-p", "-t", pane, FORMAT)

    def libtmux(self) -> None:
        assert len([pane.pane_current_command for pane in Server(socket_path=self.socket).panes]) >= self.panes


def timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


def passes(do: Callable[[], object], count: int, server: int) -> Passes:
    """Ask several times in a row, which favours the other methods over a pause of a second."""
    before, busy = own_cpu(), cpu(server)
    seconds = [timed(do) for _ in range(count)]
    return Passes(seconds, (own_cpu() - before) / count, (cpu(server) - busy) / count)


def own_cpu() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process, to the nanosecond: Linux numbers the CPU clock of a process by its pid."""
    return time.clock_gettime(~pid << 3 | 2)


def children(pid: int) -> set[int]:
    return {child.pid for child in ProcessTable.read().children(pid)}


def faults_of_ended(pid: int) -> int:
    """Return the page faults of all ended children of a process.

    No process ends without one, so no child has ended if the number stays the same.
    """
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[8])


def switches(pid: int) -> int:
    """Return how often a process went to sleep by itself."""
    return int(Path(f"/proc/{pid}/status").read_text().rpartition("\nvoluntary_ctxt_switches:")[2].split()[0])


def rest(folder: Path, agents: Sequence[int]) -> Rest:
    """Return the cost of a daemon that is left alone with idle agents."""
    fleet = Fleet(folder, 2)
    with fleet.resting(agents) as servers:
        before, busy = own_cpu(), sum(map(cpu, servers))
        for _ in range(PASSES):
            for socket in fleet.sockets:
                fleet.run("tmux", "-S", socket, "list-panes", "-a", "-F", FORMAT)
        naive = (own_cpu() - before + sum(map(cpu, servers)) - busy) / PASSES
        with fleet.watched() as pid:
            time.sleep(AT_REST_SETTLE_S)
            ours, theirs, ran = cpu(pid), sum(map(cpu, servers)), sum(map(switches, servers))
            time.sleep(AT_REST_S)
            return Rest(
                (cpu(pid) - ours) / AT_REST_S,
                (sum(map(cpu, servers)) - theirs) / AT_REST_S,
                (sum(map(switches, servers)) - ran) / AT_REST_S,
                naive,
            )


def show_rest() -> bool:
    """Measure and print the daemon at rest, and return whether the limits hold."""
    print(f"at rest for {AT_REST_S:g} s; x: how many times what Covey and the servers take together\n")
    print(f"{'':34}{'CPU %':>9}{'limit':>9}{'servers %':>11}{'servers ran/s':>15}{'`list-panes` a second, x':>27}")
    well = True
    for name, agents, limit in REST_CASES:
        with tempfile.TemporaryDirectory(prefix="cv-") as folder:
            found = rest(Path(folder), agents)
        kept = found.share <= limit
        well &= kept
        ratio = found.naive / (found.share + found.servers)
        cpu = f"{found.share * 100:>9.2f}{limit * 100:>9.2g}{found.servers * 100:>11.2f}"
        print(f"{name:34}{cpu}{found.ran:>15.1f}{ratio:>27.1f}{'' if kept else '  BROKEN'}")
    print()
    return well


def measure(folder: Path, panes: int) -> Figures:
    fleet = Fleet(folder, panes)
    with fleet.running():
        server = fleet.server
        time.sleep(SETTLE_S)
        before = cpu(server)
        time.sleep(SETTLE_S)
        alone = (cpu(server) - before) / SETTLE_S
        ways: dict[str, tuple[Callable[[], None], int]] = {
            "`tmux list-panes -a`": (fleet.once, PASSES),
            "`display-message` per pane": (fleet.each, NAIVE_PASSES),
            "libtmux": (fleet.libtmux, PASSES),
        }
        others = {name: passes(do, count, server) for name, (do, count) in ways.items()}
        with fleet.watched() as pid:
            time.sleep(SETTLE_S)
            there = children(pid)
            clients = {child: cpu(child) for child in there}
            faults, ours, theirs = (faults_of_ended(pid), faults_of_ended(server)), cpu(pid), cpu(server)
            time.sleep(REST_S)
            ours, theirs = cpu(pid) - ours, cpu(server) - theirs
            quiet = (faults_of_ended(pid), faults_of_ended(server)) == faults and children(pid) == there
            client = sum(cpu(child) - used for child, used in clients.items() if child in children(pid))
            asked = []
            for number in range(QUESTIONS):  # interleaved, so that a noisy machine disturbs both alike
                asked.append(timed(fleet.ask))
                if number % (QUESTIONS // PASSES) == 0:
                    others["`tmux list-panes -a`"].seconds.append(timed(fleet.once))
                    others["libtmux"].seconds.append(timed(fleet.libtmux))
            memory = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        return Figures(
            fleet.agents,
            asked,
            others,
            (ours + client) / REST_S,
            max(theirs / REST_S - alone, 0.0),
            "0" if quiet else "some",
            memory,
        )


def p95(seconds: list[float]) -> float:
    return sorted(seconds)[min(len(seconds) - 1, round(len(seconds) * 0.95))]


def show(sizes: list[int], found: list[Figures]) -> bool:
    """Print the table, and return whether all limits hold."""
    asked = {size: p95(one.asked) * 1000 for size, one in zip(sizes, found, strict=True)}
    shares = {size: one.share for size, one in zip(sizes, found, strict=True)}
    held = {
        "listing": asked.get(P95_AT, 0.0) <= P95_MS,
        "cpu": shares.get(CPU_AT, 0.0) <= CPU_SHARE,
        "spawned": all(one.spawned == "0" for one in found),
    }

    def row(name: str, cell: Callable[[Figures], str], limit: str = "", kept: str = "") -> None:
        print(
            f"{name:50}"
            + "".join(f"{cell(one):>9}" for one in found)
            + f"{limit:>16}{'' if held.get(kept, True) else '  BROKEN'}"
        )

    print(f"{'':50}" + "".join(f"{size:>9}" for size in sizes) + f"{'limit':>16}")
    row("agents", lambda one: str(one.agents))
    row("list through the daemon, median ms", lambda one: f"{statistics.median(one.asked) * 1000:.2f}")
    row(
        "list through the daemon, p95 ms",
        lambda one: f"{p95(one.asked) * 1000:.2f}",
        f"{P95_MS:g} at {P95_AT}",
        "listing",
    )
    for name in found[0].others:
        row(
            f"  {name}, x median",
            lambda one, name=name: (  # type: ignore[misc] # mypy infers no lambda with a default
                f"{statistics.median(one.others[name].seconds) / statistics.median(one.asked):.1f}"
            ),
        )
    row("our CPU at rest, % of a core", lambda one: f"{one.share * 100:.2f}", f"{CPU_SHARE * 100:g} at {CPU_AT}", "cpu")
    for name in found[0].others:
        row(f"  {name} a second, x", lambda one, name=name: f"{one.others[name].cpu / one.share:.1f}")  # type: ignore[misc]
    row("tmux's CPU on our behalf, % of a core", lambda one: f"{one.server * 100:.2f}")
    for name in found[0].others:
        row(f"  {name} a second, % of a core", lambda one, name=name: f"{one.others[name].server * 100:.2f}")  # type: ignore[misc]
    row("processes spawned at rest, by us or by tmux", lambda one: one.spawned, "0", "spawned")
    row("resident memory, MB", lambda one: f"{one.memory:.1f}")
    return all(held.values())


def main() -> int:
    if sys.argv[1:] == ["rest"]:
        return 0 if show_rest() else 1
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    well = sys.argv[1:] != [] or show_rest()
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="cv-") as folder:
            found.append(measure(Path(folder), size))
    print(f"fleet: {REST_S:g} s at rest, {QUESTIONS} lists; x: how many times what Covey takes\n")
    return 0 if show(sizes, found) and well else 1


if __name__ == "__main__":
    raise SystemExit(main())
