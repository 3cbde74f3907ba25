"""A journal that cannot be written for a while.

Agents that began meanwhile are announced afterwards, and the check finds that something is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

import pytest

from covey.fleet.operations import FLEET
from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.events.event import Event
from covey.kernel.store.errors import StoreError
from covey.node.settings import SETTINGS
from tests.covey.attention.rooms import Room as Speaking
from tests.covey.attention.rooms import homes
from tests.covey.attention.rooms import until as until_true
from tests.covey.fleet.living import AGENT, TOY
from tests.covey.fleet.room import room
from tests.covey.kinds import kind

pytestmark = pytest.mark.once  # the release of tmux makes no difference


async def test_an_agent_that_began_while_the_disk_was_full_is_told_when_there_is_room_again() -> None:
    with room() as tmux, homes() as home:
        (Path(home.path) / "adapters").mkdir(exist_ok=True)
        shutil.copy(TOY, Path(home.path) / "adapters")
        program = tmux.socket.parent / "toy-agent"
        program.write_text(AGENT)
        program.chmod(0o700)
        set_value(home.node, SETTINGS, "fleet.sockets", f'["{tmux.socket}"]')
        await asyncio.to_thread(tmux.pane)
        async with Daemon.running(home.node, subsystems=(FLEET,)) as daemon:
            await daemon.store.write(
                lambda database: database.execute("PRAGMA max_page_count = 1").fetchall()
            )  # as many as there are: no more fits
            for size in (4000, 400, 1):  # what is left of the last pages
                with contextlib.suppress(StoreError):
                    while True:
                        await daemon.events.append(kind("test.filler"), data={"text": "x" * size})
            await asyncio.to_thread(tmux.pane, str(program))
            status = daemon.opened["fleet"].status
            assert status is not None
            await until_true(lambda: status()["summary"]["total"] == 1, "the row")
            await asyncio.sleep(0.2)
            assert await daemon.events.history(kinds=["agent.started"]) == []
            await daemon.store.write(lambda database: database.execute("PRAGMA max_page_count = 1000000").fetchall())
            found = list[Event]()
            async with asyncio.timeout(60):
                while not found:
                    found = await daemon.events.history(kinds=["agent.started"])
                    await asyncio.sleep(0.05)
            assert [event.data["agent"] for event in found] == ["toy"]
            checked = await Speaking(daemon).call("replay", check=True)
            assert not checked["matches"]
            assert "lacks" in checked["mismatches"][0]["why"]
