"""What the doctor prints for people."""

from __future__ import annotations

from covey.kernel.doctor.doctor import readable
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding

WELL = [
    Finding("system", "python", OK, "3.13.0"),
    Finding("tools", "tmux", OK, "3.5a"),
    Finding("agents", "claude", OK, "2.1"),
    Finding("agents", "codex", OK, "not installed"),
]


def test_the_first_line_answers_and_the_rest_is_compact() -> None:
    assert (
        readable(WELL)
        == "All good\n\n  system  python 3.13.0\n  tools   tmux 3.5a\n  agents  claude 2.1 · not installed: codex"
    )


def test_what_needs_a_person_comes_first_with_its_command() -> None:
    warn = Finding("tools", "ssh", WARN, "not found", "brew install openssh")
    fail = Finding("home", "config", FAIL, "config.toml has 2 problems:\n  line 2: x", "vi config.toml")
    assert readable([warn, *WELL]).splitlines()[0] == "1 thing needs you"
    assert readable([warn, *WELL, fail]).split("\n\n")[:3] == [
        "2 things need you",
        "✗ config: config.toml has 2 problems:\n      line 2: x\n    vi config.toml",
        "▲ ssh: not found\n    brew install openssh",
    ]


def test_colour_is_used_only_on_request_and_only_for_what_matters() -> None:
    trouble = [Finding("home", "config", FAIL, "broken", "fix it"), *WELL]
    assert "\x1b" not in readable(trouble)
    assert readable(trouble, colour=True).count("\x1b[31m") == 1
    assert readable(WELL, colour=True) == readable(WELL)


def test_no_line_of_what_is_well_is_wider_than_a_terminal() -> None:
    many = [Finding("agents", f"agent{number}", OK, f"{number}.0.{number}") for number in range(40)]
    assert max(map(len, readable(many).splitlines())) <= 80


def test_a_long_finding_breaks_between_words() -> None:
    lines = readable([Finding("home", "adapters", FAIL, f"{'word ' * 40}end\nAnd more.", "vi x")]).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert [line.strip() for line in lines[-2:]] == ["And more.", "vi x"]
