"""Tours end the programs that they show."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

TOUR = """
import os, sys
from pathlib import Path
from showing import Live
with Live(["sleep", "600"], Path("/"), dict(os.environ), columns=80, rows=24):
    pass
"""


def test_a_program_with_its_own_terminal_is_ended_also_where_the_tour_ignores_interrupts() -> None:
    examples = Path(__file__).parents[2] / "examples"
    # As in `nohup ./run demo &`: what is ignored here is ignored in the child.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        tour = subprocess.Popen([sys.executable, "-c", TOUR], cwd=examples, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    _, said = tour.communicate(timeout=60)
    assert (tour.returncode, said) == (0, b"")
