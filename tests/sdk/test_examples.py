"""The examples do what they say, on real hosts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sdk.conformance.hosts import Host, until, until_connected
from sdk.generate.__main__ import SDK
from tests.covey.conftest import Covey
from tests.covey.fleet.actions.answering_claude import AnsweringClaude
from tests.covey.fleet.living import living
from tests.sdk.tools import built_typescript, run

PYTHON_SDK = {"PYTHONPATH": str(SDK / "python")}
LIMIT_S = 120


WORKER = """
import sys, worker
worker.RENEWED_EVERY_S = 0.2
sys.exit(worker.main(sys.argv[1], sys.argv[2:]))
"""
PROGRAM = r"""
import pathlib, sys, time
title = sys.stdin.read()
if title == "noise":
    sys.stdout.buffer.write(b"\x1b[31mred\x1b[0m \xff\x00\tgood\n" + b"x" * 200_000)
elif title == "fail":
    sys.exit("\x1b[31mout of memory")
else:
    while title == "slow" and not pathlib.Path("enough").exists():
        time.sleep(0.05)
    print(title.upper())
"""


def test_a_worker_joins_by_the_invite_in_its_environment_and_does_tasks() -> None:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    alice, pod = Host(folder, "alice"), Host(folder, "pod")
    working: subprocess.Popen[bytes] | None = None

    def made(title: str) -> str:
        return str(alice.run("mesh", "task", "create", title, "--tags", "gpu", "--yes")["id"])

    def shown(task: str) -> dict[str, Any]:
        found: dict[str, Any] = alice.run("mesh", "task", "show", task)
        return found

    def ended(task: str, status: str) -> dict[str, Any]:
        found: dict[str, Any] = until(
            lambda: next((one for one in [shown(task)] if one["status"] == status), None), f"{status}: {task}"
        )
        return found

    try:
        alice.run("up")
        pod.home.mkdir(mode=0o700)
        (pod.home / "config.toml").write_text('[consent]\nfrom_programs = ["mesh.join"]\n')
        pod.run("up")
        alice.run("mesh", "create", "team", "--name", "alice", "--yes")
        invite = alice.run("mesh", "invite", "--yes")["token"]
        good = made("train")
        paths = f"{PYTHON_SDK['PYTHONPATH']}:{SDK / 'examples'}"
        environment = pod.environment(COVEY_INVITE=invite, PYTHONPATH=paths)
        command = [sys.executable, "-c", WORKER, "gpu", sys.executable, "-c", PROGRAM]
        working = subprocess.Popen(command, cwd=folder, env=environment)
        assert ended(good, "completed")["result"] == "TRAIN"
        noise = ended(made("noise"), "completed")["result"]
        assert noise.startswith("[31mred[0m \ufffd\tgood\nxxx")
        assert ended(made("fail"), "failed")["reason"] == "[31mout of memory"
        slow = made("slow")
        claimed = ended(slow, "claimed")["until"]
        until(lambda: shown(slow)["until"] > claimed, "the renewal of the claim")
        (folder / "enough").touch()
        assert ended(slow, "completed")["result"] == "SLOW"
        assert working.poll() is None
        working.kill()
        working.wait()
        other = str(alice.run("mesh", "task", "create", "other", "--tags", "cpu", "--yes")["id"])
        lost = subprocess.run(
            [sys.executable, str(SDK / "examples" / "worker.py"), "cpu", "no-such-program"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert (lost.returncode, lost.stderr.splitlines()[-1].startswith("usage: ")) == (1, True), lost.stderr
        assert "Traceback" not in lost.stderr
        assert ended(other, "open")["status"] == "open"
    finally:
        if working is not None:
            working.kill()
            working.wait()
        for host in (pod, alice):
            host.run("down")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("example", "words"),
    [("worker.py", []), ("worker.py", ["gpu", "true"]), ("ci_step.py", []), ("ci_step.py", ["a"]), ("relay.py", [])],
)
def test_an_example_without_what_it_needs_says_how_it_is_used(example: str, words: list[str], tmp_path: Path) -> None:
    environment = {**PYTHON_SDK, "HOME": str(tmp_path), "COVEY_HOME": str(tmp_path / "home")}
    command = [sys.executable, str(SDK / "examples" / example), *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert ended.stderr.splitlines()[-1].startswith("usage: ")


@pytest.fixture
def claude() -> Iterator[AnsweringClaude]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    covey = Covey(folder)
    with living(covey) as fleet:
        yield AnsweringClaude(fleet)
    covey.run("down")
    shutil.rmtree(folder, ignore_errors=True)


def test_a_ci_step_prints_the_answer_of_an_agent_and_fails_if_it_is_refused(claude: AnsweringClaude) -> None:
    def step(*words: str) -> tuple[int, str, str]:
        command = [sys.executable, str(SDK / "examples" / "ci_step.py"), *words]
        environment = claude.covey.environment(**PYTHON_SDK)
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return ended.returncode, ended.stdout, ended.stderr

    assert step(claude.pane, "run the tests") == (0, "You said 13 characters.\n\n  The last: ests\n", "")
    code, printed, _ = step(claude.pane, "run the tests", "PASS")
    assert (code, printed.startswith("You said")) == (1, True)
    code, printed, said = step("no-such-agent", "run the tests")
    assert (code, printed, said.startswith("no-such-agent: ")) == (1, "", True)
    code, printed, said = step(claude.pane, "ask")
    assert (code, printed, said.startswith(f"{claude.pane}: asks: ")) == (1, "", True)


class Pager:
    """An HTTP server that takes pages, and refuses the first attempt of each."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.refused: set[str] = set()
        self.take: threading.Event = threading.Event()
        self.take.set()
        pager = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert content["id"] == self.headers["Idempotency-Key"]
                new = content["id"] not in pager.refused
                pager.refused.add(content["id"])
                if new:
                    self.send_error(503)
                    return
                pager.taken.append(content)
                pager.take.wait(LIMIT_S)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def close(self) -> None:
        self.take.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def pager() -> Iterator[Pager]:
    found = Pager()
    yield found
    found.close()


def in_python(_: Path) -> list[str]:
    return [sys.executable, str(SDK / "examples" / "relay.py")]


def in_go(folder: Path) -> list[str]:
    run("go", "build", "-o", str(folder / "relay"), "./examples/relay", folder=SDK / "go")
    return [str(folder / "relay")]


def in_typescript(_: Path) -> list[str]:
    project = built_typescript()
    shutil.copy(SDK / "examples" / "relay.mjs", project)
    return ["node", str(project / "relay.mjs")]


@pytest.mark.parametrize("made", [in_python, in_go, in_typescript])
def test_a_relay_that_is_killed_pages_again_and_tells_the_sender_once(
    hosts: tuple[Host, Host], pager: Pager, tmp_path: Path, made: Callable[[Path], list[str]]
) -> None:
    alice, bob = hosts
    until_connected(*hosts)
    topic, cursor = f"alerts-{made.__name__}", tmp_path / "cursor"
    command = [*made(tmp_path), topic, pager.url, str(cursor)]
    environment = alice.environment(**PYTHON_SDK)

    def post(text: str) -> str:
        return str(bob.run("mesh", "topic", "post", topic, text, "--yes")["id"])

    def answers() -> list[str]:
        found = bob.run("mesh", "inbox", "--from", "@alice")["items"]
        return sorted(str(one["reply_to_id"]) for one in found if one["text"] == "paged" and one.get("reply_to_id"))

    before = answers()
    relay = subprocess.Popen(command, env=environment)
    try:
        until(cursor.exists, "the first start of the relay")
        first = post("disk full on db-3")
        until(lambda: first in answers(), "the answer to the first alert")
        pager.take.clear()  # the next one is with the pager when the relay is killed
        second = post("db-3 is down")
        until(lambda: [one["id"] for one in pager.taken].count(second) == 1, "the page of the second alert")
        relay.kill()
        relay.wait()
        pager.take.set()
        third = post("db-4 is down too")
        relay = subprocess.Popen(command, env=environment)
        until(lambda: third in answers(), "the answer to the third alert")
    finally:
        relay.kill()
        relay.wait()
    assert [one["text"] for one in pager.taken] == ["disk full on db-3", *["db-3 is down"] * 2, "db-4 is down too"]
    assert sorted(set(answers()) - set(before)) == sorted([first, second, third])
    assert len(answers()) == len(before) + 3
