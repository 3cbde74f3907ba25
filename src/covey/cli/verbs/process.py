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
"""How long a daemon may take to start. Who needs longer (a very large database on a slow disk) uses `covey up --foreground`, which has no limit."""
ANSWER_S = 5.0
"""How long a daemon may take to answer a question that costs it nothing."""
STOP_S, TERM_S, KILL_S = 20.0, 10.0, 10.0
"""How long a daemon may take to end after it was asked, after SIGTERM, and after SIGKILL."""
NAP_S = 0.02
LAST_LINES, LAST_BYTES = 5, 4096
HEALTH = next(operation for operation in OPERATIONS if operation.name == "health")


def up(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Start the daemon and come back when it is ready."""
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
    """Have the daemon stop: ask it, then SIGTERM, then SIGKILL; come back when it has. Only the process that holds the lock of this home is sent a signal."""
    from covey.kernel.process import birth

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
    """End the process that holds the lock of this home by signals."""
    import signal

    from covey.kernel.process import signal_process

    if _gone(home, pid, born, 0):
        return _stopped(pid, "asked", f"Covey has stopped (pid {pid})")
    if not born or holder(home.node.pid_file) not in (pid, None):
        raise tool_error(
            f"the daemon does not stop ({why}), and which process it is cannot be told",
            f"Find it and end it: fuser -v {home.node.database}; see {home.node.log_file}",
        )
    for name, patience in (("SIGTERM", TERM_S), ("SIGKILL", KILL_S)):
        signal_process(pid, born, getattr(signal, name))
        signal_process(pid, born, signal.SIGCONT)  # one that was stopped (Ctrl-Z, SIGSTOP) hears of nothing else
        if _gone(home, pid, born, patience):
            how = "terminated" if name == "SIGTERM" else "killed"
            return _stopped(pid, how, f"Covey did not stop by itself ({why}), and was ended with {name} (pid {pid})")
    raise tool_error(
        f"the daemon (pid {pid}) does not end, even with SIGKILL: it waits for the system, probably for a disk or a network file system",
        f"See what it waits for: ps -o pid,stat,wchan:30,cmd -p {pid}",
    )


def _gone(home: Home, pid: int, born: str, seconds: float) -> bool:
    """Whether a daemon lets go of the lock and ends within some seconds."""
    from covey.kernel.process import birth

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
    """Wait until a daemon answers that may be starting, or about to make its socket anew. False if it has ended instead, as one that was killed just now."""
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
        f"Covey is running already (pid {pid}), but is of no use: {error.message}",
        "End it and start it anew: covey down && covey up",
    )


def _spawn(home: Home) -> int | None:
    """Start a daemon that outlives us, and say that it is up. If another one was faster, return its pid and say nothing."""
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
    said = _read(ours, READY_S)
    os.close(ours)
    try:
        news = json.loads(said)
    except ValueError:
        raise _not_ready(home, process, began) from None
    process.returncode = 0  # it is not ours to wait for any more
    if "error" in news:
        raise _as_error(news["error"])
    if news.get("already_running"):
        return int(news["pid"])
    writer().success(
        f"Covey is up (pid {news['pid']})", {"pid": news["pid"], "already_running": False, "version": news["version"]}
    )
    return None


def _as_error(envelope: dict[str, Any]) -> AgentError:
    """The error by which a daemon could not start, with its own code."""
    known = ("code", "error", "suggestion", "recoverable", "field")
    return AgentError(envelope["message"], **{name: envelope[name] for name in known if name in envelope})


def _not_ready(home: Home, process: Popen[bytes], began: int) -> AgentError:
    """What to say of a daemon that has not said that it is ready. It does not stay behind."""
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
        f"the daemon {how}" + (f"; it last said:\n{last}" if last else ""),
        f"See {home.node.log_file} and {_error_file(home)}, or run: covey up --foreground",
    )


def _error_file(home: Home) -> str:
    return os.path.join(home.node.directory, "daemon.err")


def _last_lines(path: str, began: int) -> str:
    """The last lines of a file, of those after its first `began` bytes; nothing if there are none."""
    from covey.kernel.regular_file import open_regular

    try:
        with open_regular(path) as file:
            file.seek(max(file.seek(0, os.SEEK_END) - LAST_BYTES, began))
            lines = file.read(LAST_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"  {line}" for line in lines[-LAST_LINES:])


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
