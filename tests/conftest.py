"""Runs tests that are `async def`, and gives every test the signals that a terminal gives.

A suite that was started with `nohup ./run test &` ignores SIGINT and SIGHUP, every child inherits that, and tests that
interrupt a program would wait for ever.
"""

from __future__ import annotations

import asyncio
import inspect
import signal

import pytest

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "once: takes long; runs on the installed tmux only, not on its other releases too"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is an `async def` in an event loop of its own; every other is left to pytest (None)."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
