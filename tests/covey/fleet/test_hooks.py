"""Hooks and a real daemon: what they say is heard once, in order, whatever happens to the daemon."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from covey.agents.integration import hook, script
from covey.agents.integration.spool import Spool
from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until

pytestmark = pytest.mark.once  # the release of tmux makes no difference

FLOOD = 5_000
AGENTS = 5


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


@pytest.fixture
def pid(fleet: Fleet) -> int:
    """Of an agent that the daemon has seen."""
    pane = fleet.agent("cursor-agent")
    fleet.up()
    return int(fleet.row(pane)["pid"])


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


def wanted(count: int) -> list[str]:
    return [f"Shell: n{number}" for number in range(count)]


def headers(pid: int, at: int, pane: str = "%0") -> dict[str, str]:
    """As the script sends them; `at` in nanoseconds."""
    return {
        "X-Covey-Id": f"{at:020d}-1",
        "X-Covey-At": str(at // 1_000_000),
        "X-Covey-Pid": str(pid),
        "X-Covey-Pane": pane,
    }


def spool(fleet: Fleet, pid: int, at: int, body: bytes, agent: str = "cursor") -> None:
    """Leave what the script would leave."""
    lines = [
        f"POST /v1/hooks/{agent} HTTP/1.1",
        *(f"{name}: {value}" for name, value in headers(pid, at).items()),
        f"Content-Length: {len(body)}",
    ]
    hook.spool(bytes(fleet.covey.home), b"%020d-1" % at, "\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def install(fleet: Fleet) -> None:
    """Put the script where `covey integrate` puts it."""
    for file, (content, mode) in script.files(fleet.covey.home).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)


def files(fleet: Fleet) -> list[Path]:
    return sorted((fleet.covey.node / "spool").glob("*.hook"))


def drain(fleet: Fleet) -> None:
    """Until nothing is left in the spool; it may take long, but it goes on."""
    while left := len(files(fleet)):
        until(lambda left=left: len(files(fleet)) < left)  # type: ignore[misc]


class Asking:
    """Somebody who asks for the list all the time."""

    def __init__(self, fleet: Fleet) -> None:
        self.answers = 0
        self._fleet = fleet
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.wait(0.02):
            self._fleet.rows()
            self.answers += 1


@pytest.mark.first
def test_a_flood_of_hooks_is_taken_in_whole_and_in_order_while_others_are_answered(fleet: Fleet) -> None:
    panes = [fleet.agent("cursor-agent") for _ in range(AGENTS)]
    fleet.up()
    pids = [int(fleet.row(pane)["pid"]) for pane in panes]
    began, each = time.time_ns() - FLOOD * 1_000_000, FLOOD // AGENTS
    statuses: list[int] = []

    def say(agent: int) -> None:
        connection = fleet.covey.unix()
        for number in range(agent * each, (agent + 1) * each):
            connection.request(
                "POST", "/v1/hooks/cursor", tool(number), headers(pids[agent], began + number * 1_000_000)
            )
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

    speaking = [threading.Thread(target=say, args=(agent,)) for agent in range(AGENTS)]
    with Asking(fleet) as asking:
        for thread in speaking:
            thread.start()
        for thread in speaking:
            thread.join()
    assert set(statuses) == {200}
    assert asking.answers
    heard = fleet.heard()  # what was answered is in the journal
    assert sorted(heard) == sorted(wanted(FLOOD))
    for agent, pane in enumerate(panes):
        mine = wanted(FLOOD)[agent * each : (agent + 1) * each]
        assert [said for said in heard if said in set(mine)] == mine
        assert fleet.row(pane, "running")["detail"] == mine[-1]


def test_a_spool_full_of_hooks_is_read_whole_and_in_order_while_others_are_answered(fleet: Fleet, pid: int) -> None:
    fleet.kill()
    began = time.time_ns() - FLOOD * 1_000
    folder = fleet.covey.node / "spool"
    folder.mkdir(exist_ok=True)
    spool(fleet, pid, began, tool(0))
    (first,) = files(fleet)
    content = first.read_bytes()
    for number in range(1, FLOOD):
        at, body = began + number * 1_000, tool(number)
        request = content.replace(b"%020d-1" % began, b"%020d-1" % at).replace(
            b"At: %d" % (began // 1_000_000), b"At: %d" % (at // 1_000_000)
        )
        request = request.replace(b"Length: %d" % len(tool(0)), b"Length: %d" % len(body)).replace(tool(0), body)
        (folder / f"{at:020d}-1-{len(request)}.hook").write_bytes(request)
    assert len(files(fleet)) == FLOOD <= hook.SPOOL_FILES
    fleet.up()
    with Asking(fleet) as asking:
        drain(fleet)
    assert asking.answers
    assert fleet.heard() == wanted(FLOOD)
    assert [row["detail"] for row in fleet.rows()] == wanted(FLOOD)[-1:]
    assert "the spool holds" not in fleet.log


def test_what_hooks_said_while_the_daemon_was_down_is_heard_once_when_it_is_back(fleet: Fleet) -> None:
    count = 20
    install(fleet)
    pane = fleet.agent("cursor-agent")
    fleet.up()
    pid = fleet.row(pane)["pid"]
    fleet.kill()
    payloads = fleet.covey.folder / "payloads"
    payloads.mkdir()
    for number in range(count):
        (payloads / str(number)).write_bytes(tool(number))
    words = " ".join(str(number) for number in range(count))
    command = script.command(fleet.covey.home, "cursor")
    fleet.type(pane, f"for n in {words}; do {command} <{payloads}/$n; done; printf '\\n[said]'")
    until(lambda: "[said]" in fleet.tmux("capture-pane", "-p", "-t", pane))
    left = {file: file.read_bytes() for file in files(fleet)}
    assert len(left) == count
    fleet.up()
    drain(fleet)
    assert fleet.heard() == wanted(count)
    assert fleet.row(pane, "running")["pid"] == pid
    for file, content in left.items():  # as if each had been delivered too late and spooled as well
        file.write_bytes(content)
    drain(fleet)
    fleet.kill()
    for (
        file,
        content,
    ) in left.items():  # as if the daemon had died after it wrote them down and before it removed the files
        file.write_bytes(content)
    fleet.up()
    drain(fleet)
    assert fleet.heard() == wanted(count)


def test_a_hook_that_was_answered_too_late_and_spooled_counts_once(fleet: Fleet, pid: int) -> None:
    at = time.time_ns()
    for _ in range(2):
        status, _, _ = fleet.covey.request("POST", "/v1/hooks/cursor", tool(0), headers(pid, at))
        assert status == 200
    spool(fleet, pid, at, tool(0))
    drain(fleet)
    fleet.kill()
    spool(fleet, pid, at, tool(0))
    fleet.up()
    drain(fleet)
    assert fleet.heard() == wanted(1)


def test_two_hooks_that_say_the_same_at_the_same_time_are_two(fleet: Fleet, pid: int) -> None:
    at = time.time_ns()
    same = tool(0).replace(b'"tool_use_id": "t0", ', b"")
    for number in range(2):
        told = {**headers(pid, at), "X-Covey-Id": f"{at:020d}-{number}"}
        assert fleet.covey.request("POST", "/v1/hooks/cursor", same, told)[0] == 200
    assert fleet.heard() == wanted(1) * 2


def test_whenever_the_daemon_is_killed_every_hook_is_heard_once(fleet: Fleet, pid: int) -> None:
    chance, began, count, kills = random.Random(5), time.time_ns(), 0, 8
    for _ in range(kills):
        for _ in range(150):
            spool(fleet, pid, began + count * 1_000, tool(count))
            count += 1
        left = chance.randrange(150)
        fleet.up()
        until(lambda left=left: len(files(fleet)) <= left)  # type: ignore[misc]
        fleet.kill()
    fleet.up()
    drain(fleet)
    assert fleet.heard() == wanted(count)


def test_what_was_answered_before_the_daemon_was_killed_is_not_lost(fleet: Fleet, pid: int) -> None:
    answered: list[int] = []

    def say() -> None:
        connection = fleet.covey.unix()
        try:
            for number in range(FLOOD):
                connection.request("POST", "/v1/hooks/cursor", tool(number), headers(pid, time.time_ns()))
                assert connection.getresponse().read() == b"{}"
                answered.append(number)
        except OSError:
            connection.close()

    speaking = threading.Thread(target=say)
    speaking.start()
    until(lambda: len(answered) > 30)
    fleet.kill()
    speaking.join()
    fleet.up()
    assert fleet.heard()[: len(answered)] == wanted(len(answered))


def test_what_nobody_can_be_found_for_stays_on_the_disk_until_its_agent_is_seen(fleet: Fleet) -> None:
    pane = fleet.agent("cursor-agent")
    pid = int(fleet.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))
    count, began = 1500, time.time_ns()
    for number in range(count):
        spool(fleet, pid, began + number * 1_000, tool(number))
    server = int(fleet.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)  # so that the daemon reads before it can see whose words they are
    try:
        fleet.up()
        status, _, _ = fleet.covey.request("POST", "/v1/hooks/cursor", tool(count), headers(pid, time.time_ns()))
        assert status == 503, "it waits behind the others"
        spool(fleet, pid, time.time_ns(), tool(count))
        assert len(files(fleet)) == count + 1
    finally:
        os.kill(server, signal.SIGCONT)
    drain(fleet)
    assert fleet.heard() == wanted(count + 1)


def test_words_without_an_id_wait_on_the_disk_for_their_agent(fleet: Fleet) -> None:
    pane = fleet.agent("toy-agent")
    fleet.up()
    pid = int(fleet.row(pane)["pid"])
    server = int(fleet.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)  # so that the new agent is not seen yet
    try:
        fleet.kill()
        fleet.up()
        status, _, _ = fleet.covey.request(
            "POST", "/v1/hooks/cursor", tool(1), {"X-Covey-Pid": "1", "X-Covey-Pane": "%77"}
        )
        assert status == 200
        (file,) = files(fleet)
        (request,) = Spool(fleet.covey.node / "spool").waiting()
        assert (request.body, request.headers["x-covey-pane"], request.file) == (tool(1), "%77", file)
    finally:
        os.kill(server, signal.SIGCONT)
    assert pid


def test_a_word_that_comes_after_a_newer_one_is_recorded_and_changes_nothing(fleet: Fleet, pid: int) -> None:
    now = time.time_ns()
    for number, at in ((2, now), (1, now - 5_000_000_000)):
        assert fleet.covey.request("POST", "/v1/hooks/cursor", tool(number), headers(pid, at))[0] == 200
    assert fleet.heard() == ["Shell: n2", "Shell: n1"]
    assert [row["detail"] for row in fleet.rows()] == ["Shell: n2"]
    checked = fleet.covey.run("replay", "--check").result
    assert checked["matches"], checked


def test_a_fifo_in_the_spool_holds_nobody_up(fleet: Fleet, pid: int) -> None:
    folder = fleet.covey.node / "spool"
    folder.mkdir(exist_ok=True)
    os.mkfifo(folder / f"{5:020d}-7-5.hook")
    fleet.kill()
    fleet.up()
    at = time.time_ns()
    status, _, _ = fleet.covey.request("POST", "/v1/hooks/cursor", tool(1), headers(pid, at))
    if status == 503:  # its agent has not been seen by this daemon yet: it waits in the spool, as with our script
        spool(fleet, pid, at, tool(1))
    until(lambda: fleet.heard() == wanted(2)[1:])
    assert [row["detail"] for row in fleet.rows()] == ["Shell: n1"]


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
    (
        b'{"hook_event_name": "preToolUse", "conversation_id": "c", "tool_name": "\\ud800",'
        b' "tool_input": {"command": "\\udfff\\u0000"}}'
    ),
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
    {"X-Covey-At": "0", "X-Covey-Id": "x" * 5000},
]


def test_hooks_with_garbage_are_answered_and_told_of_once(fleet: Fleet, pid: int) -> None:
    daemon = fleet.covey.pid
    for number, body in enumerate(GARBAGE):
        for told in [*HEADERS, {"X-Covey-Pid": str(pid)}, {"X-Covey-Pid": str(pid), "X-Covey-At": "9" * 15}]:
            status, _, answer = fleet.covey.request("POST", "/v1/hooks/cursor", body, told)
            assert status == (413 if len(body) > 1 << 20 else 200), (status, body[:100], told, answer)
        for agent in ("claude", "codex", "copilot", "gemini", "opencode", "toy", "nobody", "%00", "-"):
            status, _, answer = fleet.covey.request("POST", f"/v1/hooks/{agent}", body, {"X-Covey-Pid": str(pid)})
            assert status < 500, (status, agent, body[:100], answer)
        if len(body) < 1 << 19:
            spool(fleet, pid, time.time_ns() + number, body)
            spool(fleet, pid, time.time_ns() + number, body, agent="nobody")
    drain(fleet)
    assert fleet.covey.request("POST", "/v1/hooks/cursor", tool(1), headers(pid, time.time_ns()))[0] == 200
    assert [row["detail"] for row in fleet.rows()] == ["Shell: n1"]
    assert fleet.covey.pid == daemon
    assert "Traceback" not in fleet.log
    told_of = [line for line in map(json.loads, fleet.log.splitlines()) if "cannot be read" in json.dumps(line)]
    assert len(told_of) == len({json.dumps(line.get("agent") or line["extra"]["agent"]) for line in told_of})


def test_the_script_leaves_in_the_spool_what_is_refused(fleet: Fleet, pid: int) -> None:
    (fleet.covey.folder / "payload").write_bytes(tool(7))
    install(fleet)
    command = f"{script.command(fleet.covey.home, 'cursor')} <{fleet.covey.folder}/payload"
    subprocess.run(
        ["sh", "-c", command], env=fleet.covey.environment(TMUX_PANE="%9"), check=True, timeout=20
    )  # in none of the panes that are seen
    (request,) = Spool(fleet.covey.node / "spool").waiting()
    assert request.body == tool(7)
    assert pid
