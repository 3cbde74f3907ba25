"""A real daemon in a home of its own, and the installed `covey` command to talk to it."""

from __future__ import annotations

import atexit
import functools
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from lab import at_terminal
from lab.at_terminal import decides, typed
from tests.covey.declared import checked_events, undeclared_in
from tests.forking.fork_server import SERVER, SMALL, TERMINATOR, ForkServers

COMMAND = str(Path(sys.executable).parent / "covey")
ROOT = Path(__file__).parents[2]
FORKED_COMMAND = str(ROOT / "tests" / "forking" / "covey_command.py")
TIME_LIMIT = 120
MANY_DESCRIPTORS = 64
OF_INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that the interpreter reads when it starts."""

settings.register_profile(
    "covey", deadline=None
)  # how long an example takes tells more about the machine than about us
settings.load_profile("covey")


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def result(self) -> Any:
        """The result in its envelope."""
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)["result"]

    @property
    def error(self) -> Any:
        """The error in its envelope, after whatever progress was told before it."""
        assert self.code != 0, self.stdout
        return json.loads(self.stderr[self.stderr.rindex("\n{\n") :] if "\n{\n" in self.stderr else self.stderr)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the daemon's socket."""

    def __init__(self, path: str) -> None:
        super().__init__("covey", timeout=TIME_LIMIT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIME_LIMIT)
        self.sock.connect(self._path)


@functools.cache
def forking(program: Path, script: str) -> ForkServers:
    """Return the fork servers of a program, which are closed when this process ends."""
    servers = ForkServers(program, script=script, PYTHONPATH=str(ROOT))
    atexit.register(servers.close)
    return servers


class Covey:
    """A home and what can be done with it."""

    command: tuple[str, ...] = (COMMAND,)
    forked: tuple[str, ...] = (FORKED_COMMAND,)
    """The same for a fork server; empty for none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.node = self.home / "node"

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "LANG", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        }
        # TMUX_TMPDIR: the daemon sees the tmux servers of this folder and none of the person who runs the tests.
        return {
            **kept,
            "HOME": str(self.folder),
            "COVEY_HOME": str(self.home),
            "TMUX_TMPDIR": str(self.folder),
            **extra,
        }

    def run(self, *words: str, stdin: str = "", **extra: str) -> Ran:
        """Run the command behind pipes, in a fork unless its start is tested; a person's decision is on a terminal."""
        decision = decides(words)
        apart = any(name.startswith(OF_INTERPRETER) for name in extra)
        if self.forked and len(stdin) <= SMALL // 4 and not apart:
            program, *before = self.forked
            servers, environment = forking(Path(program), TERMINATOR if decision else SERVER), self.environment(**extra)
            given = stdin.encode()
            code, out, err = servers.capture([*before, *words], self.folder, environment, given, terminal=decision)
            return Ran(code, out.decode(), err.decode())
        command = [*self.command, *words]
        ended = subprocess.run(
            typed(command) if decision else command,
            cwd=self.folder,
            env=self.environment(**extra),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the command and come back at once; a decision of a person is on a terminal, as with `run`."""
        command = [COMMAND, *words]
        return subprocess.Popen(
            typed(command) if decides(words) else command,
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def decide(self, method: str, target: str, /, **params: Any) -> tuple[int, Any]:
        """Make one request from a person's terminal: the status, and what was answered."""
        words = [str(self.node / "sock"), method, target, json.dumps(params)]
        servers = forking(Path(FORKED_COMMAND), TERMINATOR)
        code, out, err = servers.capture(
            words, self.folder, self.environment(), terminal=True, program=str(at_terminal.REQUEST)
        )
        if code:
            raise subprocess.CalledProcessError(code, words, out, err)
        status, _, body = out.decode().partition(" ")
        return int(status), json.loads(body)

    @property
    def pid(self) -> int:
        return int((self.node / "pid").read_text())

    @property
    def port(self) -> int:
        return int((self.node / "http.port").read_text())

    @property
    def token(self) -> str:
        return (self.node / "http.token").read_text().strip()

    def unix(self) -> UnixConnection:
        return UnixConnection(str(self.node / "sock"))

    def request(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: dict[str, str] | None = None,
        *,
        tcp: bool = False,
    ) -> tuple[int, dict[str, str], bytes]:
        """One request: status, headers and body. Over TCP the token is sent unless the headers say otherwise."""
        given = dict(headers or {})
        connection: http.client.HTTPConnection = self.unix()
        if tcp:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIME_LIMIT)
            given.setdefault("Authorization", f"Bearer {self.token}")
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@pytest.fixture(autouse=True)
def descriptors() -> Iterator[None]:
    """Tests share a process, and beyond 1,024 descriptors `select` fails: not a few of them may stay open."""
    before = len(list(Path("/dev/fd").iterdir()))
    yield
    assert len(list(Path("/dev/fd").iterdir())) < before + MANY_DESCRIPTORS


@pytest.fixture(autouse=True)
def events_as_declared() -> Iterator[None]:
    """Events that are appended in this process carry what their kinds declare."""
    found: list[str] = []
    with checked_events(found):
        yield
    assert found == []


@pytest.fixture
def no_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the command and its daemon started as a person starts them, where that is what is tested."""
    monkeypatch.setattr(Covey, "forked", ())


@pytest.fixture
def covey() -> Iterator[Covey]:
    """A home without a daemon. Its path is short: a Unix socket's must be."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    found = Covey(folder)
    yield found
    found.run("down")
    wrong = undeclared_in(found.node / "node.db")
    shutil.rmtree(folder, ignore_errors=True)
    assert wrong == []


@pytest.fixture
def daemon(covey: Covey) -> Covey:
    """The same with a running daemon."""
    assert covey.run("up").code == 0
    return covey


@pytest.fixture(scope="module")
def served() -> Iterator[Covey]:
    """One running daemon for a whole file of tests that only ask it things."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    found = Covey(folder)
    assert found.run("up").code == 0
    yield found
    found.run("down")
    wrong = undeclared_in(found.node / "node.db")
    shutil.rmtree(folder, ignore_errors=True)
    assert wrong == []
