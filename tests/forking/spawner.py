"""Starts the children of forked daemons, peers and MCP servers, by forks of a process that has imported their modules.

A daemon does not wait for its children: it watches them by their pids, so they need not be its own.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.forking.becoming import become, end_as

SPAWNED = ("covey.mesh", "covey.mcp.channel_http", "covey.mcp.http")
"""Modules whose start costs half a second of imports."""
LONGEST = 1 << 20
_POSIX_SPAWN = os.posix_spawn


class Spawner:
    """The process that forks. It ends when nobody is left who could ask it."""

    def __init__(self) -> None:
        self._asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            self._asking.close()
            end_as(lambda: _serve(asked))
        asked.close()

    def fileno(self) -> int:
        """Return the descriptor that a process keeps in order to ask."""
        return self._asking.fileno()

    def posix_spawn(
        self,
        path: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        file_actions: Sequence[tuple[int, int, int]] = (),
        **options: Any,
    ) -> int:
        """Start a program as `os.posix_spawn` does; one of `SPAWNED` by a fork, in a process group of its own."""
        if list(argv[:2]) != [sys.executable, "-m"] or argv[2] not in SPAWNED:
            return _POSIX_SPAWN(path, list(argv), env, file_actions=file_actions, **options)
        streams = [opened for _, opened, number in sorted(file_actions, key=lambda action: action[2])]
        request = {"module": argv[2], "words": argv[3:], "environment": dict(env), "folder": str(Path.cwd())}
        answered, answering = socket.socketpair()
        with answered:
            with answering:
                socket.send_fds(self._asking, [json.dumps(request).encode()], [*streams, answering.fileno()])
            return int(answered.recv(LONGEST))


def _serve(asked: socket.socket) -> None:
    """Fork a process for each request, and answer with its pid."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # which was the socket of the fork server
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, LONGEST, 4)
        if not message:
            return
        *streams, answering = descriptors
        request = json.loads(message)
        module = importlib.import_module(request["module"])
        if hasattr(module, "__path__"):
            module = importlib.import_module(f"{module.__name__}.__main__")
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            asked.close()
            os.close(answering)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become(str(module.__file__), {**request, "group": True}, streams)
            end_as(functools.partial(module.main, request["words"]))
        with contextlib.suppress(OSError):
            os.write(answering, b"%d" % pid)
        for descriptor in descriptors:
            os.close(descriptor)


running: list[Spawner] = []
"""The one of this fork server, which its forks ask."""
