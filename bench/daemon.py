"""What does the daemon cost when nothing happens, and how long until it is ready?

Start to ready is the whole of `covey up`, side by side with `python -c pass`, interleaved, in medians. Then one daemon
is left alone: the CPU time that the operating system has counted for it meanwhile, its wakeups, and its resident
memory.

    ./run python bench/daemon.py [seconds at rest] [starts]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COVEY = str(Path(sys.executable).parent / "covey")
CPU_SHARE, RSS_MB, START = 0.002, 60.0, 30.0
SETTLE_S = 2.0


class Bench:
    """Runs commands as installed: with byte code, and without what happens to be set on this machine."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "COVEY_HOME": f"{folder}/home",
            "PYTHONPYCACHEPREFIX": f"{folder}/cache",
        }

    def run(self, *words: str) -> tuple[float, bytes]:
        """Return the seconds and the output of a whole process."""
        started = time.perf_counter()
        ended = subprocess.run(words, env=self._environment, stdout=subprocess.PIPE, check=True, cwd=self._folder)
        return time.perf_counter() - started, ended.stdout

    def starts(self, count: int) -> tuple[list[float], list[float]]:
        """Return the seconds of `python -c pass` and of `covey up`, round by round."""
        floors, ups = [], []
        for round_ in range(-2, count):
            floor, up = self.run(sys.executable, "-c", "pass")[0], self.run(COVEY, "up")[0]
            self.run(COVEY, "down")
            if round_ >= 0:  # the first two rounds write byte code and warm the page cache
                floors.append(floor)
                ups.append(up)
        return floors, ups

    def rest(self, seconds: float) -> tuple[float, int, float]:
        """Return the CPU share, wakeups and megabytes of a daemon that has nothing to do."""
        self.run(COVEY, "up")
        try:
            pid = json.loads(self.run(COVEY, "status")[1])["result"]["pid"]
            time.sleep(SETTLE_S)
            before, woken = cpu(pid), wakeups(pid)
            time.sleep(seconds)
            used, woken = cpu(pid) - before, wakeups(pid) - woken
            resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        finally:
            self.run(COVEY, "down")
        return used / seconds, woken, resident / 1e6


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process, to the nanosecond: Linux numbers the CPU clock of a process by its pid."""
    return time.clock_gettime(~pid << 3 | 2)


def wakeups(pid: int) -> int:
    """Return how often the threads of a process went to sleep by themselves."""
    found = (
        task.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()
        for task in Path(f"/proc/{pid}/task").glob("*/status")
    )
    return sum(int(words[0]) for words in found)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        bench = Bench(folder)
        floors, ups = bench.starts(count)
        share, woken, resident = bench.rest(seconds)
    start = statistics.median(ups) / statistics.median(floors)
    print(
        f"daemon: {count} starts, then {seconds:g} s at rest; "
        f"python -c pass = {statistics.median(floors) * 1000:.1f} ms\n"
    )
    print(f"{'':34}{'measured':>10}{'limit':>10}")
    rows = [
        ("`covey up`, x python -c pass", f"{start:.1f}", f"{START:g}", start <= START),
        ("CPU at rest, % of a core", f"{share * 100:.4f}", f"{CPU_SHARE * 100:g}", share < CPU_SHARE),
        ("resident memory, MB", f"{resident:.1f}", f"{RSS_MB:g}", resident <= RSS_MB),
        ("wakeups at rest, per second", f"{woken / seconds:.2f}", "", True),
    ]
    for name, measured, limit, held in rows:
        print(f"{name:34}{measured:>10}{limit:>10}{'' if held else '  BROKEN'}")
    return 0 if all(row[3] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
