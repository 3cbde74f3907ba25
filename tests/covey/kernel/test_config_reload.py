"""An edited configuration file comes into force by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.config.config import ConfigHolder
from covey.kernel.config.reload import CHECK_EVERY_S, ConfigReload
from covey.kernel.events.events import Events
from covey.kernel.home import Home
from covey.kernel.logs import logs
from covey.kernel.store.store import Store
from covey.node.settings import SETTINGS


@asynccontextmanager
async def reloading(home: Home) -> AsyncIterator[tuple[ConfigReload, ConfigHolder, Events]]:
    """Yield what reloads the configuration of a node, the configuration, and the events of the node."""
    config = ConfigHolder(home.node, SETTINGS)
    async with await Store.open(Path(home.node.database), Events.MIGRATIONS) as store:
        events = await Events.open(store, clock=ManualClock().time)
        try:
            yield ConfigReload(home.node, config, events), config, events
        finally:
            logs.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(str(tmp_path / "home"))
    found.node.prepare()
    return found


async def test_a_file_is_read_again_when_it_was_edited_and_only_then(home: Home) -> None:
    async with asyncio.timeout(60), reloading(home) as (reload, config, events):
        await reload.reload_if_edited()
        assert config.generation == 1
        for generation, level in ((2, "warning"), (3, "error")):
            Path(home.node.config_file).write_text(f"[log]\nlevel = '{level}'\n")
            await reload.reload_if_edited()
            await reload.reload_if_edited()
            assert (config.generation, config.current.get("log.level")) == (generation, level)
        assert [event.kind for event in await events.history()] == ["node.reloaded", "node.reloaded"]


async def test_a_broken_file_is_logged_once_and_the_next_edit_is_seen(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(60), reloading(home) as (reload, config, _):
            Path(home.node.config_file).write_text("[log\n")
            await reload.reload_if_edited()
            await reload.reload_if_edited()
            assert config.generation == 1
            Path(home.node.config_file).write_text("[log]\nlevel = 'error'\n")
            await reload.reload_if_edited()
            assert config.generation == 2
    assert [record.message for record in caplog.records] == ["the configuration was edited and is not in force"]


async def test_the_file_is_looked_at_regularly(home: Home) -> None:
    clock = ManualClock()
    async with asyncio.timeout(60), reloading(home) as (reload, config, _):
        watching = asyncio.create_task(reload.watch(clock))
        Path(home.node.config_file).write_text("[log]\nlevel = 'error'\n")
        while not clock.sleepers:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0)
        assert config.generation == 1
        clock.advance(CHECK_EVERY_S)
        while config.generation == 1:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0)
        watching.cancel()
        await asyncio.wait({watching})
