"""What an unattended agent may not do is found by its meaning, however it is spelt. Nothing here is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.policy.destructive.judge import objection
from covey.policy.destructive.targets import Place
from tests.covey.policy.destructive.commands import ALLOWED, HOME, ONLY_JUDGED, RUN_BY_AGENTS, WORKSPACE

PLACE = Place(folder=WORKSPACE, workspace=WORKSPACE, home=HOME)
SIGNS = "absudo rm-f/~$()`'\"\\;&|\n=*{}<>[]#!"


@pytest.mark.parametrize("command", [*RUN_BY_AGENTS, *ONLY_JUDGED])
def test_what_harms_is_refused_however_it_is_spelt(command: str) -> None:
    assert objection(command, PLACE)


@pytest.mark.parametrize("command", ALLOWED)
def test_what_does_not_is_not(command: str) -> None:
    assert objection(command, PLACE) == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sudo ls", "sudo asks for the rights of another user"),
        ("rm -rf ~", "~ is the home folder, or what it lies in"),
        ("rm -rf ../web", "../web is not below the workspace: name a path inside of it"),
        ("rm -rf $x", "what is deleted is known only when it runs: write the path out"),
        ("bash", "bash runs what it reads: put it into a file, or write it as one plain command"),
    ],
)
def test_the_reason_says_what_to_do_instead(command: str, why: str) -> None:
    assert objection(command, PLACE) == why


@given(st.text())
def test_any_text_is_judged_without_an_error(text: str) -> None:
    objection(text, PLACE)


@given(st.text(alphabet=SIGNS, max_size=60))
def test_what_is_refused_stays_so_whatever_follows_in_the_next_line(text: str) -> None:
    assert objection(f"sudo ls\n{text}", PLACE)
    assert objection(f"rm -rf ~\n{text}", PLACE)


@given(st.lists(st.sampled_from(["..", ".", "a", "b", ""]), min_size=1, max_size=8))
def test_only_what_is_below_the_workspace_is_deleted(names: list[str]) -> None:
    path = "/".join(["x", *names])
    whole = os.path.normpath(f"{WORKSPACE}/{path}")
    assert (objection(f"rm -rf {path}", PLACE) == "") is whole.startswith(f"{WORKSPACE}/")


def test_a_link_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    workspace.mkdir()
    (workspace / "link").symlink_to(home)
    (workspace / "build").mkdir()
    place = Place(str(workspace), str(workspace), str(home), resolve=os.path.realpath)
    assert objection("rm -rf link/*", place)
    assert objection("rm -rf link/.cache", place)
    assert objection("cd link && rm -rf .cache", place)
    assert objection("rm -rf build/*", place) == ""


def test_the_home_may_be_the_workspace_and_is_not_emptied() -> None:
    place = Place(HOME, HOME, HOME)
    assert objection("rm -rf build", place) == ""
    for command in ("rm -rf *", "rm -rf ./*", "rm -rf .", "find . -delete", "rm -rf ~/*"):
        assert objection(command, place)


def test_a_workspace_in_a_folder_for_temporary_files_does_not_free_a_home_that_lies_there() -> None:
    place = Place("/tmp/a/work", "/tmp/a/work", "/tmp/a/home")
    assert objection("rm -rf /tmp/a/home", place)
    assert objection("rm -rf /tmp/a/home/x", place)
    assert objection("rm -rf /tmp/a", place)
    assert objection("rm -rf /tmp/b/x", place) == ""


def test_a_folder_that_lasts_may_only_be_one_of_the_workspace() -> None:
    place = PLACE._replace(folder_lasts=True)
    assert objection("cd src && ls", place) == ""
    for command in ("cd ~", "cd", "cd ..", "cd $x", "pushd /", "cd -"):
        assert "count for later commands" in objection(command, place)
