"""The HEARTBEAT.md that a workspace begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.beats import options
from covey.beats.beat import Interval
from covey.beats.frontmatter import split
from covey.beats.template import TEMPLATE, init
from murli import AgentError


def test_the_template_can_run_as_it_is() -> None:
    front = split(TEMPLATE)
    assert front.problems == ()
    assert options.read(front.head) == ({"schedule": Interval(1800.0)}, [])
    assert front.body.startswith("# Heartbeat\n\nWhat to do on each heartbeat.")


def test_what_the_template_offers_in_comments_is_valid_too() -> None:
    head = split(
        TEMPLATE.replace("interval: 30m\n", "").replace("# Or at fixed times:  ", "").replace("  and  ", "\n")
    ).head
    assert set(head) == {"cron", "tz"}
    assert options.read(head)[1] == []


def test_the_template_is_written_once_and_never_over_anything(tmp_path: Path) -> None:
    file = tmp_path / "HEARTBEAT.md"
    assert init(str(tmp_path)) == {"workspace": str(tmp_path), "file": str(file)}
    assert file.read_text() == TEMPLATE
    file.write_text("mine")
    with pytest.raises(AgentError, match=r"HEARTBEAT\.md exists already; it was not touched") as caught:
        init(str(tmp_path))
    assert caught.value.suggestion == f"Edit it: ${{EDITOR:-vi}} {file}"
    assert file.read_text() == "mine"


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "HEARTBEAT.md").symlink_to("elsewhere")
    with pytest.raises(AgentError, match="exists already"):
        init(str(tmp_path))
    assert not (tmp_path / "elsewhere").exists()


def test_a_relative_path_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(".")["file"] == str(tmp_path / "HEARTBEAT.md")


@pytest.mark.parametrize(
    ("path", "said"), [("gone", "does not exist"), ("file", "is not a folder"), ("a\x00b", "cannot be written")]
)
def test_where_nothing_can_be_written_is_said_so(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(AgentError, match=said) as caught:
        init(str(tmp_path / path))
    assert caught.value.suggestion
