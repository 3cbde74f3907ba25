"""What the signals of a capture say: from hooks alone, from files alone, and all together before the judge."""

from __future__ import annotations

import json
from typing import Any

from covey.agents.json_values import timestamp
from covey.agents.registry import SIGNALS
from covey.agents.signals.signals import Notice, Owner, Signals
from covey.fleet.state.judge import Rules, judge
from covey.fleet.state.model import REST, Claim
from tests.captured import Capture

AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode")
BEGAN = timestamp("2026-01-01T00:00:00Z") or 0.0
STEP = 0.001


def signals(agent: str) -> Signals:
    return SIGNALS[agent]


def owner(capture: Capture) -> Owner:
    """The process that wrote the capture's session file: its start is known from there alone."""
    said = [json.loads(text) for text in capture.session_files.values()]
    ticks = next((int(one["procStart"]) for one in said if "procStart" in one), 0)
    return Owner(pid=1001, ticks=ticks, began=BEGAN, cwd="/lab/project", environ={"HOME": "/lab/home"})


def heard(capture: Capture, start: float = BEGAN) -> list[Notice]:
    """All notices of hooks, at their own times or one after the other."""
    hooks = signals(str(capture.about["agent"])).hooks()
    payloads = _in_order(capture)
    times = [timestamp(payload.get("timestamp")) or start + place * STEP for place, payload in enumerate(payloads)]
    return [notice for payload, at in zip(payloads, times, strict=True) for notice in hooks.normalise(payload, at)]


def _in_order(capture: Capture) -> list[dict[str, Any]]:
    """Hooks and notifications are captured apart: a notification comes after its turn's end, those of other threads
    before all.
    """
    payloads = capture.lines("hooks")
    for note in capture.lines("notify"):
        ends = (
            place
            for place, payload in enumerate(payloads, 1)
            if (payload.get("turn_id"), payload.get("hook_event_name")) == (note["turn-id"], "Stop")
        )
        payloads.insert(next(ends, 0), note)
    return payloads


def followed(capture: Capture) -> list[Notice]:
    """All notices of the transcript. The capture's lines of helpers, which have files of their own, are left out."""
    sources = [
        source
        for source in signals(str(capture.about["agent"])).sources(owner(capture), "some-session")
        if source.follower
    ]
    if not sources or sources[0].follower is None:
        return []
    follower = sources[0].follower()
    lines = capture.lines("transcript")
    helper = next(
        (place for place, line in enumerate(lines) if line.get("payload", {}).get("thread_source") == "subagent"),
        len(lines),
    )
    return [notice for line in lines[:helper] if (notice := follower.feed(json.dumps(line), BEGAN)) is not None]


def levels(capture: Capture) -> list[Claim]:
    sources = [source for source in signals(str(capture.about["agent"])).sources(owner(capture), "") if source.read]
    found = [source.read(text) for source in sources if source.read for text in capture.session_files.values()]
    return [level.claim("session_file") for level in found if level is not None]


def last(notices: list[Notice]) -> str:
    """The last state that was told; none if none was."""
    return next((notice.state for notice in reversed(notices) if notice.state), "none")


def same(state: str) -> str:
    """The truth of the captures calls a turn that has ended idle."""
    return "idle" if state == "completed" else state


def by_hooks(capture: Capture) -> str:
    return same(last(heard(capture)))


def by_files(capture: Capture) -> str:
    return _judged(capture, [])


def by_all(capture: Capture) -> str:
    """Hooks that do not tell their time came just before the file's last word if that is an end, and just after it if
    not.
    """
    lines = followed(capture)
    latest = lines[-1].at if lines else BEGAN
    count = len(_in_order(capture))
    start = latest - (count + 1) * STEP if lines and lines[-1].state in REST else latest + STEP
    told = [claim for notice in heard(capture, start) if (claim := notice.claim("hooks"))]
    return _judged(capture, told[-1:])


def _judged(capture: Capture, told: list[Claim]) -> str:
    claims = [*told, *levels(capture)]
    claims += [claim for notice in followed(capture) if (claim := notice.claim("transcript"))][-1:]
    if not claims:
        return "none"
    return same(judge(claims, max(claim.at for claim in claims) + 1.0, Rules()).state)
