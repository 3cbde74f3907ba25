"""What goes wrong around a real daemon and real tmux, and that the fleet gets over it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.integrate import hook, script
from covey.fleet.integrate.spool import Spool
from covey.fleet.judge import Rules
from covey.fleet.model import SEEN, SURE, Claim
from covey.fleet.processes import ProcessTable
from covey.kernel.clock import ManualClock
from tests.covey.conftest import Covey
from tests.covey.fleet.room import LIMIT_S, until

TOY = Path(__file__).parent / "adapters" / "data" / "toy.toml"
AGENT = '#!/bin/sh\nstty -echo\nwhile read -r line; do eval "$line"; done\n'
"""It does what is typed into it. By its name Covey takes it for one agent or another."""


class Fleet:
    """A home, a tmux server that its daemon sees and no other, and agents in panes."""

    def __init__(self, covey: Covey) -> None:
        self.covey = covey
        for name in ("toy-agent", "cursor-agent"):
            (covey.folder / name).write_text(AGENT)
            (covey.folder / name).chmod(0o700)
        (covey.home / "adapters").mkdir(parents=True)
        shutil.copy(TOY, covey.home / "adapters")

    def tmux(self, *words: str) -> str:
        ended = subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", *words], env=self.covey.environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    def agent(self, name: str = "toy-agent") -> str:
        """Start one; its pane."""
        return self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", str(self.covey.folder / name))

    def type(self, pane: str, text: str) -> None:
        self.tmux("send-keys", "-t", pane, "-l", "--", text)
        self.tmux("send-keys", "-t", pane, "Enter")

    def show(self, pane: str, line: str) -> None:
        """Have the agent show a line at the end of its screen."""
        self.type(pane, f"printf '\\n{line}'")

    def up(self) -> None:
        assert self.covey.run("up").code == 0

    def kill(self) -> None:
        """End the daemon as a crash would."""
        pid = self.covey.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: ProcessTable.read().get(pid) is None)

    def rows(self) -> list[dict[str, Any]]:
        status, _, body = self.covey.request("GET", "/v1/panes")
        assert status == 200, body
        return json.loads(body)["items"]  # type: ignore[no-any-return]

    def row(self, pane: str, state: str = "") -> dict[str, Any]:
        """The row of an agent, as soon as it is there and in that state."""
        return until(lambda: next((row for row in self.rows() if row["identity"]["pane_id"] == pane and state in {"", row["state"]}), None))

    def heard(self) -> list[str]:
        """What hooks have said, as it stands in the journal."""
        _, _, body = self.covey.request("GET", "/v1/events?kind=agent.signal")
        told = [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line.startswith(b"data: {")]
        return [event["data"]["claim"]["detail"] for event in told if event["data"]["source"] == "hook"]

    @property
    def log(self) -> str:
        return Path(self.covey.node / "daemon.log").read_text()


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    made = Fleet(covey)
    yield made
    with contextlib.suppress(AssertionError):
        made.tmux("kill-server")


def tool(number: int) -> bytes:
    """What Cursor's hook says before it runs a command."""
    said = {
        "hook_event_name": "preToolUse",
        "conversation_id": "c",
        "tool_use_id": f"t{number}",
        "tool_name": "Shell",
        "tool_input": {"command": f"n{number}"},
    }
    return json.dumps(said).encode()


def test_a_tmux_server_that_dies_takes_its_agents_along_and_the_next_one_brings_its_own(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    os.kill(int(fleet.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    until(lambda: not fleet.rows())
    again = fleet.agent()
    assert again == pane, "a new server counts its panes from the beginning"
    fleet.show(again, "[work] on it")
    after = fleet.row(again, "running")
    assert after["runtime_id"] != before["runtime_id"]
    assert len(fleet.rows()) == 1


def test_a_control_client_that_stands_still_does_not_keep_lists_or_changes_from_anybody(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    fleet.row(pane, "waiting_approval")
    stuck = [child.pid for child in ProcessTable.read().children(fleet.covey.pid) if child.name.startswith("tmux")]
    assert stuck
    for pid in stuck:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert [row["state"] for row in fleet.rows()] == ["waiting_approval"]
        fleet.show(pane, "[work] on it")
        fleet.row(pane, "running")
    finally:
        for pid in stuck:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def test_a_tmux_server_that_stands_still_is_told_of_at_once_and_seen_again_when_it_goes_on(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    server = int(fleet.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        began = time.monotonic()
        fleet.rows()
        assert time.monotonic() - began < 1, "a list does not wait for tmux"
        assert fleet.row(pane, "unknown")["reason"] == "target_unreachable"
    finally:
        os.kill(server, signal.SIGCONT)
    assert fleet.row(pane, "waiting_approval")["runtime_id"] == before["runtime_id"]


def test_hundreds_of_panes_that_come_and_go_leave_what_is_there(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    fleet.row(pane, "waiting_approval")
    kept = [fleet.agent() for _ in range(3)]
    agent = fleet.covey.folder / "toy-agent"
    burst = fleet.covey.folder / "burst"
    burst.write_text(
        "\n".join(["new-session -d -s burst", *(f"new-window -d -t burst: '{agent if i % 10 == 0 else 'exec sleep 1000'}'" for i in range(300))])
    )
    fleet.tmux("source-file", str(burst))
    fleet.tmux("kill-session", "-t", "burst")
    fleet.tmux("source-file", str(burst))
    until(lambda: len(fleet.rows()) == 1 + 3 + 30)
    fleet.tmux("kill-session", "-t", "burst")
    until(lambda: sorted(row["identity"]["pane_id"] for row in fleet.rows()) == sorted([pane, *kept]))
    assert fleet.row(pane)["state"] == "waiting_approval"
    fleet.show(kept[0], "[work] on it")
    fleet.row(kept[0], "running")


def test_after_a_crash_the_next_daemon_knows_the_states_again_and_a_follower_goes_on(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    follower = fleet.covey.start("watch")
    heard: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: heard.extend(map(json.loads, follower.stdout or ())))

    def seen(state: str) -> bool:
        return any(row["state"] == state for line in list(heard) for row in line.get("items", ()))

    try:
        reader.start()
        until(lambda: seen("waiting_approval"))
        fleet.kill()
        fleet.show(pane, "[work] on it")
        fleet.up()
        assert fleet.row(pane, "running")["runtime_id"] == before["runtime_id"]
        until(lambda: seen("running"))
        fleet.show(pane, "[ask] make install")
        until(lambda: any(row["detail"] == "make install" for line in list(heard) for row in line.get("items", ())))
    finally:
        follower.kill()
        reader.join()
        follower.communicate()


def test_a_flood_of_hooks_is_taken_in_whole_while_others_are_answered(fleet: Fleet) -> None:
    pane = fleet.agent("cursor-agent")
    fleet.up()
    pid = fleet.row(pane)["pid"]
    count, waits, over = 2000, list[float](), threading.Event()

    def ask() -> None:
        while not over.is_set():
            began = time.monotonic()
            fleet.rows()
            waits.append(time.monotonic() - began)

    asking = threading.Thread(target=ask)
    asking.start()
    connection = fleet.covey.unix()
    at = int(time.time() * 1000) - count
    try:
        for number in range(count):
            connection.request("POST", "/v1/hooks/cursor", tool(number), {"X-Covey-Pid": str(pid), "X-Covey-At": str(at + number)})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
    finally:
        over.set()
        asking.join()
        connection.close()
    until(lambda: len(fleet.heard()) >= count)
    assert Counter(fleet.heard()) == Counter(f"Shell: n{number}" for number in range(count))
    assert max(waits) < 2
    assert fleet.row(pane, "running")["detail"] == f"Shell: n{count - 1}"


GARBAGE = [
    b"",
    b" ",
    b"\xff\xfe\x00",
    b"nothing",
    b"null",
    b"[]",
    b'"\\ud800"',
    b"[" * 100_000,
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    b"1e999",
    b"NaN",
    b"9" * 5_000,
    b'{"hook_event_name": []}',
    b'{"hook_event_name": "preToolUse", "conversation_id": {"a": 1}, "session_id": 7}',
    b'{"hook_event_name": "preToolUse", "conversation_id": "c", "tool_name": "\\ud800", "tool_input": {"command": "\\udfff\\u0000"}}',
    b'{"hook_event_name": "stop", "conversation_id": "../../..", "session_id": "..", "status": []}',
    b'{"hook_event_name": "preToolUse", "conversation_id": "c", "tool_input": [[[]]], "tool_use_id": 1e400}',
    b"x" * (2 << 20),
]
HEADERS = [
    {},
    {"X-Covey-Pid": "a, -1, 99999999999999999999 \xb2", "X-Covey-At": "\xb2"},
    {"X-Covey-Pid": " ".join(["1"] * 500), "X-Covey-At": "9" * 15},
    {"X-Covey-Pane": "%\xff", "X-Covey-Tmux": ",,,"},
    {"X-Covey-At": "-1", "X-Covey-Id": "\xff", "Content-Type": "nonsense"},
]


def test_hooks_with_garbage_are_no_trouble(fleet: Fleet) -> None:
    pane = fleet.agent("cursor-agent")
    fleet.up()
    daemon, pid = fleet.covey.pid, str(fleet.row(pane)["pid"])
    for body in GARBAGE:
        for headers in [*HEADERS, {"X-Covey-Pid": pid}, {"X-Covey-Pid": pid, "X-Covey-At": "9" * 15}]:
            status, _, answer = fleet.covey.request("POST", "/v1/hooks/cursor", body, headers)
            assert status < 500, (status, body[:100], headers, answer)
        for agent in ("claude", "codex", "copilot", "gemini", "opencode", "toy", "nobody", "%00", "-"):
            status, _, answer = fleet.covey.request("POST", f"/v1/hooks/{agent}", body, {"X-Covey-Pid": pid})
            assert status < 500, (status, agent, body[:100], answer)
    fleet.covey.request("POST", "/v1/hooks/cursor", tool(1), {"X-Covey-Pid": pid})
    assert fleet.row(pane, "running")["detail"] == "Shell: n1"
    assert fleet.covey.pid == daemon
    assert "Traceback" not in fleet.log


def installed(fleet: Fleet) -> str:
    """The hook, put where `covey integrate` puts it: the command that an agent runs."""
    for file, (content, mode) in script.files(fleet.covey.home).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    return script.command(fleet.covey.home, "cursor")


def test_what_hooks_said_while_the_daemon_was_down_is_heard_once_when_it_is_back(fleet: Fleet) -> None:
    command, count = installed(fleet), 20
    pane = fleet.agent("cursor-agent")
    fleet.up()
    pid = fleet.row(pane)["pid"]
    fleet.kill()
    payloads = fleet.covey.folder / "payloads"
    payloads.mkdir()
    for number in range(count):
        (payloads / str(number)).write_bytes(tool(number))
    words = " ".join(str(number) for number in range(count))
    fleet.type(pane, f"for n in {words}; do {command} <{payloads}/$n; done; printf '\\n[said]'")
    spool = fleet.covey.node / "spool"
    until(lambda: "[said]" in fleet.tmux("capture-pane", "-p", "-t", pane))
    left = list(Spool(spool).waiting())
    assert len(left) == count
    fleet.up()
    until(lambda: len(fleet.heard()) >= count)
    until(lambda: not list(spool.glob("*.hook")))
    for request in left:  # as if the daemon had got each of them right before it died
        fleet.covey.request("POST", "/v1/hooks/cursor", request.body, {name: request.headers[name] for name in ("x-covey-pid", "x-covey-at")})
    assert fleet.row(pane, "running")["pid"] == pid
    assert Counter(fleet.heard()) == Counter(f"Shell: n{number}" for number in range(count))


KEPT = 1000


def test_more_words_than_can_be_kept_are_read_when_their_agent_is_seen(fleet: Fleet) -> None:
    pane = fleet.agent("cursor-agent")
    fleet.up()
    pid = fleet.row(pane)["pid"]
    fleet.kill()
    count, began = 1500, time.time_ns()
    for number in range(count):
        at, body = began + number * 1_000_000, tool(number)
        lines = [
            b"POST /v1/hooks/cursor HTTP/1.1",
            b"X-Covey-Pid: %d" % pid,
            b"X-Covey-At: %d" % (at // 1_000_000),
            b"Content-Length: %d" % len(body),
        ]
        hook.spool(bytes(fleet.covey.home), b"%020d-1" % at, b"\r\n".join(lines) + b"\r\n\r\n" + body)
    server = int(fleet.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)  # so that the daemon has time to read before it can see whose words they are
    try:
        fleet.up()
        until(lambda: len(list((fleet.covey.node / "spool").glob("*.hook"))) <= count - KEPT)  # the rest waits on the disk
    finally:
        os.kill(server, signal.SIGCONT)
    until(lambda: fleet.rows() and fleet.row(pane)["detail"] == f"Shell: n{count - 1}")
    until(lambda: len(fleet.heard()) >= count)
    assert Counter(fleet.heard()) == Counter(f"Shell: n{number}" for number in range(count))


def said(clock: ManualClock, source: str, state: str, number: int, *, at: float | None = None) -> Signal:
    now = clock.time()
    claim = Claim(source=source, state=state, at=at or now, level=source == "screen", strength=SEEN if source == "screen" else SURE)
    key = f"{number:04d}"
    return Signal(runtime_id="r", source=source, dedupe_key=key, event_id=key, event_time=min(at or now, now), ingested_at=now, claim=claim)


@pytest.mark.parametrize("jump", [-86_400.0, -3600.0, -2.0, 2.0, 60.0, 1800.0])
def test_a_clock_that_is_set_does_not_make_news_old(jump: float) -> None:
    clock, engine = ManualClock(), Engine(Rules())
    engine.start("r")
    engine.take(said(clock, "screen", "running", 1))
    engine.take(said(clock, "hook", "running", 2))
    assert engine.settle("r", clock.time())[0].state == "running"
    clock.set_wall(clock.time() + jump)
    assert engine.settle("r", clock.time())[0].state == "running"
    clock.advance(0.5)
    assert engine.take(said(clock, "hook", "waiting_approval", 3)) == APPLIED
    assert engine.settle("r", clock.time())[0].state == "waiting_approval"
    clock.advance(0.5)
    assert engine.take(said(clock, "screen", "idle", 4)) == APPLIED
    clock.advance(1.0)
    assert engine.settle("r", clock.time())[0].state == "idle", "the screen has moved since"


def test_a_hook_from_the_future_does_not_hold_the_state_until_then() -> None:
    clock, engine = ManualClock(), Engine(Rules())
    engine.start("r")
    engine.take(said(clock, "screen", "idle", 1))
    clock.advance(1.0)
    engine.take(said(clock, "hook", "running", 2, at=clock.time() + 1e6))
    assert engine.settle("r", clock.time())[0].state == "running"
    clock.advance(1.0)
    engine.take(said(clock, "screen", "waiting_approval", 3))
    clock.advance(1.0)
    assert engine.settle("r", clock.time())[0].state == "waiting_approval"


def test_a_broken_description_of_an_agent_leaves_the_others_working_and_is_told(fleet: Fleet) -> None:
    (fleet.covey.home / "adapters" / "broken.toml").write_text('name = "broken"\n[process\n')
    (fleet.covey.home / "adapters" / "claude.toml").write_bytes(b"\xff\xfe")
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    assert fleet.row(pane, "waiting_approval")["agent"] == "toy"
    left_out = [line for line in fleet.log.splitlines() if "an adapter was left out" in line]
    assert any("broken.toml, line 2" in line for line in left_out), left_out
    assert any("claude.toml" in line for line in left_out), left_out
    known = {item["agent"] for item in fleet.covey.run("adapters", "list").result["items"]}
    assert {"claude", "codex", "toy"} <= known
    assert "broken" not in known
