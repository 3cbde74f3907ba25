"""`covey` with a daemon whose fleet stands still: the home, and the daemon that serves it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.covey.conftest import Covey

LIMIT_S = 120
ROOT = Path(__file__).resolve().parents[3]
PROGRAM = (sys.executable, str(Path(__file__).with_name("fleet_daemon.py")))


class FleetCovey(Covey):
    """A home whose daemon has a fleet."""

    command = (*PROGRAM, "covey")
    forked = (PROGRAM[-1], "covey")

    def environment(self, **extra: str) -> dict[str, str]:
        return {**super().environment(**extra), "PYTHONPATH": str(ROOT)}


@contextmanager
def serving(covey: FleetCovey, end: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """The daemon with its fleet, until it is ended."""
    with subprocess.Popen(
        [*PROGRAM, "serve", str(covey.home)], env=covey.environment(), stdout=subprocess.PIPE, text=True
    ) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            daemon.send_signal(end)
            daemon.wait(LIMIT_S)
