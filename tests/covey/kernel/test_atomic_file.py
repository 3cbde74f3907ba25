"""Replacing a file: whole or not at all, and nothing else when a signal comes in the middle."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from covey.kernel.atomic_file import write_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_with_its_mode_and_a_link_stays(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_file(str(link), b"new", 0o640)
    assert link.is_symlink()
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o640)
    assert names(tmp_path) == ["file", "link"]


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_what_a_signal_raises_after_a_system_call_goes_on_and_nothing_is_left_behind(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real call is made, and a real signal comes before it returns to Python."""
    real = getattr(os, call)

    def interrupted(*arguments: object) -> object:
        answer = real(*arguments)
        signal.raise_signal(signal.SIGTERM)
        return answer

    def terminate(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        monkeypatch.setattr(os, call, interrupted)
        with pytest.raises(SystemExit):
            write_file(str(tmp_path / "file"), b"new", 0o600)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert names(tmp_path) == (["file"] if call == "rename" else [])
