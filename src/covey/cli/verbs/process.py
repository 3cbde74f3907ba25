"""`covey up` and `covey down`."""

from __future__ import annotations

import os
import time

from covey import __version__
from covey.kernel.client import Client, NotRunning
from covey.kernel.lock import holder
from murli import conflict, tool_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

READY_S = 20.0
GONE_S = 15.0
NAP_S = 0.02


def up(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Start the daemon and come back when it is ready."""
    home.prepare()
    running = holder(home.pid_file)
    if params["foreground"]:
        if running is not None:
            raise conflict(f"Covey is running already (pid {running})", "Stop it first: covey down")
        from covey.node import main

        return main(home)
    if running is not None:
        return _already(home, running)
    _spawn(home)
    return 0


def down(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Ask the daemon to stop and wait until it has."""
    out, pid = writer(), holder(home.pid_file)
    try:
        Client(home.socket).call(operation, params)
    except NotRunning:
        if pid is None:
            out.success("Covey is not running", {"pid": None, "stopping": False})
            return 0
        raise
    limit = time.monotonic() + GONE_S
    while holder(home.pid_file) == pid:
        if time.monotonic() > limit:
            raise tool_error(f"the daemon (pid {pid}) has not stopped after {GONE_S:g} s", f"See `covey logs`; as a last resort: kill -9 {pid}")
        time.sleep(NAP_S)
    out.success(f"Covey has stopped (pid {pid})", {"pid": pid, "stopping": True})
    return 0


def _already(home: Home, pid: int) -> int:
    del home
    writer().success(f"Covey is running already (pid {pid})", {"pid": pid, "already_running": True, "version": __version__})
    return 0


def _spawn(home: Home) -> None:
    """Start a daemon that outlives us, and listen on a pipe for what becomes of it."""
    import json
    import subprocess
    import sys

    ours, theirs = os.pipe()
    with open(os.path.join(home.node_dir, "daemon.err"), "ab") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "covey.node", home.path, str(theirs)],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            cwd="/",
            start_new_session=True,
            pass_fds=[theirs],
        )
    os.close(theirs)
    said = _read(ours, READY_S)
    os.close(ours)
    process.returncode = 0  # it is not ours to wait for any more
    try:
        news = json.loads(said)
    except ValueError:
        raise tool_error(
            "the daemon ended before it was ready", f"See {home.log_file} and {home.node_dir}/daemon.err, or run: covey up --foreground"
        ) from None
    if "error" in news:
        raise tool_error(news["error"]["message"], news["error"].get("suggestion", ""))
    if news.get("already_running"):
        _already(home, news["pid"])
        return
    writer().success(f"Covey is up (pid {news['pid']})", {"pid": news["pid"], "already_running": False, "version": news["version"]})


def _read(fd: int, seconds: float) -> bytes:
    """Everything that comes through a pipe until it is closed, or what has come by the deadline."""
    import select

    said, limit = b"", time.monotonic() + seconds
    while (left := limit - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        part = os.read(fd, 4096)
        if not part:
            break
        said += part
        if said.endswith(b"\n"):
            break
    return said
