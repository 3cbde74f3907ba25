"""Signals as a terminal gives them, also for a suite that was started with `nohup ./run test &`.

There SIGINT and SIGHUP are ignored, every child inherits that, and tests that interrupt a program would wait for ever.
"""

from __future__ import annotations

import signal

import pytest

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "once: takes long; runs on the installed tmux only, not on its other releases too"
    )
