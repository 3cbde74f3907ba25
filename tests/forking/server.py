"""Run a Python program again and again, each time in a process forked from one that has run it once.

`server.py <program>` with a socket as standard input. Typer alone takes a third of a second to import, which
hundreds of tests of the same tool need not pay. Everything else is the program's own, its end included. A request may
name another program, which finds what the first one has imported.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.forking.becoming import become, end_as

del sys.path[0]

STREAMS = 3


def wait_for_request(program: str) -> str:
    """Answer each request with the pid of its process and with its exit code; return the program in that process."""
    server = socket.socket(fileno=os.dup(0))
    while True:
        message, streams, _, _ = socket.recv_fds(server, 1 << 20, STREAMS)
        if not message:
            os._exit(0)
        while not message.endswith(b"\n"):
            message += server.recv(1 << 20)
        child = os.fork()
        if child == 0:
            server.close()
            request = json.loads(message)
            chosen = str(request.get("program", program))
            become(chosen, request, streams)
            return chosen
        for stream in streams:
            os.close(stream)
        server.sendall(b"%d\n" % child)
        server.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def exec_main(program: str) -> None:
    """Run a program as `__main__`."""
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    sys.path[0] = str(Path(PROGRAM).parent)
    sys.argv = [PROGRAM, "describe"]
    with contextlib.suppress(SystemExit), Path(os.devnull).open("w") as ignored, contextlib.redirect_stdout(ignored):
        runpy.run_path(PROGRAM, run_name="__main__")
    gc.freeze()
    end_as(lambda: exec_main(wait_for_request(PROGRAM)))
