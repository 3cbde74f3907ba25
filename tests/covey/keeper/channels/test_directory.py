"""Programs register channels by making FIFOs in a real folder, which is watched or listed."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import uvloop

from covey.keeper.channels import directory as directory_module
from covey.keeper.channels.directory import ChannelDirectory
from covey.keeper.channels.folder_watch import FolderWatch, watch_folder
from murli import AgentError
from tests.covey.keeper.channels.scene import Taker, channels_in, names, shell, until, write_at_once

MANY = 100
Watch = Callable[[Path, Callable[[], None]], FolderWatch | None]


def without_watching(_folder: Path, _changed: Callable[[], None]) -> None:
    """Stands for a system without inotify."""


WAYS = pytest.mark.parametrize("watch", [watch_folder, without_watching], ids=["inotify", "listing"])


def refusals(log: pytest.LogCaptureFixture, event: str = "channel refused") -> list[tuple[str, str]]:
    """The file and the reason of each line in the log."""
    return [
        (Path(record.__dict__["path"]).name, record.__dict__["reason"])
        for record in log.records
        if record.getMessage() == event
    ]


def judged(channels: ChannelDirectory, log: pytest.LogCaptureFixture, name: str) -> bool:
    """Whether a new FIFO was registered or refused."""
    return name in channels._readers or name in channels._outgoing or name in dict(refusals(log))


@WAYS
async def test_the_folder_and_the_default_channel_are_made_for_us_alone(tmp_path: Path, watch: Watch) -> None:
    taker = Taker()
    folder = tmp_path / "a" / "session"
    async with channels_in(folder, taker, watch) as channels:
        assert folder.stat().st_mode & 0o7777 == 0o700
        assert (folder / "in").stat().st_mode & 0o777 == 0o600
        await shell("echo hello > in", folder)
        await taker.until(1)
        assert [(one.channel, one.content) for one in taker.messages] == [("default", "hello")]
        [only] = channels.channels()
        assert (only.name, only.incoming, only.outgoing, only.messages_taken) == ("default", True, False, 1)
    assert (folder / "in").is_fifo()


@WAYS
async def test_channels_come_and_go_with_their_fifos(
    tmp_path: Path, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "covey.keeper")
    taker = Taker()
    changes: list[int] = []
    async with channels_in(tmp_path, taker, watch, on_change=lambda: changes.append(1)) as channels:
        await shell("mkfifo in.telegram out.telegram out.log; echo hi > in.telegram", tmp_path)
        await taker.until(1)
        await until(lambda: names(channels) == ["default", "log", "telegram"])
        assert [(one.incoming, one.outgoing) for one in channels.channels()] == [
            (True, False),
            (False, True),
            (True, True),
        ]
        assert taker.messages[0].channel == "telegram"
        before = len(changes)
        await shell("rm in.telegram out.log", tmp_path)
        await until(lambda: names(channels) == ["default", "telegram"])
        assert [(one.incoming, one.outgoing) for one in channels.channels()] == [(True, False), (False, True)]
        assert len(changes) > before
    told = [(record.getMessage(), record.__dict__.get("channel")) for record in caplog.records]
    assert told.count(("channel registered", "telegram")) == 2
    assert told.count(("channel deregistered", "telegram")) == 1


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_many_channels_come_and_go(tmp_path: Path, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def body() -> None:
        taker = Taker()
        async with channels_in(tmp_path, taker) as channels:
            one_by_one = "do mkfifo in.c$i; echo $i >in.c$i; rm in.c$i; done"
            await shell(f"for i in $(seq {MANY}); {one_by_one}", tmp_path)
            await taker.until(MANY)
            await shell(f"mkfifo $(seq -f in.c%g {MANY}); for i in $(seq {MANY}); do echo $i >in.c$i; done", tmp_path)
            await taker.until(2 * MANY)
            assert len(names(channels)) == MANY + 1
            await shell("rm in.c*", tmp_path)
            await until(lambda: len(channels._running) == 1 and names(channels) == ["default"])
        expected = [(f"c{i}", str(i)) for i in range(1, MANY + 1)]
        assert sorted((one.channel, one.content) for one in taker.messages) == sorted(expected * 2)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(body())


@WAYS
async def test_a_fifo_that_is_replaced_while_it_is_read_loses_nothing(tmp_path: Path, watch: Watch) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker, watch):
        await shell("mkfifo in.x; echo 0 > in.x", tmp_path)
        for number in range(1, 6):
            old = os.open(tmp_path / "in.x", os.O_WRONLY)
            try:
                os.mkfifo(tmp_path / "new")
                (tmp_path / "new").rename(tmp_path / "in.x")
                os.write(old, f"old {number}\n".encode())
                # It blocks until the new FIFO is read.
                await asyncio.to_thread((tmp_path / "in.x").write_text, f"new {number}\n")
            finally:
                os.close(old)
            await taker.until(1 + 2 * number)
    assert sorted(taker.contents) == sorted(["0", *(f"{age} {n}" for n in range(1, 6) for age in ("old", "new"))])


async def test_a_fifo_that_is_renamed_is_read_as_its_new_channel(tmp_path: Path) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker) as channels:
        await shell("mkfifo in.a; echo 1 > in.a; mv in.a in.b", tmp_path)
        await until(lambda: names(channels) == ["b", "default"])
        await shell("echo 2 > in.b", tmp_path)
        await taker.until(2)
    assert [(one.channel, one.content) for one in taker.messages] == [("a", "1"), ("b", "2")]


@WAYS
async def test_a_folder_that_is_deleted_or_replaced_is_made_again(tmp_path: Path, watch: Watch) -> None:
    taker = Taker()
    folder = tmp_path / "session"
    async with channels_in(folder, taker, watch) as channels:
        await shell("mkfifo in.x; echo 1 > in.x", folder)
        shutil.rmtree(folder)
        await until((folder / "in").is_fifo)
        await until(lambda: names(channels) == ["default"])
        await asyncio.to_thread((folder / "in").write_text, "2\n")
        await taker.until(2)
        folder.rename(tmp_path / "elsewhere")
        await until((folder / "in").is_fifo)
        await asyncio.to_thread((folder / "in").write_text, "3\n")
        await taker.until(3)
        (folder / "in").unlink()
        await until((folder / "in").is_fifo)
    assert taker.contents == ["1", "2", "3"]


@WAYS
async def test_what_is_not_a_fifo_of_ours_is_refused_with_one_log_line(
    tmp_path: Path, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker, watch) as channels:
        os.mkfifo(tmp_path / "elsewhere")
        (tmp_path / "in.link").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "out.link").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "in.file").write_text("message")
        (tmp_path / "in.folder").mkdir()
        os.mkfifo(tmp_path / "in.bad name")
        os.mkfifo(tmp_path / "in.-x")
        os.mkfifo(tmp_path / "in.good", 0o644)
        await until(lambda: names(channels) == ["default", "good"])
        for number in range(5):  # the folder changes, and is looked at again
            os.mkfifo(tmp_path / f"out.{number}")
            await until(lambda: len(names(channels)) == 3)
            (tmp_path / f"out.{number}").unlink()
            await until(lambda: len(names(channels)) == 2)
    assert sorted(name for name, _ in refusals(caplog)) == [
        "in.-x",
        "in.bad name",
        "in.file",
        "in.folder",
        "in.link",
        "out.link",
    ]
    assert dict(refusals(caplog))["in.link"] == "it is a symbolic link, not a FIFO"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a FIFO or a folder away")
async def test_what_belongs_to_another_user_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "session"
    async with channels_in(folder, Taker()) as channels:
        os.mkfifo(tmp_path / "foreign")
        os.chown(tmp_path / "foreign", 12_345, -1)
        (tmp_path / "foreign").rename(folder / "in.foreign")
        await until(lambda: refusals(caplog))
        assert names(channels) == ["default"]
    os.chown(folder, 12_345, -1)
    with pytest.raises(AgentError, match="12345") as caught:
        async with channels_in(folder, Taker()):
            pass
    assert "keeper.runtime_dir" in caught.value.suggestion


async def test_a_folder_that_leads_elsewhere_or_is_a_file_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    for name in ("link", "file", "file/below"):
        with pytest.raises(AgentError) as caught:
            async with channels_in(tmp_path / name, Taker()):
                pass
        assert "keeper.runtime_dir" in caught.value.suggestion
    assert not list((tmp_path / "real").iterdir())


async def test_a_folder_of_ours_that_is_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    folder.chmod(0o777)
    async with channels_in(folder, Taker()):
        assert folder.stat().st_mode & 0o7777 == 0o700
        folder.chmod(0o755)
        await until(lambda: folder.stat().st_mode & 0o7777 == 0o700)


async def test_channels_beyond_the_most_are_refused_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(directory_module, "MOST_CHANNELS", 3)
    async with channels_in(tmp_path, Taker()) as channels:
        for name in ("in.a", "in.b"):
            os.mkfifo(tmp_path / name)
            await until(partial(judged, channels, caplog, name))
        await shell("mkfifo out.a $(seq -f in.c%g 40)", tmp_path)
        await until(lambda: channels.beyond == 40)
        assert names(channels) == ["a", "b", "default"]
        logged = [record.__dict__["fifos"] for record in caplog.records if "too many" in record.getMessage()]
        assert 1 <= len(logged) <= 6  # not one for each
        await shell("rm in.c*; mkfifo in.c", tmp_path)
        await until(lambda: channels.beyond == 1)
        (tmp_path / "in.b").unlink()
        await until(lambda: names(channels) == ["a", "c", "default"])
        assert channels.beyond == 0


async def test_a_flood_of_refused_messages_does_not_fill_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker) as channels:
        await shell("yes '{broken' | head -c 400000 > in; echo fine > in", tmp_path)
        await taker.until(1)
        assert channels.channels()[0].messages_refused == 400_000 // len("{broken\n")
    lines = [record for record in caplog.records if record.getMessage() == "message refused"]
    assert 0 < len(lines) < 100
    assert lines[0].__dict__["beginning"] == "{broken"
    assert lines[0].__dict__["channel"] == "default"


async def test_a_flood_on_one_channel_hides_no_refusal_on_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker) as channels:
        os.mkfifo(tmp_path / "in.quiet")
        await until(lambda: names(channels) == ["default", "quiet"])
        await shell("yes '{broken' | head -c 4000 > in; echo fine > in", tmp_path)
        await taker.until(1)
        await shell("echo '{once' > in.quiet; echo fine > in.quiet", tmp_path)
        await taker.until(2)
    lines = [record for record in caplog.records if record.getMessage() == "message refused"]
    assert [line.__dict__["beginning"] for line in lines if line.__dict__["channel"] == "quiet"] == ["{once"]


async def test_what_was_counted_stays_when_a_fifo_is_made_anew_and_goes_to_the_next_directory(tmp_path: Path) -> None:
    def counted(channels: ChannelDirectory) -> dict[str, tuple[int, int]]:
        return {one.name: (one.messages_taken, one.messages_refused) for one in channels.channels()}

    taker = Taker()
    async with channels_in(tmp_path / "a", taker) as first:
        await shell("echo one > in; mkfifo in.x", tmp_path / "a")
        await until(lambda: "x" in names(first))
        await shell("printf 'two\n{broken\n' > in.x", tmp_path / "a")
        await taker.until(2)
        await until(lambda: counted(first) == {"default": (1, 0), "x": (1, 1)})
        (tmp_path / "a" / "in.x").unlink()
        await until(lambda: names(first) == ["default"])
        await shell("mkfifo in.x", tmp_path / "a")
        await until(lambda: counted(first) == {"default": (1, 0), "x": (1, 1)})
    async with channels_in(tmp_path / "b", taker) as second:
        second.count_from(first)
        os.mkfifo(tmp_path / "b" / "in.x")
        await until(lambda: counted(second) == {"default": (1, 0), "x": (1, 1)})


async def test_in_default_is_another_way_into_the_channel_of_in(tmp_path: Path) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker) as channels:
        await shell("mkfifo in.default; echo one > in; echo two > in.default", tmp_path)
        await taker.until(2)
        assert {message.channel for message in taker.messages} == {"default"}
        (only,) = channels.channels()
        assert (only.name, only.messages_taken) == ("default", 2)
        (tmp_path / "in.default").unlink()
        await shell("echo three > in", tmp_path)
        await taker.until(3)


async def test_what_waits_while_nobody_reads_is_read_by_the_next(tmp_path: Path) -> None:
    taker = Taker()
    async with channels_in(tmp_path, taker):
        write_at_once(tmp_path / "in", b"before\n")
    assert taker.contents == ["before"]
    writer = threading.Thread(target=(tmp_path / "in").write_text, args=("meanwhile\n",))
    writer.start()
    async with channels_in(tmp_path, taker):
        await taker.until(2)
    writer.join()
    assert taker.contents == ["before", "meanwhile"]
