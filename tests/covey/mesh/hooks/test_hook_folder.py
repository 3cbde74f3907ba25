"""The hooks folder is read when it was changed, and not for every message."""

from __future__ import annotations

import os
import time
from pathlib import Path

from covey.kernel.clock import ManualClock
from covey.mesh.hooks.hook_files import HooksFound
from covey.mesh.hooks.hook_folder import HookFolder


def write(folder: Path, name: str, mode: int = 0o700) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def settled(folder: HookFolder) -> HooksFound:
    """Return what is found as soon as it is remembered."""
    deadline = time.monotonic() + 30
    while folder.found() is not (found := folder.found()):
        assert time.monotonic() < deadline
    return found


def test_what_was_found_is_remembered_until_a_file_comes_goes_or_is_renamed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    folder = HookFolder(str(tmp_path), ManualClock())
    write(tmp_path, "on-dm.sh")
    before = settled(folder)
    assert list(before.hooks) == ["on-dm"]
    write(tmp_path, "pre-send.sh")
    assert sorted(folder.found().hooks) == ["on-dm", "pre-send"]
    settled(folder)
    (tmp_path / "on-dm.sh").rename(tmp_path / "on-message.sh")
    assert sorted(folder.found().hooks) == ["on-message", "pre-send"]
    settled(folder)
    (tmp_path / "pre-send.sh").unlink()
    assert list(folder.found().hooks) == ["on-message"]


def test_a_change_of_the_folder_itself_is_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "hooks"
    folder = HookFolder(str(path), ManualClock())
    assert folder.found() == HooksFound()
    path.mkdir(mode=0o700)
    write(path, "on-dm.sh")
    assert settled(folder).hooks
    path.chmod(0o755)
    assert not folder.found().hooks
    path.chmod(0o700)
    assert settled(folder).hooks
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert "is a link" in folder.found().problems[0]


def test_a_change_of_a_file_in_its_place_is_seen_after_a_second(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    clock = ManualClock()
    folder = HookFolder(str(tmp_path), clock)
    script = write(tmp_path, "on-dm.sh")
    assert settled(folder).hooks
    script.chmod(0o600)
    os.utime(script)
    assert folder.found().hooks
    clock.advance(1)
    assert not folder.found().hooks
    script.chmod(0o700)
    assert folder.examine().hooks
