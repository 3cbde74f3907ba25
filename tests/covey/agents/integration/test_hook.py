"""The hook as an agent runs it: a real process, a real socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from covey.agents.integration import hook, script
from covey.agents.integration.spool import Spool
from tests.covey.agents.integration.listener import listening

PAYLOAD = {"hook_event_name": "Stop", "session_id": "s", "text": "caf\u00e9 \u2026"}
ENVIRONMENT = {"PATH": os.environ["PATH"], "TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%7"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A Covey home with the hook in it; no daemon is there."""
    folder = tmp_path / "c"
    for file, (content, mode) in script.files(folder).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    return folder


def run(
    home: Path, payload: bytes = json.dumps(PAYLOAD).encode(), *words: str, **options: object
) -> subprocess.CompletedProcess[bytes]:
    """Run it as an agent does; whatever happens, it must end well and be silent."""
    given: dict[str, object] = {"env": ENVIRONMENT, **({} if "stdin" in options else {"input": payload}), **options}
    ended = subprocess.run(
        [str(home / "hooks" / "covey-hook"), "claude", *words], capture_output=True, timeout=20, check=False, **given
    )  # type: ignore[call-overload]
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    return ended  # type: ignore[no-any-return]


def spooled(home: Path) -> list[bytes]:
    return [one.body for one in Spool(home / "node" / "spool").waiting()]


def test_a_payload_reaches_the_daemon_with_where_it_came_from(home: Path) -> None:
    began = time.time()
    with listening(home) as daemon:
        run(home)
    assert daemon.payloads == [PAYLOAD]
    assert daemon.requests[0].startswith(b"POST /v1/hooks/claude HTTP/1.1\r\n")
    headers = daemon.headers()
    assert headers["X-Covey-Pane"] == "%7"
    assert headers["X-Covey-Tmux"] == "/tmp/tmux-0/default,1,0"
    assert headers["X-Covey-Host"] == os.uname().nodename
    assert headers["X-Covey-Pid"].split()[0] == str(os.getpid())
    assert began - 0.001 <= int(headers["X-Covey-At"]) / 1000 <= time.time()
    assert headers["X-Covey-Id"][:14].lstrip("0") == headers["X-Covey-At"]
    assert not (home / "node" / "spool").exists()


def test_the_agent_is_among_the_processes_above_it(home: Path) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc here")
    with listening(home) as daemon:
        subprocess.run(
            ["sh", "-c", f'sh -c "{home}/hooks/covey-hook claude; true"; true'],
            input=b"{}",
            env=ENVIRONMENT,
            check=True,
            timeout=20,
        )
    pids = daemon.headers()["X-Covey-Pid"].split()
    assert pids.index(str(os.getpid())) == 2


def test_a_payload_may_come_as_the_last_argument(home: Path) -> None:
    with listening(home) as daemon:
        run(home, b"", json.dumps(PAYLOAD, ensure_ascii=False))
    assert daemon.payloads == [PAYLOAD]


def test_without_tmux_it_says_so(home: Path) -> None:
    with listening(home) as daemon:
        run(home, env={"PATH": os.environ["PATH"]})
    assert daemon.headers()["X-Covey-Pane"] == ""


def test_nothing_in_the_environment_can_add_a_header(home: Path) -> None:
    with listening(home) as daemon:
        run(home, env={**ENVIRONMENT, "TMUX_PANE": "%1\r\nX-Evil: 1\r\n\r\n"})
    assert "X-Evil" not in daemon.headers()


def test_without_a_daemon_the_request_waits_in_the_spool(home: Path) -> None:
    run(home)
    (file,) = (home / "node" / "spool").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    (request,) = Spool(home / "node" / "spool").waiting()
    assert json.loads(request.body) == PAYLOAD
    assert request.agent == "claude"
    assert request.headers["x-covey-pane"] == "%7"
    assert file.name.startswith(request.headers["x-covey-id"])


def test_a_socket_at_which_nobody_listens_is_no_daemon(home: Path) -> None:
    (home / "node").mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home / "node" / "sock"))
    run(home)
    assert len(spooled(home)) == 1


def test_a_daemon_that_does_not_answer_finds_it_in_the_spool_under_the_same_id(home: Path) -> None:
    (home / "node").mkdir()
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(str(home / "node" / "sock"))
        stuck.listen(8)
        run(home)
        connection, _ = stuck.accept()
        with connection:
            sent = connection.recv(1 << 16).decode()
    (request,) = Spool(home / "node" / "spool").waiting()
    assert f"X-Covey-Id: {request.headers['x-covey-id']}\r\n" in sent


def test_a_daemon_that_takes_no_more_callers_is_given_up(home: Path) -> None:
    (home / "node").mkdir()
    with socket.socket(socket.AF_UNIX) as full:
        full.bind(str(home / "node" / "sock"))
        full.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        try:
            for one in waiting:
                one.settimeout(0)
                one.connect_ex(str(home / "node" / "sock"))
            run(home)
        finally:
            for one in waiting:
                one.close()
    assert len(spooled(home)) == 1


@pytest.mark.parametrize(
    ("answer", "kept"), [("500 Oops", 1), ("503 Later", 1), ("404 What", 0), ("400 No", 0), ("", 1)]
)
def test_what_the_daemon_refuses_for_good_is_not_tried_again(answer: str, kept: int, home: Path) -> None:
    with listening(home, f"HTTP/1.1 {answer}\r\n\r\n".encode() if answer else b"") as daemon:
        run(home)
    assert len(daemon.requests) == 1
    assert len(spooled(home)) == kept


ASKS = {"hook_event_name": "PermissionRequest", "session_id": "s", "tool_input": {"command": "rm"}}
STREAM = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n: covey\n\n\r\n"


def decided(home: Path, answer: bytes, payload: Mapping[str, object] = ASKS) -> tuple[bytes, list[bytes]]:
    """What the hook prints for a payload when the daemon answers so, and the first lines of its requests."""
    with listening(home, answer) as daemon:
        ended = subprocess.run(
            [str(home / "hooks" / "covey-hook"), "claude"],
            input=json.dumps(payload).encode(),
            env=ENVIRONMENT,
            capture_output=True,
            timeout=20,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout, [request.partition(b" HTTP/")[0] for request in daemon.requests]


def test_a_decision_is_printed(home: Path) -> None:
    answer = STREAM + b'2a\r\nevent: covey.decision\ndata: {"allow": 1}\n\n\r\n'
    assert decided(home, answer) == (
        b'{"allow": 1}',
        [b"POST /v1/hooks/claude", b"POST /v1/hooks/claude/decision"],
    )
    assert decided(home, answer, PAYLOAD) == (b"", [b"POST /v1/hooks/claude"]), "nothing else is asked"
    large = {**ASKS, "content": "x" * hook.LARGEST_ASKED}
    assert decided(home, answer, large) == (b"", [b"POST /v1/hooks/claude"]), "nobody could be shown all of it"


@pytest.mark.parametrize(
    "answer",
    [
        STREAM + b"0\r\n\r\n",
        STREAM + b'30\r\nevent: covey.error\ndata: {"message": "no"}\n\n\r\n',
        STREAM + b'2a\r\nevent: covey.decision\ndata: {"allow": 1}',
        b'HTTP/1.1 500 Oops\r\n\r\nevent: covey.decision\ndata: {"allow": 1}\n\n',
        b"HTTP/1.1 404 What\r\n\r\n{}",
        b"",
    ],
)
def test_without_a_whole_decision_nothing_is_printed(home: Path, answer: bytes) -> None:
    assert decided(home, answer)[0] == b""


def test_a_daemon_that_does_not_begin_to_answer_is_given_up(home: Path) -> None:
    (home / "node").mkdir()
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(str(home / "node" / "sock"))
        stuck.listen(8)
        run(home, json.dumps(ASKS).encode())


def test_a_huge_payload_is_shortened_to_what_matters(home: Path) -> None:
    with listening(home) as daemon:
        run(home, json.dumps({**PAYLOAD, "tool_input": {"content": "x" * 10_000_000}, "list": ["y" * 5000]}).encode())
        run(home, json.dumps({**PAYLOAD, "numbers": list(range(1_000_000))}).encode())
        run(home, b"no json " * 100_000)
    first, second = (json.loads(request.partition(b"\r\n\r\n")[2]) for request in daemon.requests[:2])
    assert first["hook_event_name"] == "Stop"
    assert len(first["tool_input"]["content"]) == hook.LONGEST_TEXT + 1
    assert second == PAYLOAD
    assert all(len(request) < hook.LARGEST_BODY + 2000 for request in daemon.requests)


def test_without_a_payload_there_is_nothing_to_tell(home: Path) -> None:
    with listening(home) as daemon:
        run(home, b"")
        run(home, b" \n")
        run(home, stdin=subprocess.DEVNULL)
    assert daemon.requests == []


def test_a_closed_input_is_no_trouble(home: Path) -> None:
    closed = subprocess.run(
        ["sh", "-c", f"exec {home}/hooks/covey-hook claude <&-"],
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, b"", b"")


def test_an_input_that_is_never_closed_is_not_waited_for(home: Path) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"{}")
        run(home, stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert spooled(home) == [b"{}"]


def test_a_home_that_cannot_hold_a_spool_is_no_trouble(home: Path) -> None:
    (home / "node").write_text("a file in the place of the folder")
    run(home)


def test_a_home_on_a_read_only_file_system_is_no_trouble(home: Path) -> None:
    alone = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    mount = f"mount --bind {home} {home} && mount -o remount,ro,bind {home}"
    if shutil.which("unshare") is None or subprocess.run([*alone, mount], capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    command = f"{mount} && exec {home}/hooks/covey-hook claude"
    ended = subprocess.run(
        [*alone, command], input=b"{}", env=ENVIRONMENT, capture_output=True, check=False, timeout=20
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert not (home / "node").exists()


def test_a_full_disk_leaves_no_half_request(home: Path) -> None:
    limited = ["sh", "-c", f"ulimit -f 1; trap '' XFSZ; exec {home}/hooks/covey-hook claude"]
    ended = subprocess.run(
        limited, input=b'{"a": "%s"}' % (b"x" * 5000), env=ENVIRONMENT, capture_output=True, check=False, timeout=20
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert list((home / "node" / "spool").iterdir()) == []


def test_a_program_that_is_gone_is_no_trouble(home: Path) -> None:
    (home / "hooks" / "covey_hook.py").unlink()
    run(home)


def test_a_python_that_is_gone_is_replaced_by_the_one_on_the_path(home: Path) -> None:
    launcher = home / "hooks" / "covey-hook"
    launcher.write_text(launcher.read_text().replace("\npython=", "\npython=/gone"))
    run(home)
    assert len(spooled(home)) == 1
    run(home, env={"PATH": "/nowhere"})
    assert len(spooled(home)) == 1, "without any Python it is lost, silently"


def test_a_home_with_a_space_and_a_quote_works(tmp_path: Path) -> None:
    home = tmp_path / "my 'own"
    for file, (content, mode) in script.files(home).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    ended = subprocess.run(
        ["sh", "-c", script.command(home, "codex")],
        input=b"{}",
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert [one.agent for one in Spool(home / "node" / "spool").waiting()] == ["codex"]


def test_the_spool_drops_its_oldest_when_it_is_full(home: Path) -> None:
    spool = home / "node" / "spool"
    spool.mkdir(parents=True)
    for number in range(hook.SPOOL_FILES):
        (spool / f"{number:020d}-1-10.hook").touch()
    run(home)
    left = sorted(file.name for file in spool.glob("*.hook"))
    assert len(left) == hook.SPOOL_FILES
    assert left[0].startswith("00000000000000000001-")
    assert Spool(spool).dropped() == 1
    (spool / f"{1:020d}-2-{hook.SPOOL_BYTES}.hook").touch()
    run(home)
    assert min(file.name for file in spool.glob("*.hook")).startswith("00000000000000000002-")
    assert Spool(spool).dropped() == 2


def test_many_at_once_all_arrive_in_the_order_of_their_start(home: Path) -> None:
    threads = [threading.Thread(target=run, args=(home, b'{"n": %d}' % number)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waiting = list(Spool(home / "node" / "spool").waiting())
    assert sorted(json.loads(one.body)["n"] for one in waiting) == list(range(12))
    assert [one.headers["x-covey-id"] for one in waiting] == sorted(one.headers["x-covey-id"] for one in waiting)


def test_it_costs_little_more_than_python_itself(home: Path) -> None:
    commands = {
        "pass": [getattr(sys, "_base_executable", sys.executable), "-S", "-E", "-c", "pass"],
        "hook": [str(home / "hooks/covey-hook"), "claude"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    with listening(home) as daemon:
        for _ in range(15):
            for name, command in commands.items():
                began = time.perf_counter()
                subprocess.run(command, input=b"{}", env=ENVIRONMENT, check=True)
                taken[name].append(time.perf_counter() - began)
    ratio = statistics.median(b / a for a, b in zip(*taken.values(), strict=True))
    print(f"hook {statistics.median(taken['hook']) * 1000:.1f} ms, {ratio:.2f} times `python -S -E -c pass`")
    assert len(daemon.requests) == 15
    assert ratio < 3
