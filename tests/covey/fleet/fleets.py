"""Small fleets for tests: rows as the service makes them, and a hypothesis strategy for any of them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

from covey.fleet.answers.view import Evidence, Row, TargetStatus
from covey.fleet.state.model import STATES, State

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z"""

TARGETS = [
    TargetStatus(target="host", sockets=("/tmp/tmux-1000/default",)),
    TargetStatus(target="vm1"),
    TargetStatus(target="vm3", health="down", reason="ssh timed out"),
]


def row(
    place: str = "host/api:2.1", pane: str = "%14", state: State = "running", age: float = 60.0, **more: Any
) -> Row:
    """An agent at `<target>/<session>:<window>.<pane>`, in a state for `age` seconds."""
    target, _, rest = place.partition("/")
    session, _, numbers = rest.rpartition(":")
    window, _, index = numbers.partition(".")
    fields: dict[str, Any] = {
        "target": target,
        "session_name": session,
        "window_id": f"@{window}",
        "pane_id": pane,
        "runtime_id": sha256(f"{place} {pane}".encode()).hexdigest()[:16],
        "agent": "claude",
        "state": state,
        "reason": state,
        "confidence": "high",
        "since": NOW - age,
        "as_of": NOW,
        "window_index": int(window),
        "pane_index": int(index),
        "window_name": "work",
        "evidence": (Evidence("hook", state, "hook Stop", NOW - age),),
    }
    return Row(**{**fields, **more})


def sketch() -> list[Row]:
    """The fleet of the first screen that people see."""
    return [
        row("host/api:1.0", "%7", "idle", 31 * 60),
        row("vm1/docs:0.0", "%1", "running", 120, agent="gemini", detail="Shell: npm run build"),
        row(
            "host/api:2.1",
            "%14",
            "waiting_approval",
            64.112,
            detail="Bash: rm -rf build/ (cwd ~/src/api)",
            runtime_id="abcd1234abcd1234",
        ),
        row("host/web:1.1", "%9", "running", 12, detail="Edit src/routes.ts"),
        row(
            "vm1/web:1.0",
            "%3",
            "waiting_input",
            245,
            agent="codex",
            detail='"Which of the two migrations should I keep?"',
        ),
        row("vm3/web:1.0", "%3", "unknown", 360, agent="copilot", reason="target_unreachable"),
    ]


NAMES = st.sampled_from(["api", "web", "docs/v2"])
ROWS = st.lists(
    st.builds(
        lambda target, session, window, index, pane, state, agent, age, runtime: row(
            f"{target}/{session}:{window}.{index}", f"%{pane}", state, age, agent=agent, runtime_id=runtime
        ),
        st.sampled_from(["host", "vm1", "vm3"]),
        NAMES,
        st.integers(0, 3),
        st.integers(0, 2),
        st.integers(0, 20),
        st.sampled_from(STATES),
        st.sampled_from(["claude", "codex", "gemini"]),
        st.floats(0, 1e6),
        st.text("0123456789abcdef", min_size=16, max_size=16),
    ),
    max_size=25,
    unique_by=lambda one: one.runtime_id,
)
