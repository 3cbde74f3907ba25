"""What comes from outside at once (a line, a piece, a body, a screen) keeps the event loop for a moment only.

Measured is processor time, with a limit that is five times of what is promised; without the limits on values, lines and
patterns most of these take seconds.
"""

from __future__ import annotations

import contextlib
import gc
import json
import time
from collections.abc import Callable

import pytest

from covey.agents.prompts import prompt_digest
from covey.agents.registry import HEADLESS, SIGNALS
from covey.agents.screens.registry import load
from covey.agents.signals.signals import Owner
from covey.fleet.ingest import delivery
from covey.keeper.channels.framing import Framing
from covey.kernel.http.request import read_document
from covey.kernel.time_limit import TooLongError
from covey.policy.patch import BEGIN, END, Patch
from covey.policy.wildcard import folded
from murli import AgentError
from tests.covey.slices import MOST_S

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MARKS = "a" + "\u0315\u0300" * 150_000
SAYS = '{"type":"assistant","message":{"content":'
LINES = {
    "empty": "\n" * 4_000_000,
    "lists": f"{SAYS}[{'[],' * 1_300_000}[]]}}}}",
    "objects": f"{SAYS}[{{}}{',{}' * 900_000}]}}}}",
    "keys": "{" + ",".join(f'"{key}":1' for key in range(300_000)) + "}",
    "deep": "[" * 2_000_000,
    "prompt": json.dumps({"type": "user", "message": {"content": "a=b: " * 200_000}}),
    "text": json.dumps(
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "API Error: " * 90_000}]}}
    ),
    "quotes": SAYS + '"\\"' * 1_000_000,
    "marks": json.dumps({"type": "user", "message": {"content": MARKS}}, ensure_ascii=False),
    "script": json.dumps(
        {"payload": {"type": "custom_tool_call", "name": "exec", "input": "tools.a( " + 'cmd: "' * 90_000}}
    ),
}
PIECES = ("\0", "\n", "a\n", "\0a", "{\n", "{}\n", "}\n")
ROWS = (
    "a" * 500,
    " " * 500,
    "\u276f 1. Yes" * 60,
    "● API Error: 401 " * 30,
    "  ⎿ API Error: 429 ·" * 25,
    "─" * 500,
    "✻ …" * 160,
)

ADAPTERS = load(packages=False).adapters


def seconds(work: Callable[[], object]) -> float:
    gc.disable()  # the heap of a whole suite is larger than a daemon's, and collecting it is not what is measured
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("agent", sorted(SIGNALS))
def test_a_line_of_a_transcript(agent: str, kind: str) -> None:
    whose = Owner(pid=1, ticks=1, began=1.0, cwd="/x", environ={"HOME": "/x"})
    for source in SIGNALS[agent].sources(whose, "id"):
        if source.follower is not None:
            follower = source.follower()
            assert seconds(lambda: follower.feed(LINES[kind], 1e9)) < MOST_S  # noqa: B023 - called at once


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("agent", sorted(HEADLESS))
def test_a_line_of_a_beat(agent: str, kind: str) -> None:
    reader = HEADLESS[agent].reader()
    assert seconds(lambda: list(reader.line(LINES[kind]))) < MOST_S


@pytest.mark.parametrize("kind", LINES)
def test_the_payload_of_a_hook(kind: str) -> None:
    body = LINES[kind].encode()[: 1 << 20]

    def read() -> None:
        found = delivery.parse("claude", {}, body, 1.0)
        for signals in SIGNALS.values() if found else ():
            signals.hooks().normalise(found.payload if found else {}, 1.0)

    assert seconds(read) < MOST_S


@pytest.mark.parametrize("kind", LINES)
def test_the_body_of_a_request(kind: str) -> None:
    def read() -> None:
        with contextlib.suppress(AgentError):
            read_document(LINES[kind].encode()[: 1 << 20], {})

    assert seconds(read) < MOST_S


@pytest.mark.parametrize("part", PIECES)
def test_a_piece_of_a_channel(part: str) -> None:
    framing = Framing("in", longest=1 << 20)
    piece = (part * 65_536)[:65_536].encode()
    assert max(seconds(lambda: framing.feed(piece, 1.0)) for _ in range(3)) < MOST_S


@pytest.mark.parametrize("agent", sorted(ADAPTERS))
def test_a_screen_of_500_by_200(agent: str) -> None:
    adapter = ADAPTERS[agent]
    for first in ROWS:
        for second in ROWS:
            screen = f"{first}\n{second}\n" * 97 + f"{'─' * 500}\n\u276f\u00a0x\n{'─' * 500}\n{second}"

            def read(screen: str = screen) -> None:
                with contextlib.suppress(TooLongError):
                    adapter.read_screen(screen, screen, first)  # noqa: B023 - called at once

            assert seconds(read) < MOST_S


@pytest.mark.parametrize("work", [folded, prompt_digest])
def test_a_letter_with_accents_without_end(work: Callable[[str], object]) -> None:
    assert seconds(lambda: work(MARKS)) < MOST_S


def test_a_patch_of_ten_thousand_files() -> None:
    patch = "\n".join([BEGIN, *(f"*** Add File: {number}" for number in range(10_000)), END])
    assert seconds(lambda: Patch(patch)) < MOST_S
