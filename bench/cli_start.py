"""How much does murli add to the start of a command line tool?

Times `roost list` (a whole process, answer included) under each framework, with murli and with `without_murli/`, which
does by hand what a tool needs at least. Runs are interleaved, so that a noisy machine disturbs all columns alike; times
are medians, as ratios to `python -c pass` in the same run.

    ./run python bench/cli_start.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITH, WITHOUT = ROOT / "packages" / "murli" / "src", ROOT / "bench" / "without_murli"
LIMITS = {"argparse": 0.15, "click": 0.10, "typer": 0.10}


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each command, round by round, interleaved."""
    commands: dict[str, tuple[list[str], Path]] = {"pass": (["-c", "pass"], WITHOUT)}
    for framework in LIMITS:
        tool = str(ROOT / "examples" / f"roost_{framework}.py")
        commands[f"{framework} without"] = ([tool, "list"], WITHOUT)
        commands[f"{framework} with"] = ([tool, "list"], WITH)
    taken: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as cache:
        # As installed: with byte code, and without what happens to be set on this machine.
        environment = {"PATH": os.environ["PATH"], "HOME": cache, "PYTHONPYCACHEPREFIX": cache}
        for round_ in range(-2, rounds):
            for name, (words, path) in commands.items():
                started = time.perf_counter()
                subprocess.run(
                    [sys.executable, *words],
                    env={**environment, "PYTHONPATH": str(path)},
                    stdout=subprocess.PIPE,
                    check=True,
                    cwd=cache,
                )
                if round_ >= 0:  # the first two rounds write byte code and warm the page cache
                    taken[name].append(time.perf_counter() - started)
    return taken


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    taken = measure(rounds)
    floor = statistics.median(taken["pass"])
    print(f"start of `roost list`, median of {rounds}; 1.00 = python -c pass = {floor * 1000:.1f} ms\n")
    print(f"{'':10}{'without':>9}{'with':>8}{'share':>8}{'limit':>8}")
    held = True
    for framework, limit in LIMITS.items():
        without, with_murli = taken[f"{framework} without"], taken[f"{framework} with"]
        share = statistics.median(b / a for a, b in zip(without, with_murli, strict=True)) - 1
        held = held and share < limit
        verdict = "" if share < limit else "  over the limit"
        ratios = f"{statistics.median(without) / floor:9.2f}{statistics.median(with_murli) / floor:8.2f}"
        print(f"{framework:10}{ratios}{share:8.1%}{limit:8.0%}{verdict}")
    print("\nshare: what murli adds on top of the tool without it, median of the rounds' own ratios")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
