"""What one agent's title and screen become: claims, reported when they change, also when nothing is drawn any more.

Time is moved by hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

from msgspec.structs import replace

from covey.agents.screens.registry import load
from covey.fleet.agent_sources import BLIND_S, FIRST_REST_S, STARTING_S, AgentSources
from covey.fleet.state.judge import Rules, horizon, judge
from covey.fleet.state.model import Claim, Verdict
from covey.kernel.clock import ManualClock
from covey.kernel.metrics import Metrics
from covey.kernel.tasks import Tasks
from tests.covey.fleet.living import TOY
from tests.covey.fleet.samples import sample_runtime

STRANGE = "A dialog that no rule knows. Continue (y/n)"


class Desk:
    """One watched agent, on a clock that is moved by hand, and what is claimed about it."""

    def __init__(self, age: float) -> None:
        self.clock = ManualClock()
        self.claims: dict[str, Claim] = {}
        self.told: list[tuple[str, str]] = []
        runtime = sample_runtime(self.clock.time() - age)
        self.sources = AgentSources(
            runtime,
            load(TOY.parent).adapters["toy"],
            self._report,
            self.clock,
            Tasks(self.clock, Metrics()),
            here=False,
        )

    def _report(self, _: AgentSources, source: str, claim: Claim | None, _key: str, _at: float) -> None:
        self.claims.pop(source, None)
        if claim is not None:
            self.claims[source] = claim
        verdict = self.verdict
        self.told.append((verdict.state, verdict.reason))

    @property
    def verdict(self) -> Verdict:
        return judge(self.claims.values(), self.clock.time(), Rules())

    def draw(self, screen: str) -> None:
        self.sources.on_screen(screen, "", self.clock.time())

    async def wait(self, seconds: float) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        self.clock.advance(seconds)
        for _ in range(3):
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def open_desk(age: float = 1000.0) -> AsyncIterator[Desk]:
    desk = Desk(age)
    try:
        yield desk
    finally:
        desk.sources.stop()


async def test_a_screen_that_cannot_be_read_and_stands_still_ends_the_state_before() -> None:
    async with open_desk() as desk:
        desk.draw("[ask] rm -rf build/")
        assert desk.verdict.state == "waiting_approval"
        desk.sources.version = "1.2.3"
        desk.draw(STRANGE)
        await desk.wait(BLIND_S / 2)
        assert desk.verdict.state == "waiting_approval", "it may be half drawn"
        await desk.wait(BLIND_S / 2)
        verdict = desk.verdict
        assert (verdict.state, verdict.reason, verdict.confidence) == ("unknown", "unsupported_signal", "low")
        assert verdict.detail == "its screen is not understood (Toy agent 1.2.3)"
        desk.draw("[work]")
        after = desk.verdict
        assert after.state == "running"


async def test_a_frame_that_is_half_drawn_changes_nothing() -> None:
    async with open_desk() as desk:
        desk.draw("[work]")
        desk.draw(STRANGE)
        await desk.wait(BLIND_S / 2)
        desk.draw("[work]")
        await desk.wait(BLIND_S * 10)
        assert desk.told == [("running", "work")]
        assert desk.clock.sleepers == 0


async def test_an_agent_that_has_drawn_nothing_yet_is_starting_but_not_for_ever() -> None:
    async with open_desk(age=0.0) as desk:
        desk.draw("")
        assert (desk.verdict.state, desk.verdict.reason) == ("unknown", "starting")
        await desk.wait(STARTING_S)
        assert (desk.verdict.state, desk.verdict.reason) == ("unknown", "unsupported_signal")


async def test_whoever_knows_more_than_the_screen_is_believed() -> None:
    async with open_desk() as desk:
        desk.draw("[ask] rm -rf build/")
        desk.claims["hook"] = Claim(
            source="hook", state="running", at=desk.clock.time(), level=False, strength=3, reason="tool_use"
        )
        desk.draw(STRANGE)
        await desk.wait(BLIND_S)
        verdict = desk.verdict
        assert (verdict.state, verdict.confidence) == ("running", "high")
        assert [one.claim.reason for one in verdict.overruled] == ["unsupported_signal"]
        stale = replace(desk.claims["hook"], at=desk.clock.time() - 7200)
        assert judge([stale, desk.claims["screen"]], desk.clock.time(), Rules()).reason == "unsupported_signal"


async def test_a_turn_that_was_seen_to_end_is_completed_for_a_while() -> None:
    async with open_desk() as desk:
        desk.draw("> ")
        assert desk.verdict.state == "idle", "nobody has seen it work"
        desk.draw("[work]")
        desk.draw("> ")
        assert (desk.verdict.state, desk.verdict.reason) == ("completed", "turn_ended")
        assert (
            horizon(desk.claims.values(), desk.clock.time() + 1, Rules()) == desk.clock.time() + Rules().completed_for
        )
        await desk.wait(Rules().completed_for + 0.1)
        assert desk.verdict.state == "idle"
        desk.draw("[ask] x")
        desk.draw("> ")
        assert desk.verdict.state == "idle", "the question was left without an answer"


async def test_a_screen_that_takes_too_long_to_read_is_not_understood_and_read_again_after_a_rest() -> None:
    async with open_desk() as desk:
        desk.draw("[ask] rm -rf build/")
        slow = replace(desk.sources.adapter.patterns.screens[0], match=(re.compile("(a+)+b"),))
        patient = desk.sources.adapter
        desk.sources.adapter = replace(patient, chosen=replace(patient.patterns, screens=(slow,)))
        desk.draw("a" * 60)
        desk.draw("a" * 61)
        assert desk.sources._rests.failures == 1  # the second one was not read
        await desk.wait(BLIND_S)
        assert desk.told[-1] == ("unknown", "unsupported_signal")
        desk.sources.adapter = patient
        desk.draw("[ask] rm -rf build/")
        await desk.wait(FIRST_REST_S)
        assert desk.verdict.state == "waiting_approval"


async def test_a_conversation_that_an_unverified_hook_names_gives_way_to_one_that_a_verified_hook_names() -> None:
    clock = ManualClock()
    claude = load(TOY.parent).adapters["claude"]
    runtime = replace(sample_runtime(clock.time()), agent="claude")
    sources = AgentSources(runtime, claude, lambda *_: None, clock, Tasks(clock, Metrics()))

    def hook(event: str, session: str, **how: bool) -> str:
        """Deliver one, and return the conversation whose files are followed then."""
        sources.on_hook({"hook_event_name": event, "session_id": session}, clock.time(), "", **how)
        return sources._session

    try:
        assert hook("SessionStart", "forged", verified=False) == "forged"
        assert hook("UserPromptSubmit", "own") == "own"
        assert hook("UserPromptSubmit", "helper") == "own"
        assert hook("UserPromptSubmit", "forged", verified=False) == "own"
        assert hook("SessionStart", "forged", verified=False, only_claimed=True) == "own"
        assert hook("SessionStart", "spooled", verified=False) == "spooled"
        assert hook("Stop", "own") == "own"
    finally:
        sources.stop()
