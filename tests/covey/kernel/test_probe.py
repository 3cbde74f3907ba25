"""Running another program for a moment: it never hangs us and never outlives us."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from covey.kernel.processes.probe import MOST_OUTPUT, run_program

PATIENT, IMPATIENT = 60.0, 0.3


def run(script: str, deadline: float = PATIENT) -> tuple[int | None, str, str, str]:
    return run_program(["/bin/sh", "-c", script], {"PATH": os.environ["PATH"], "WORD": "here"}, deadline)


def test_its_output_and_its_exit_code_are_returned() -> None:
    assert run("echo out; echo err >&2; echo $WORD; exit 7") == (7, "out\nhere\n", "err\n", "")


def test_its_input_is_closed_and_it_has_no_terminal() -> None:
    assert run("cat; (: </dev/tty) 2>/dev/null || echo none") == (0, "none\n", "", "")


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    assert run_program(["/no/such/program"], {}, PATIENT).problem == "could not be started: No such file or directory"
    assert run_program([str(tmp_path)], {}, PATIENT).problem == "could not be started: Permission denied"
    assert run_program([str(tmp_path / "text")], {}, PATIENT).problem == "could not be started: Exec format error"
    assert run_program(["/bin/sh", "a\0b"], {}, PATIENT).problem == "could not be started: embedded null byte"


@pytest.mark.parametrize(
    "script",
    [
        "sleep 1000",
        "trap '' TERM INT HUP; sleep 1000; sleep 1000",
        "exec >&- 2>&-; sleep 1000",
        "echo begun; cat </dev/zero >/dev/null",
    ],
)
def test_what_does_not_end_is_ended(script: str) -> None:
    ran = run(script, IMPATIENT)
    assert (ran[0], ran[3]) == (None, "did not answer within 0.3 s")


def test_a_child_left_behind_with_our_pipe_does_not_make_us_wait_and_is_ended_too(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    assert run(f"exec 3>{held}; sleep 1000 & echo done") == (0, "done\n", "", "")
    assert select.select([reader], [], [], PATIENT)[0]
    assert os.read(reader, 1) == b""  # nobody holds the other end any more
    os.close(reader)


def test_one_that_would_not_stop_talking_is_stopped() -> None:
    ran = run("exec yes")
    assert (ran[0], ran[3]) == (None, "would not stop talking")
    assert len(ran[1]) == MOST_OUTPUT


def test_garbage_is_read_as_text() -> None:
    assert run(r"printf '\377\000\033[31m'")[1] == "\ufffd\0\x1b[31m"
