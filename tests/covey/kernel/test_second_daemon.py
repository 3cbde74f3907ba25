"""A second kind of daemon, in a directory of its own, beside a node."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from covey.contract.kernel import OPERATIONS
from covey.kernel.client import Client
from covey.kernel.config.config import set_value
from covey.kernel.doctor.doctor import examine
from covey.kernel.home import Home
from covey.kernel.processes.process import birth
from covey.kernel.seat import Seat
from covey.kernel.subsystem import Subsystem, settings_of
from covey.node.subsystems import SUBSYSTEMS
from murli import AgentError
from tests.covey.conftest import Covey
from tests.covey.kernel import echo_daemon
from tests.covey.kernel.echo_daemon import ECHO, KIND, NAME, SAY

LIMIT_S = 120
BY_NAME = {operation.name: operation for operation in OPERATIONS}


class Echo:
    """A running echo daemon."""

    def __init__(self, process: subprocess.Popen[str], seat: Seat, outcome: dict[str, Any]) -> None:
        self.process = process
        self.seat = seat
        self.outcome = outcome

    def call(self, name: str, **params: Any) -> Any:
        return Client(self.seat.socket).call(SAY if name == "say" else BY_NAME[name], params)

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(LIMIT_S)


@contextmanager
def echo(covey: Covey) -> Iterator[Echo]:
    command = [sys.executable, "-m", echo_daemon.__name__, str(covey.home)]
    environment = {**covey.environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Echo(process, Home(str(covey.home)).seat(KIND, NAME), json.loads(process.stdout.readline()))
        finally:
            process.kill()


@pytest.fixture
def up(covey: Covey) -> Iterator[Covey]:
    """A home with a running node; the child that the echo daemon leaves is ended."""
    assert covey.run("up").code == 0
    yield covey
    record = Path(Home(str(covey.home)).seat(KIND, NAME).directory) / "children" / "sleeper.json"
    if record.exists():
        os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)


def pids(daemon: Echo) -> list[int]:
    return [child["pid"] for child in daemon.call("status")["children"]]


def test_it_lives_beside_a_node_and_shares_nothing_with_it(up: Covey) -> None:
    with echo(up) as second:
        assert second.outcome["pid"] == second.process.pid
        assert second.call("say", text="hello") == {"said": "hello", "caller": os.getuid()}
        status = second.call("status")
        assert (status["pid"], status["echo"]) == (second.process.pid, {"before": 0})
        assert "fleet" not in status
        node = up.run("status").result
        assert node["pid"] != second.process.pid
        assert "echo" not in node
        folder = Path(second.seat.directory)
        assert folder == up.home / KIND / NAME
        assert {"pid", "sock", "http.port", "http.token", "echo.db", "daemon.log"} <= {p.name for p in folder.iterdir()}
        assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)} == {0o700}
        assert up.run("down").code == 0
        assert second.call("health")["ok"]
        second.stop()
        assert second.process.returncode == 0


def test_each_serves_its_own_operations_only(up: Covey) -> None:
    with echo(up) as second:
        with pytest.raises(AgentError):
            Client(str(up.home / "node" / "sock")).call(SAY, {"text": "x"})
        paths = second.call("openapi")["paths"]
        assert "/v1/say" in paths
        assert not any("beats" in path or "panes" in path for path in paths)
        assert "/v1/say" not in up.run("openapi").stdout


def test_its_events_and_its_audit_are_its_own(up: Covey) -> None:
    with echo(up) as second:
        second.call("say", text="hello")
        found = list(Client(second.seat.socket).stream(BY_NAME["events"], {"follow": False}))
        assert [message["event"] for message in found] == ["echo.started", "audit.call"]
        assert "echo.started" not in up.run("events").stdout


def test_its_configuration_is_its_own(up: Covey) -> None:
    seat = Home(str(up.home)).seat(KIND, NAME)
    set_value(seat, settings_of([ECHO]), "echo.greeting", "well, ")
    assert (Path(seat.directory) / "config.toml").read_text().strip().endswith('greeting = "well, "')
    with echo(up) as second:
        assert second.call("say", text="hello")["said"] == "well, hello"
        assert {item["key"] for item in second.call("config.list")["items"] if item["source"] == "file"} == {
            "echo.greeting"
        }
        assert up.run("config", "get", "echo.greeting").code != 0
        second.call("config.set", key="echo.greeting", value="yes, ")
        assert second.call("say", text="hello")["said"] == "yes, hello"


def test_a_second_one_in_the_same_seat_is_refused(up: Covey) -> None:
    with echo(up) as second, echo(up) as third:
        assert third.outcome == {"already_running": True, "pid": second.process.pid}


def test_after_a_crash_it_has_its_data_and_adopts_its_child(up: Covey) -> None:
    with echo(up) as second:
        second.call("say", text="hello")
        (child,) = pids(second)
        second.stop(signal.SIGKILL)
    with echo(up) as second:
        assert second.call("status")["echo"] == {"before": 1}
        assert pids(second) == [child]
        second.stop()
    assert birth(child), "a child that outlives its daemon goes on"


def test_its_doctor_examines_what_its_subsystem_declares(up: Covey) -> None:
    with echo(up) as second:
        found = {one.name: one.detail for one in examine(second.seat, settings_of([ECHO]), [ECHO])}
    assert (found["echo"], found["said"]) == (second.seat.directory, "0 before")
    assert "tmux" not in found


@pytest.mark.parametrize("subsystems", [[ECHO], [*SUBSYSTEMS, ECHO]])
async def test_an_operation_of_another_kind_of_daemon_is_refused(tmp_path: Path, subsystems: list[Subsystem]) -> None:

    from covey.kernel.daemon import Daemon  # noqa: PLC0415

    with pytest.raises(ValueError, match="say is served by echo, not by node"):
        async with Daemon.running(Home(str(tmp_path)).node, subsystems):
            pass
