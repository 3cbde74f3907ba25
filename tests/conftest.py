"""Runs tests that are `async def`, begins with those that take long, and gives each the signals that a terminal gives.

All of them have a home folder that is not the person's (`lab/own_home.py`).

A suite that was started with `nohup ./run test &` ignores SIGINT and SIGHUP, every child inherits that, and tests that
interrupt a program would wait for ever.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal

import pytest

from lab import own_home
from tests.not_run import pytest_terminal_summary as pytest_terminal_summary  # noqa: PLC0414 - a hook for pytest

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
own_home.enter()  # before any test is imported: some ask for the home then


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "once: takes long; runs on the installed tmux only, not on its other releases too"
    )
    config.addinivalue_line(
        "markers", "first: takes long; a worker begins with it, so that none is left with it at the end"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the tests that are marked `first`: xdist gives every worker one stretch of the list to begin with."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("first")]
    short = [item for item in items if not item.get_closest_marker("first")]
    ends = [len(short) * worker // workers for worker in range(workers + 1)]
    items[:] = [
        item for worker in range(workers) for item in (*long[worker::workers], *short[ends[worker] : ends[worker + 1]])
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is an `async def` in an event loop of its own; every other is left to pytest (None)."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
