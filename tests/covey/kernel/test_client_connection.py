"""The client where no daemon can be reached: the socket is missing, left behind, forbidden or crowded."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from covey.kernel.client import Client, NotRunning
from murli import AgentError
from tests.covey.kernel.scripted_server import GET, LIMIT_S, Server, sized


def test_a_missing_socket_is_reported_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(NotRunning) as caught:
        Client(str(tmp_path / "sock")).call(GET, {})
    assert caught.value.message == f"the Covey daemon is not running (there is no socket at {tmp_path}/sock)"
    assert (caught.value.error, caught.value.suggestion, caught.value.recoverable) == (
        "daemon_not_running",
        "Run `covey up` to start it.",
        True,
    )


def test_a_socket_that_a_crash_left_behind_is_reported_as_not_running(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "sock"))
    left.close()
    with pytest.raises(NotRunning, match=r"nobody listens at its socket .*/sock"):
        Client(str(tmp_path / "sock")).call(GET, {})


def test_a_path_that_is_not_a_socket_is_reported_with_what_to_check(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "sock", Path("/" + "x" * 200)):
        with pytest.raises(AgentError, match="cannot be used") as caught:
            Client(str(place)).call(GET, {})
        assert "COVEY_HOME" in caught.value.suggestion


STRANGER = """
import os, sys
from covey.contract import OPERATIONS
from covey.kernel.operations.call import Call
from covey.kernel.client import Client
from murli import AgentError
if os.getuid() == 0:
    os.setuid(65534)
try:
    Client(sys.argv[1]).call(OPERATIONS[2], {})
except AgentError as error:
    print(error.code, error.message)
"""


def test_a_socket_of_another_user_is_reported_as_permission_denied(server: Server) -> None:
    Path(server.path).chmod(0)
    Path(server.path).parent.chmod(0o755)
    ended = subprocess.run(
        [sys.executable, "-c", STRANGER, server.path], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert ended.stdout == f"6 the daemon's socket {server.path} belongs to somebody else\n"


def test_a_daemon_with_too_many_callers_is_waited_for(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    listener.listen(0)
    first = socket.socket(socket.AF_UNIX)
    first.connect(str(tmp_path / "sock"))
    with pytest.raises(AgentError, match="took no connection within"):
        Client(str(tmp_path / "sock"), timeout=0.05).call(GET, {})

    def make_room() -> None:
        listener.accept()[0].close()
        connection = listener.accept()[0]
        connection.recv(65536)
        connection.sendall(sized(b"{}"))
        connection.close()

    thread = threading.Timer(0.05, make_room)
    thread.start()
    assert Client(str(tmp_path / "sock"), timeout=LIMIT_S).call(GET, {}) == {}
    thread.join()
    first.close()
    listener.close()
