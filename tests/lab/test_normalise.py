from __future__ import annotations

import json
import socket
import tempfile
from pathlib import Path

import pytest

from lab.normalise import LONGEST, Normaliser

ROOT = Path("/tmp/covey-lab-x1/claude-answer-3")
PROGRAM = Path("/home/me/.cache/covey-lab/agents/claude/2.1/node_modules/.bin/claude")
BEGAN = 1794738088.5  # 2026-11-15T10:21:28.5Z


@pytest.fixture
def it() -> Normaliser:
    return Normaliser(ROOT, PROGRAM, BEGAN, [32405, 32410])


def test_paths_of_the_run_and_of_the_program_become_the_same_everywhere(it: Normaliser) -> None:
    assert it.text(f"{ROOT}/project and {PROGRAM}") == "/lab/project and /opt/agent/node_modules/.bin/claude"
    assert it.text("projects/-tmp-covey-lab-x1-claude-answer-3-project/") == "projects/-lab-project/"


def test_pids_are_numbered_and_other_numbers_left_alone(it: Normaliser) -> None:
    assert (
        it.text('{"pid":32405,"parent": 32410,"tokens":32406,"at":"9:32405","x":132405}')
        == '{"pid":1000,"parent": 1001,"tokens":32406,"at":"9:32405","x":132405}'
    )
    assert it.pid(32405) == 1000
    assert it.pid(7) == 1002


def test_ids_stay_equal_where_they_were_equal(it: Normaliser) -> None:
    one, other = "6c8b1111-2222-4333-8444-555566667777", "aaaa1111-2222-4333-8444-555566667777"
    first = it.text(f"{one} {other} {one}").split()
    assert first[0] == first[2] != first[1]
    assert it.text(one.upper()) == first[0]
    assert (
        it.text("toolu_0123456789abcdef01234567")
        == it.text("toolu_0123456789abcdef01234567")
        != it.text("toolu_1123456789abcdef01234567")
    )
    assert len(it.text("a" * 64)) == 64


def test_times_keep_their_distance_from_the_start(it: Normaliser) -> None:
    assert it.text("2026-11-15T10:21:30.500Z") == "2026-01-01T00:00:02.000Z"
    assert it.text("1794738090500") == "1767225602000"
    assert it.text("1794738090.5") == "1767225602.000"
    assert it.text("1794738098") == "1767225610"
    assert it.text("done 10:21 AM") == "done 12:00 AM"
    assert it.text("done 9:21 AM") == "done 2:00 AM"


def test_host_and_port_are_nobodys(it: Normaliser) -> None:
    assert it.text(f"on {socket.gethostname()} at 127.0.0.1:45123") == "on host at 127.0.0.1:8787"


def test_a_json_line_is_cut_where_it_is_long_and_stays_json(it: Normaliser) -> None:
    line = it.line(
        json.dumps({"cwd": str(ROOT), "pid": 32405, "flag": True, "none": None, "long": "x" * 1000, "list": [1.5, "y"]})
    )
    value = json.loads(line)
    assert value["cwd"] == "/lab"
    assert value["pid"] == 1000
    assert (value["flag"], value["none"], value["list"]) == (True, None, [1.5, "y"])
    assert value["long"] == f"{'x' * LONGEST}… (1000 characters)"


def test_a_line_that_is_not_json_is_text(it: Normaliser) -> None:
    assert it.line(f"plain {ROOT}") == "plain /lab"


def test_an_id_that_is_drawn_letter_by_letter_in_colours_is_found_too(it: Normaliser) -> None:
    plain = it.text("6c8b1111-2222-4333-8444-555566667777")
    coloured = "".join(
        f"\x1b[38;5;{number}m{letter}" for number, letter in enumerate("6c8b1111-2222-4333-8444-555566667777")
    )
    assert (
        it.escapes(f"{coloured}\x1b[0m 6c8b1111-2222-4333-8444-555566667777") == f"\x1b[38;5;0m{plain}\x1b[0m {plain}"
    )


def test_a_root_that_a_narrow_screen_has_cut_is_replaced_in_its_place(it: Normaliser) -> None:
    cut = f"│ in {tempfile.gettempdir()}/covey-lab-i0c │"
    shown = it.text(cut)
    assert (shown.startswith("│ in /lab  "), len(shown), shown[-1]) == (True, len(cut), "│")
