"""Folders of channels that are moved, with real FIFOs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.keeper.channels.moving import FolderMove
from murli import AgentError


def folder_with(path: Path, *fifos: str) -> Path:
    path.mkdir(mode=0o700, parents=True)
    for name in fifos:
        os.mkfifo(path / name)
    return path


def test_a_folder_is_moved_with_its_fifos_and_nothing_of_it_stays(tmp_path: Path) -> None:
    old, new = folder_with(tmp_path / "old", "in", "in.phone", "out.phone"), tmp_path / "new"
    inode = (old / "in.phone").stat().st_ino
    move = FolderMove(old, new, [])
    move.prepare()
    with move.held_open():
        writer = os.open(old / "in.phone", os.O_WRONLY | os.O_NONBLOCK)  # it finds a reader
        move.move()
        assert os.write(writer, b"still here\n")
    os.close(writer)
    assert not old.exists()
    assert sorted(entry.name for entry in new.iterdir()) == ["in", "in.phone", "out.phone"]
    assert (new / "in.phone").stat().st_ino == inode


def test_what_is_in_the_way_is_named_before_anything_is_moved(tmp_path: Path) -> None:
    old, new = folder_with(tmp_path / "old", "in", "in.phone"), folder_with(tmp_path / "new")
    (new / "in.phone").write_text("somebody's")
    with pytest.raises(AgentError, match=r"already has in\.phone"):
        FolderMove(old, new, []).prepare()
    assert sorted(entry.name for entry in old.iterdir()) == ["in", "in.phone"]
    assert (new / "in.phone").read_text() == "somebody's"


def test_folders_of_other_sessions_stay_where_they_are(tmp_path: Path) -> None:
    base = folder_with(tmp_path / "r", "in", "in.phone")
    other = folder_with(base / "other", "in")
    move = FolderMove(base, base / "new", [other])
    move.prepare()
    move.move()
    assert sorted(entry.name for entry in base.iterdir()) == ["new", "other"]
    back = FolderMove(base / "new", base, [other])
    back.prepare()
    back.move()
    assert sorted(entry.name for entry in base.iterdir()) == ["in", "in.phone", "other"]


def test_a_move_that_is_not_made_leaves_no_folder(tmp_path: Path) -> None:
    old, new = folder_with(tmp_path / "old", "in"), tmp_path / "new"
    move = FolderMove(old, new, [])
    move.prepare()
    move.discard()
    assert not new.exists()
    assert old.exists()
