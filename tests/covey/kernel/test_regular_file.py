"""Regular files are read; whatever else stands in their place is refused at once."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from covey.kernel.regular_file import NotRegularError, descriptor_of, open_regular, read_regular

TOO_LONG = 20
"""Seconds: a test that blocks is ended by this, not by the patience of the runner."""
pytestmark = pytest.mark.timeout(TOO_LONG)


def things_that_are_no_files(folder: Path) -> dict[str, Path]:
    """One of each kind of thing that can have a name without being a regular file."""
    os.mkfifo(folder / "pipe")
    (folder / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    (folder / "link").symlink_to(folder / "pipe")
    return {
        "a named pipe": folder / "pipe",
        "a directory": folder / "directory",
        "a socket": folder / "socket",
        "a device": Path("/dev/zero"),
        "it is a named pipe": folder / "link",
    }


def test_a_path_that_is_not_a_regular_file_is_refused_at_once_by_its_kind(tmp_path: Path) -> None:
    for kind, path in things_that_are_no_files(tmp_path).items():
        for attempt in (lambda path=path: read_regular(path, 10), lambda path=path: open_regular(path)):
            with pytest.raises(NotRegularError) as caught:
                attempt()
            assert kind in str(caught.value.strerror), kind
            assert caught.value.filename == str(path)
        with pytest.raises(NotRegularError):
            descriptor_of(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def test_a_pipe_with_a_reader_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(NotRegularError):
            descriptor_of(tmp_path / "pipe", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    finally:
        os.close(reader)


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")
    assert read_regular(file, 100) == b"0123456789"
    assert read_regular(str(file), 4) == b"0123"
    with open_regular(file) as opened:
        assert opened.readline() == b"0123456789"
    (tmp_path / "link").symlink_to(file)
    assert read_regular(tmp_path / "link", 100) == b"0123456789"


def test_a_file_that_is_missing_or_closed_to_us_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 1)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        open_regular(tmp_path / "file" / "below")


def test_a_file_is_made_with_its_mode(tmp_path: Path) -> None:
    os.close(descriptor_of(tmp_path / "new", os.O_WRONLY | os.O_CREAT, 0o600))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
