"""`covey up` and `covey down`."""

from __future__ import annotations

import os
import time

from covey import __version__
from covey.contract import OPERATIONS
from covey.kernel.client import Client, NotAnswered, NotRunning
from covey.kernel.lock import holder
from murli import AgentError, conflict, tool_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

READY_S = 60.0
"""How long a daemon may take to start.

A very large database on a slow disk may need longer; `covey up --foreground` has no limit.
"""
ANSWER_S = 5.0
"""How long a daemon may take to answer a question that costs it nothing."""
STOP_S, TERM_S, KILL_S = 20.0, 10.0, 10.0
"""How long a daemon may take to end after it was asked, after SIGTERM, and after SIGKILL."""
NAP_S = 0.02
LAST_LINES, LAST_BYTES = 5, 4096
HEALTH = next(operation for operation in OPERATIONS if operation.name == "health")


def up(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Start the daemon and return when it is ready."""
    home.node.prepare()
    running = holder(home.node.pid_file)
    if params["foreground"]:
        if running is not None:
            raise conflict(f"Covey is running already (pid {running})", "Stop it first: covey down")
        from covey.node.__main__ import main

        return main(home)
    while running is None or not _is_ready(home, running):
        running = _spawn(home)
        if running is None:
            return 0
    writer().success(
        f"Covey is running already (pid {running})", {"pid": running, "already_running": True, "version": __version__}
    )
    return 0


def down(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Stop the daemon and return when it has ended: ask it, then SIGTERM, then SIGKILL.

    Only the process that holds the lock of this home is sent a signal.
    """
    from covey.kernel.processes.process import birth

    out, pid = writer(), holder(home.node.pid_file)
    refusal = ""
    try:
        Client(home.node.socket, timeout=ANSWER_S).call(operation, params)
    except NotRunning as error:
        if pid is None:
            out.success("Covey is not running", {"pid": None, "stopping": False, "how": "none"})
            return 0
        refusal = error.message
    except AgentError as error:
        refusal = error.message
    pid = pid or holder(home.node.pid_file) or 0  # it may have been about to start
    born = birth(pid) if pid else ""
    if not refusal and _gone(home, pid, born, STOP_S):
        return _stopped(pid, "asked", f"Covey has stopped (pid {pid})")
    return _ended(home, pid, born, refusal or f"it was asked to stop and has not within {STOP_S:g} s")


def _ended(home: Home, pid: int, born: str, why: str) -> int:
    """End the process that holds the lock of this home with signals, and return 0. Raises if it does not end."""
    import signal

    from covey.kernel.processes.process import signal_process

    if _gone(home, pid, born, 0):
        return _stopped(pid, "asked", f"Covey has stopped (pid {pid})")
    if not born or holder(home.node.pid_file) not in (pid, None):
        raise tool_error(
            f"the daemon does not stop ({why}), and which process it is, is not known",
            f"Find it and end it: fuser -v {home.node.database}; see {home.node.log_file}",
        )
    for name, patience in (("SIGTERM", TERM_S), ("SIGKILL", KILL_S)):
        signal_process(pid, born, getattr(signal, name))
        signal_process(pid, born, signal.SIGCONT)  # a stopped process (Ctrl-Z, SIGSTOP) receives no other
        if _gone(home, pid, born, patience):
            how = "terminated" if name == "SIGTERM" else "killed"
            return _stopped(pid, how, f"Covey did not stop by itself ({why}), and was ended with {name} (pid {pid})")
    raise tool_error(
        f"the daemon (pid {pid}) does not end, even with SIGKILL: "
        "it waits for the system, probably for a disk or a network file system",
        f"See what it waits for: ps -o pid,stat,wchan:30,cmd -p {pid}",
    )


def _gone(home: Home, pid: int, born: str, seconds: float) -> bool:
    """Return whether a daemon releases the lock and ends within some seconds."""
    from covey.kernel.processes.process import birth

    limit = time.monotonic() + seconds
    while holder(home.node.pid_file) == pid or (born and birth(pid) == born):
        if time.monotonic() > limit:
            return False
        time.sleep(NAP_S)
    return True


def _stopped(pid: int, how: str, text: str) -> int:
    writer().success(text, {"pid": pid, "stopping": True, "how": how})
    return 0


def _is_ready(home: Home, pid: int) -> bool:
    """Wait until a daemon that may be starting answers. Returns False if it has ended instead.

    Raises if it does not answer.
    """
    began = time.monotonic()
    while True:
        try:
            Client(home.node.socket, timeout=ANSWER_S).call(HEALTH, {})
        except AgentError as error:
            if holder(home.node.pid_file) is None:
                return False
            # One that is being killed still takes connections and breaks them.
            patience = READY_S if isinstance(error, NotRunning) else ANSWER_S
            if isinstance(error, NotAnswered) or time.monotonic() > began + patience:
                raise _stuck(pid, error) from None
            time.sleep(NAP_S)
        else:
            return True


def _stuck(pid: int, error: AgentError) -> AgentError:
    return tool_error(
        f"Covey is running already (pid {pid}), but does not work: {error.message}",
        "Restart it: covey down && covey up",
    )


def _spawn(home: Home) -> int | None:
    """Start a daemon that outlives this process, and show that it is up.

    If another daemon has started meanwhile, show nothing and return its pid.
    """
    import json
    import subprocess
    import sys

    from covey.kernel.regular_file import descriptor_of

    try:
        errors = descriptor_of(_error_file(home), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except OSError as error:
        raise tool_error(
            f"{_error_file(home)} cannot be written: {error.strerror or error}",
            f"Look at it: ls -l {_error_file(home)}",
        ) from error
    ours, theirs = os.pipe()
    began = os.fstat(errors).st_size
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "covey.node", home.path, str(theirs)],
        stdin=subprocess.DEVNULL,
        stdout=errors,
        stderr=errors,
        cwd="/",
        start_new_session=True,
        pass_fds=[theirs],
    )
    os.close(errors)
    os.close(theirs)
    line = _read(ours, READY_S)
    os.close(ours)
    try:
        report = json.loads(line)
    except ValueError:
        raise _not_ready(home, process, began) from None
    process.returncode = 0  # it is not ours to wait for any more
    if "error" in report:
        raise _as_error(report["error"])
    if report.get("already_running"):
        return int(report["pid"])
    writer().success(
        f"Covey is up (pid {report['pid']})",
        {"pid": report["pid"], "already_running": False, "version": report["version"]},
    )
    return None


def _as_error(envelope: dict[str, Any]) -> AgentError:
    """Return the error that a daemon reported when it could not start, with its own code."""
    known = ("code", "error", "suggestion", "recoverable", "field")
    return AgentError(envelope["message"], **{name: envelope[name] for name in known if name in envelope})


def _not_ready(home: Home, process: Popen[bytes], began: int) -> AgentError:
    """Return the error for a daemon that has not reported that it is ready, after ending it."""
    import subprocess

    how = f"was not ready after {READY_S:g} s and has been ended"
    try:
        code = process.wait(
            1.0 if process.poll() is None else 0
        )  # it has closed its pipe, and may be about to end by itself
        how = f"ended before it was ready ({f'exit code {code}' if code >= 0 else f'signal {-code}'})"
    except subprocess.TimeoutExpired:
        for end, patience in ((process.terminate, TERM_S), (process.kill, KILL_S)):
            end()
            try:
                process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                continue
    last = _last_lines(_error_file(home), began) or _last_lines(home.node.log_file, 0)
    return tool_error(
        f"the daemon {how}" + (f"; its last lines:\n{last}" if last else ""),
        f"See {home.node.log_file} and {_error_file(home)}, or run: covey up --foreground",
    )


def _error_file(home: Home) -> str:
    return os.path.join(home.node.directory, "daemon.err")


def _last_lines(path: str, began: int) -> str:
    """Return the last lines of a file after its first `began` bytes; an empty string if there are none."""
    from covey.kernel.regular_file import open_regular

    try:
        with open_regular(path) as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LAST_BYTES, began))
            lines = file.read(LAST_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"  {line}" for line in lines[-LAST_LINES:])


def _read(fd: int, seconds: float) -> bytes:
    """Return what comes through a pipe until it is closed or a line ends, or until the time is up."""
    import select

    data, limit = b"", time.monotonic() + seconds
    while (left := limit - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        part = os.read(fd, 4096)
        if not part:
            break
        data += part
        if data.endswith(b"\n"):
            break
    return data
