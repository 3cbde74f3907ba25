"""Beats and runs, as the daemon answers with them."""

from __future__ import annotations

from typing import Any

from covey.cli.text import Paint
from covey.contract.beats import BUDGET, RUN
from covey.kernel.clock import timestamp

NOW = 1_800_000_000.0


NARROW = Paint(80, colour=False)


NOTHING = {"runs": 0, "cost_usd": 0.0, "tokens": 0}


SPENT = {"runs": 12, "cost_usd": 0.125, "tokens": 9000}


NO_BUDGET = dict.fromkeys(BUDGET["properties"])


def run(**fields: Any) -> dict[str, Any]:
    known = {
        "run": "01M7FQZYF1XPTTT51AZG8PW7T3",
        "beat": "api",
        "workspace": "/src/api",
        "agent": "claude",
        "why": "hand",
        "state": "done",
        "slot": None,
        "queued_at": timestamp(NOW - 720),
        "began_at": timestamp(NOW - 720),
        "ended_at": timestamp(NOW - 710),
        "duration_ms": 8200,
        "outcome": "ok",
        "summary": "",
        "error_kind": "",
        "error": "",
        "retry_at": None,
        "probe": "",
        "denials": [],
        "cost_usd": 0.0012,
        "cost_estimated": False,
        "tokens": 220,
        "num_turns": 2,
        "looked_at": None,
        "missed": 0,
        "timeout_s": 300.0,
        **fields,
    }
    assert sorted(known) == sorted(RUN["properties"])
    return known


TURNS: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "text": "I look.",
        "toolCalls": [{"name": "Bash", "input": {"command": "seq 5"}, "output": "1\n2\n3\n4\n5", "durationMs": 1200}],
    },
    {"role": "assistant", "toolCalls": [{"name": "TodoWrite", "input": {"todos": ["x"]}}]},
    {"role": "assistant", "text": "ATTENTION: \x1b[2Jbroken"},
    {"role": "result", "text": "ATTENTION: \x1b[2Jbroken", "costUsd": 0.1, "durationMs": 5, "numTurns": 3},
]
