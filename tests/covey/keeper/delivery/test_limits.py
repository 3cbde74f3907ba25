"""A kept session at its limits: very many messages on very many channels, and a disk that is full for a while."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept, keeping

pytestmark = pytest.mark.once
CHANNELS, EACH = 100, 100
LIMIT_S = 120


def given(kept: Kept) -> list[tuple[str, str]]:
    """The messages that the agent was given: channel and text."""
    lines = [line for text in kept.told for line in text.splitlines()]
    return [(head.split(" ", 1)[1], text) for head, _, text in (line.partition("] ") for line in lines)]


def test_ten_thousand_messages_of_a_hundred_channels_arrive_each_once_and_in_order(kept: Kept) -> None:
    kept.begin()
    folder = Path(kept.start()["path"])
    names = [f"c{number}" for number in range(CHANNELS)]
    for name in names:
        os.mkfifo(folder / f"in.{name}", 0o600)

    def write(name: str) -> None:
        with (folder / f"in.{name}").open("w", buffering=1) as fifo:
            for number in range(EACH):
                fifo.write(f"{number}\n")

    writers = [threading.Thread(target=write, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    until(lambda: len(given(kept)) >= CHANNELS * EACH)
    kept.when(waiting=0)
    found = given(kept)
    assert len(found) == CHANNELS * EACH
    for name in names:
        assert [text for channel, text in found if channel == name] == [str(number) for number in range(EACH)]
    taken = {one["name"]: (one["taken"], one["refused"]) for one in kept.keep("channels", "api").result["items"]}
    assert taken == {"default": (0, 0), **dict.fromkeys(names, (EACH, 0))}


@pytest.fixture
def on_small_disk() -> Iterator[Kept]:
    """A kept session whose daemon has its home on a small file system."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("only root mounts file systems, and this one is Linux's")
    covey = Covey(Path(tempfile.mkdtemp(prefix="covey-")))
    covey.home.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(covey.home)]
    if subprocess.run(mount, timeout=LIMIT_S, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        with keeping(covey) as kept:
            yield kept
    finally:
        subprocess.run(["umount", "-l", str(covey.home)], check=True, timeout=LIMIT_S)
        shutil.rmtree(covey.folder, ignore_errors=True)


def test_messages_that_come_while_the_disk_is_full_are_given_to_the_agent_when_there_is_room(
    on_small_disk: Kept,
) -> None:
    kept = on_small_disk
    kept.begin()
    folder = Path(kept.start()["path"])
    kept.write("before")
    until(lambda: len(kept.told) == 1)
    kept.when(waiting=0)
    ballast = kept.covey.home / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    pid = (kept.covey.node / "pid").read_text()
    texts = [f"{number} {'x' * 3000}" for number in range(40)]  # more than what was left in the database's pages
    content = "".join(f"{text}\n" for text in texts)
    writer = threading.Thread(target=(folder / "in").write_text, args=(content,))  # it waits while nothing is stored
    writer.start()
    until(lambda: "messages of a channel cannot be stored yet" in kept.covey.run("logs", "-n", "500").stdout)
    ballast.unlink()
    writer.join()
    until(lambda: len(given(kept)) > len(texts))
    kept.when(waiting=0)
    assert [text for _, text in given(kept)] == ["before", *texts]
    assert (kept.covey.node / "pid").read_text() == pid
