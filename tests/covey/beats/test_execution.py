"""One run, from its folder to its report: what agents write, however they write it, and runners that get lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.agents.claude.headless import ClaudeHeadless
from covey.agents.headless.report import Step, Usage
from covey.beats import execution
from covey.beats.execution import LINE_BYTES, Execution, Finished
from covey.beats.run_folder import RunFolder, marked_processes
from covey.kernel.clock import SystemClock
from tests.covey.beats.pretended import new_run, until
from tests.covey.slices import MOST_S, longest_slice

RESULT = {
    "type": "result",
    "is_error": False,
    "result": "HEARTBEAT_OK",
    "total_cost_usd": 0.25,
    "num_turns": 1,
    "usage": {"input_tokens": 5},
}
SAYS = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "hm"}]}}


class One:
    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path / new_run())
        self.heard: list[Step] = []

    def prepare(
        self, output: bytes = b"", then: str = "", probe: dict[str, Any] | None = None, timeout_s: float = 20
    ) -> None:
        task = {
            "cwd": "/",
            "argv": ["/bin/sh", "-c", f"cat; {then}"],
            "environment": {},
            "timeout_s": timeout_s,
            "probe": probe,
        }
        self.folder.prepare(task, "", {})
        (self.folder.path / "prompt").write_bytes(output)

    async def run(self, spent: Callable[[Usage], str] = lambda _: "") -> Finished:
        finished = await self.execution(spent).follow()
        assert not marked_processes(self.folder.run_id)
        return finished

    def execution(self, spent: Callable[[Usage], str] = lambda _: "") -> Execution:
        return Execution(self.folder, ClaudeHeadless().reader(), SystemClock(), self.heard.append, spent)


@pytest.fixture
def one() -> Iterator[One]:
    with tempfile.TemporaryDirectory(prefix="covey-") as path:
        yield One(Path(path))


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


async def test_steps_are_passed_on_and_the_answer_is_read(one: One) -> None:
    one.prepare(lines(SAYS, RESULT))
    finished = await one.run()
    assert finished.report.failure is None
    assert finished.report.text == "HEARTBEAT_OK"
    assert [step.text for step in one.heard] == ["hm"]


async def test_a_last_line_without_an_end_counts(one: One) -> None:
    one.prepare(lines(SAYS, RESULT).rstrip(b"\n"))
    assert (await one.run()).report.text == "HEARTBEAT_OK"


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe\n", b"\0\n", b"not json\n", b"[1]\n", b"{\n", b"\n\n", b"{" * 100_000 + b"\n"]
)
async def test_garbage_between_the_lines_is_left_out(one: One, garbage: bytes) -> None:
    one.prepare(garbage + lines(SAYS) + garbage + lines(RESULT) + garbage)
    finished = await one.run()
    assert finished.report.text == "HEARTBEAT_OK"
    assert [step.text for step in one.heard] == ["hm"]


async def test_a_line_that_is_too_long_is_left_out_as_a_whole(one: One) -> None:
    tail = b" " * (LINE_BYTES + 300_000) + lines({**RESULT, "result": "ATTENTION: the end of a line is no line"})
    one.prepare(lines(SAYS) + tail + lines(RESULT))
    assert (await one.run()).report.text == "HEARTBEAT_OK"


async def test_a_line_that_is_only_long_is_read(one: One) -> None:
    one.prepare(lines({**SAYS, "padding": "x" * (LINE_BYTES - 1_000_000)}, RESULT))
    assert (await one.run()).report.text == "HEARTBEAT_OK"
    assert [step.text for step in one.heard] == ["hm"]


async def test_the_event_loop_is_not_blocked_while_much_is_read(one: One) -> None:
    one.prepare(lines(*[SAYS] * 20_000, RESULT))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    await one.execution().follow()
    task = asyncio.create_task(other())
    finished = await one.execution().follow()  # all is there at once
    task.cancel()
    assert finished.report.text == "HEARTBEAT_OK"
    assert turns > 4


@pytest.mark.parametrize(
    "output",
    [
        b"\n" * 10_000_000,
        b"x\n" * 60_000,
        b'{"type":"assistant","message":{"content":[' + b"[]," * 1_000_000 + b"[]]}}\n",
        b'{"type":"assistant","message":{"content":"' + b"a=b " * 1_500_000 + b'"}}\n',
    ],
    ids=["empty lines", "short lines", "a line of many values", "a long line"],
)
async def test_no_output_keeps_the_event_loop(one: One, output: bytes) -> None:
    one.prepare(output + lines(SAYS, RESULT))
    await one.run()
    assert await longest_slice(one.execution().follow()) < MOST_S  # all is there at once
    assert [step.text for step in one.heard[-1:]] == ["hm"]


async def test_a_run_that_prints_lines_without_end_is_ended(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_LINES", 1000)
    one.prepare(b"x\n" * 1001, "sleep 1000")
    finished = await one.run()
    assert finished.report.failure
    assert finished.report.failure.message == "it wrote more than Covey takes in"


async def test_a_run_that_spends_too_much_is_ended(one: One) -> None:
    busy = {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 500}, "content": []}}
    one.prepare(lines(busy), "sleep 1000")
    finished = await one.run(lambda usage: "budget" if (usage.tokens or 0) > 100 else "")
    assert finished.report.failure
    assert finished.report.failure.kind == "budget"
    assert finished.report.usage.tokens == 500


async def test_a_run_that_reports_only_at_the_end_that_it_spent_too_much_went_over_its_budget_too(one: One) -> None:
    one.prepare(lines(RESULT))
    finished = await one.run(lambda usage: "budget" if (usage.cost_usd or 0) > 0.1 else "")
    assert finished.report.failure
    assert finished.report.failure.kind == "budget"
    assert finished.report.usage.cost_usd == 0.25


@pytest.mark.parametrize(
    ("probe", "kind"),
    [("exit 127", "probe"), ("sleep 1000", "probe"), ("exit 1", None), ("exit 0", None)],
)
async def test_a_probe_that_gives_no_answer_is_an_error_of_its_own(one: One, probe: str, kind: str | None) -> None:
    one.prepare(lines(RESULT), probe={"command": probe, "when": "fails", "timeout_s": 1.0, "previous": ""})
    failure = (await one.run()).report.failure
    assert (failure.kind if failure else None) == kind


async def test_a_timeout_keeps_what_was_said_until_then(one: One) -> None:
    one.prepare(lines(SAYS), "sleep 1000", timeout_s=1)
    finished = await one.run()
    assert finished.report.failure
    assert finished.report.failure.kind == "timeout"
    assert [turn.text for turn in finished.report.turns] == ["hm"]


async def test_a_runner_that_is_killed_is_a_crash_and_what_it_ran_is_ended(one: One) -> None:
    one.prepare(lines(SAYS), "setsid sleep 1000 & sleep 1000")
    task = asyncio.create_task(one.execution().follow())
    while len(marked_processes(one.folder.run_id)) < 3:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.02)
    assert one.folder.runner
    os.kill(one.folder.runner[0], signal.SIGKILL)
    finished = await task
    until(lambda: not marked_processes(one.folder.run_id), "the end of what was left")
    assert finished.report.failure
    assert finished.report.failure.kind == "crash"
    assert finished.seconds >= 0
    assert [turn.text for turn in finished.report.turns] == ["hm"], "what it said until then counts"


async def test_a_claim_from_before_a_restart_of_the_machine_is_a_crash_at_once(one: One) -> None:
    one.prepare(lines(RESULT))
    (one.folder.path / "claim").write_text(f"{os.getpid()} another-boot/1")
    finished = await one.run()
    assert finished.report.failure
    assert finished.report.failure.message.startswith("it was ended from outside")
    assert not one.folder.stdout.exists(), "it is not begun again: nobody knows what it has done"


async def test_a_runner_that_cannot_start_says_why(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    one.prepare(lines(RESULT))
    monkeypatch.setenv("PYTHONHOME", "/no/such/python")
    finished = await one.run()
    assert finished.report.failure
    assert finished.report.failure.kind == "crash"
    assert finished.report.failure.message.startswith("its runner could not start: ")


async def test_a_run_that_is_over_is_read_again_and_not_done_again(one: One) -> None:
    done = one.folder.path.parent / "done"
    one.prepare(lines(RESULT), f"echo again >> {done}")
    first = await one.run()
    assert await one.run() == first
    assert done.read_text() == "again\n"
