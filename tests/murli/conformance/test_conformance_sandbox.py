"""Scratch directories: every change is seen, and every earlier state can be had again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from murli.conformance.sandbox import Sandbox, Stage, changes, remove_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_what_appears_vanishes_or_changes_is_named(tmp_path: Path) -> None:
    box = Sandbox.create(tmp_path / "box")
    (box.work / "same").write_text("1")
    (box.work / "gone").write_text("1")
    (box.work / "edited").write_text("1")
    (box.home / "opened").write_text("1")
    (box.home / "link").symlink_to("here")
    before = box.snapshot()
    (box.work / "gone").unlink()
    (box.work / "edited").write_text("2")
    (box.home / "opened").chmod(0o777)
    (box.home / "link").unlink()
    (box.home / "link").symlink_to("there")
    (box.home / "folder").mkdir()
    assert changes(before, box.snapshot()) == (
        "created home/folder",
        "changed home/link",
        "changed home/opened",
        "changed work/edited",
        "removed work/gone",
    )


def test_caches_are_not_state(tmp_path: Path) -> None:
    box = Sandbox.create(tmp_path / "box")
    before = box.snapshot()
    (box.home / ".cache" / "tool").mkdir(parents=True)
    (box.work / ".cache").mkdir()
    assert changes(before, box.snapshot()) == ("created work/.cache",)


def test_a_stage_goes_back_to_any_earlier_state(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    file = stage.sandbox.work / "book"
    file.write_text("one")
    file.chmod(0o600)
    first = stage.capture()
    file.unlink()
    (stage.sandbox.home / "locked").mkdir(mode=0o500)
    second = stage.capture()
    stage.load(first)
    assert file.read_text() == "one"
    assert file.stat().st_mode & 0o777 == 0o600
    assert stage.capture() is first
    stage.load(second)
    assert [path.name for path in stage.sandbox.home.iterdir()] == ["locked"]
    stage.load(stage.empty)
    assert stage.capture() is stage.empty
    assert first.read("work/book") == b"one"


def test_what_cannot_be_copied_does_not_stop_the_stage(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    os.mkfifo(stage.sandbox.work / "pipe")
    (stage.sandbox.work / "secret").write_text("x")
    (stage.sandbox.work / "secret").chmod(0)
    (stage.sandbox.work / "vault").mkdir(mode=0)
    state = stage.capture()
    assert set(state.snapshot) == {"home", "work", "work/pipe", "work/secret", "work/vault"}
    stage.load(stage.empty)
    assert "work/pipe" not in stage.load(state)
    assert stage.capture() is state


def test_a_tree_that_refuses_entry_is_removed_all_the_same(tmp_path: Path) -> None:
    inner = tmp_path / "tree" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    inner.chmod(0)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
