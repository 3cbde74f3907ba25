"""What goes wrong around a real daemon and real tmux, and that the fleet gets over it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from covey.fleet.state.engine import APPLIED, Engine, Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import SEEN, SURE, Claim, State
from covey.kernel.clock import ManualClock
from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until

TRIES = 5
PANES = 300


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


def test_a_tmux_server_that_dies_takes_its_agents_along_and_the_next_one_brings_its_own(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    os.kill(int(fleet.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    until(lambda: not fleet.rows())
    again = fleet.agent()
    assert again == pane, "a new server counts its panes from the beginning"
    fleet.show(again, "[work] on it")
    after = fleet.row(again, "running")
    assert after["runtime_id"] != before["runtime_id"]
    assert len(fleet.rows()) == 1


def seconds_of(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def test_nothing_of_ours_is_in_the_users_server(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    before = fleet.tmux("list-sessions"), fleet.tmux("show-hooks", "-g"), fleet.tmux("show-hooks", "-gw")
    fleet.up()
    fleet.row(pane, "waiting_approval")
    assert fleet.tmux("list-clients") == ""
    assert (fleet.tmux("list-sessions"), fleet.tmux("show-hooks", "-g"), fleet.tmux("show-hooks", "-gw")) == before


def test_a_tmux_server_that_stands_still_is_told_of_at_once_and_seen_again_when_it_goes_on(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    usual = max(seconds_of(fleet.rows) for _ in range(TRIES))
    server = int(fleet.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        assert min(seconds_of(fleet.rows) for _ in range(TRIES)) < 10 * usual, "a list does not wait for tmux"
        assert fleet.row(pane, "unknown")["reason"] == "target_unreachable"
    finally:
        os.kill(server, signal.SIGCONT)
    assert fleet.row(pane, "waiting_approval")["runtime_id"] == before["runtime_id"]


@pytest.mark.first
@pytest.mark.once
def test_hundreds_of_panes_that_come_and_go_leave_what_is_there(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    fleet.row(pane, "waiting_approval")
    kept = [fleet.agent() for _ in range(3)]
    agent = fleet.covey.folder / "toy-agent"
    burst = fleet.covey.folder / "burst"
    burst.write_text(
        "\n".join(
            [
                "new-session -d -s burst",
                *(f"new-window -d -t burst: '{agent if i % 10 == 0 else 'exec sleep 1000'}'" for i in range(PANES)),
            ]
        )
    )
    server = fleet.tmux("display-message", "-p", "#{pid}")
    fleet.tmux("source-file", str(burst))
    fleet.tmux("kill-session", "-t", "burst")
    fleet.tmux("source-file", str(burst))
    until(lambda: len(fleet.rows()) == 1 + 3 + PANES // 10)
    fleet.tmux("kill-session", "-t", "burst")
    until(lambda: sorted(row["identity"]["pane_id"] for row in fleet.rows()) == sorted([pane, *kept]))
    fleet.row(
        pane, "waiting_approval"
    )  # on a busy machine tmux may have been silent for so long that it counted as out of reach
    assert fleet.tmux("display-message", "-p", "#{pid}") == server
    fleet.show(kept[0], "[work] on it")
    fleet.row(kept[0], "running")


def test_after_a_crash_the_next_daemon_knows_the_states_again_and_a_follower_goes_on(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    before = fleet.row(pane, "waiting_approval")
    follower = fleet.covey.start("watch")
    heard: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: heard.extend(map(json.loads, follower.stdout or ())))

    def seen(state: str) -> bool:
        return any(row["state"] == state for line in list(heard) for row in line.get("items", ()))

    try:
        reader.start()
        until(lambda: seen("waiting_approval"))
        fleet.kill()
        fleet.show(pane, "[work] on it")
        fleet.up()
        assert fleet.row(pane, "running")["runtime_id"] == before["runtime_id"]
        until(lambda: seen("running"))
        fleet.show(pane, "[ask] make install")
        until(lambda: any(row["detail"] == "make install" for line in list(heard) for row in line.get("items", ())))
    finally:
        follower.kill()
        reader.join()
        follower.communicate()


def said(clock: ManualClock, source: str, state: State, number: int, *, at: float | None = None) -> Signal:
    now = clock.time()
    claim = Claim(
        source=source,
        state=state,
        at=at or now,
        level=source == "screen",
        strength=SEEN if source == "screen" else SURE,
    )
    key = f"{number:04d}"
    return Signal(
        runtime_id="r",
        source=source,
        dedupe_key=key,
        event_id=key,
        event_time=min(at or now, now),
        ingested_at=now,
        claim=claim,
    )


@pytest.mark.parametrize("jump", [-86_400.0, -3600.0, -2.0, 2.0, 60.0, 1800.0])
def test_a_clock_that_is_set_does_not_make_news_old(jump: float) -> None:
    clock, engine = ManualClock(), Engine(Rules())
    engine.start("r")
    engine.apply(said(clock, "screen", "running", 1))
    engine.apply(said(clock, "hook", "running", 2))
    assert engine.evaluate("r", clock.time())[0].state == "running"
    clock.set_wall(clock.time() + jump)
    assert engine.evaluate("r", clock.time())[0].state == "running"
    clock.advance(0.5)
    assert engine.apply(said(clock, "hook", "waiting_approval", 3)) == APPLIED
    assert engine.evaluate("r", clock.time())[0].state == "waiting_approval"
    clock.advance(0.5)
    assert engine.apply(said(clock, "screen", "idle", 4)) == APPLIED
    clock.advance(1.0)
    assert engine.evaluate("r", clock.time())[0].state == "idle", "the screen has moved since"


def test_a_hook_from_the_future_does_not_hold_the_state_until_then() -> None:
    clock, engine = ManualClock(), Engine(Rules())
    engine.start("r")
    engine.apply(said(clock, "screen", "idle", 1))
    clock.advance(1.0)
    engine.apply(said(clock, "hook", "running", 2, at=clock.time() + 1e6))
    assert engine.evaluate("r", clock.time())[0].state == "running"
    clock.advance(1.0)
    engine.apply(said(clock, "screen", "waiting_approval", 3))
    clock.advance(1.0)
    assert engine.evaluate("r", clock.time())[0].state == "waiting_approval"


def test_a_broken_description_of_an_agent_leaves_the_others_working_and_is_told(fleet: Fleet) -> None:
    (fleet.covey.home / "adapters" / "broken.toml").write_text('name = "broken"\n[process\n')
    (fleet.covey.home / "adapters" / "claude.toml").write_bytes(b"\xff\xfe")
    pane = fleet.agent()
    fleet.show(pane, "[ask] rm -rf build")
    fleet.up()
    assert fleet.row(pane, "waiting_approval")["agent"] == "toy"
    left_out = [line for line in fleet.log.splitlines() if "an adapter was left out" in line]
    assert any("broken.toml, line 2" in line for line in left_out), left_out
    assert any("claude.toml" in line for line in left_out), left_out
    known = {item["agent"] for item in fleet.covey.run("adapters", "list").result["items"]}
    assert {"claude", "codex", "toy"} <= known
    assert "broken" not in known
