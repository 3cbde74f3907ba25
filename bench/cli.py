"""How long does a person wait for `covey status`?

Times the whole process, from its start to its end, with a daemon that runs in a home of its own, side by side with
`python -c pass`. Runs are interleaved, so that a noisy machine disturbs both alike. Both are run as installed: with
byte code, and without the variables that happen to be set on this machine.

    ./run python bench/cli.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COVEY = str(Path(sys.executable).parent / "covey")
LIMITS = {"p50": 3.0, "p95": 4.5}
ATTEMPTS = 3
"""A limit is broken when it is broken this often in a row."""
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "covey status": [COVEY, "status"],
    "covey health": [COVEY, "health"],
    "covey config get": [COVEY, "config", "get", "log.level"],
}


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each command, round by round, interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "COVEY_HOME": f"{folder}/home",
            "PYTHONPYCACHEPREFIX": f"{folder}/cache",
        }

        def run(words: list[str]) -> None:
            subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True, cwd=folder)

        run([COVEY, "up"])
        try:
            for round_ in range(-3, rounds):
                for name, words in COMMANDS.items():
                    started = time.perf_counter()
                    run(words)
                    if round_ >= 0:  # the first rounds write byte code and warm the page cache
                        taken[name].append(time.perf_counter() - started)
        finally:
            run([COVEY, "down"])
    return taken


def report(rounds: int) -> bool:
    """Measure, print the table, and return whether the limits held."""
    taken = measure(rounds)
    floor = statistics.median(taken["python -c pass"])
    print(f"whole processes, {rounds} of each, interleaved; 1.00 = median of python -c pass = {floor * 1000:.1f} ms\n")
    print(f"{'':18}{'p50':>7}{'p95':>7}{'p50 ms':>9}")
    ratios = {}
    for name, seconds in taken.items():
        ratios[name] = {
            "p50": statistics.median(seconds) / floor,
            "p95": statistics.quantiles(seconds, n=20)[-1] / floor,
        }
        print(f"{name:18}{ratios[name]['p50']:7.2f}{ratios[name]['p95']:7.2f}{statistics.median(seconds) * 1000:9.1f}")
    broken = [name for name, limit in LIMITS.items() if ratios["covey status"][name] > limit]
    verdict = "BROKEN: " + ", ".join(broken) if broken else "held"
    print(f"\nlimits for covey status: p50 {LIMITS['p50']}, p95 {LIMITS['p95']}: {verdict}")
    return not broken


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for attempt in range(ATTEMPTS):
        if report(rounds):
            return 0
        if attempt + 1 < ATTEMPTS:
            print("once more: the slowest of few processes also tell how busy this machine is\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
