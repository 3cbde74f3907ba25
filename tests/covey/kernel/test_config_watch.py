"""An edited configuration file comes into force by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.config_watch import CHECK_EVERY_S, ConfigWatch
from murli import AgentError, user_error

Work = Callable[[ConfigWatch, list[str]], Awaitable[None]]


def watched(file: Path, work: Work, error: AgentError | None = None) -> None:
    """Run `work` with a watch of the file and the contents at each reload; `error` is what a reload raises."""
    reloaded: list[str] = []

    def content() -> str:
        return file.read_text() if file.exists() else ""

    async def reload() -> None:
        reloaded.append(content())
        if error:
            raise error

    async def main() -> None:
        await work(ConfigWatch(str(file), reload, ManualClock()), reloaded)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_file_is_reloaded_when_it_appears_changes_and_goes_and_only_then(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"

    async def work(watch: ConfigWatch, reloaded: list[str]) -> None:
        await watch.check()
        assert reloaded == []
        for text in ("a", "ab"):
            file.write_text(text)
            await watch.check()
            await watch.check()
        file.unlink()
        await watch.check()
        assert reloaded == ["a", "ab", ""]

    watched(file, work)


def test_a_broken_file_is_logged_once_and_the_next_edit_is_seen(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "config.toml"

    async def work(watch: ConfigWatch, reloaded: list[str]) -> None:
        file.write_text("[")
        await watch.check()
        await watch.check()
        file.write_text("[[")
        await watch.check()
        assert reloaded == ["[", "[["]

    with caplog.at_level(logging.WARNING):
        watched(file, work, user_error("it is broken", "Mend it."))
    assert [record.message for record in caplog.records] == ["the edited configuration is not in force"] * 2


def test_the_file_is_checked_regularly(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"

    async def main() -> None:
        clock, reloaded = ManualClock(), asyncio.Event()

        async def reload() -> None:
            reloaded.set()

        running = asyncio.create_task(ConfigWatch(str(file), reload, clock).run())
        file.write_text("a")
        while not clock.sleepers:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0)
        clock.advance(CHECK_EVERY_S)
        await reloaded.wait()
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(asyncio.wait_for(main(), 60))
