"""What an agent is told on a heartbeat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from covey.beats.prompt import build

MOMENT = 1_770_112_800.7  # 2026-02-03, ten o'clock

DOCUMENT = """\
You are a heartbeat agent. Follow the instructions below.

WORKSPACE: /home/theo/my-project
TIME: 2026-02-03T10:00:00Z

---
# Heartbeat

Run the tests {all of them}.
---

Rules:
- Do what the instructions above ask.
- If there is nothing to report: respond with exactly HEARTBEAT_OK (nothing else).
- If something needs human attention: respond with ATTENTION: followed by a concise summary.
- Be brief."""


def test_the_prompt_is_the_promised_one_to_the_letter() -> None:
    assert build("/home/theo/my-project", "# Heartbeat\n\nRun the tests {all of them}.", MOMENT) == DOCUMENT


def test_empty_lines_around_the_instructions_are_left_out() -> None:
    assert build("/home/theo/my-project", "\n \n# Heartbeat\n\nRun the tests {all of them}.\n\n", MOMENT) == DOCUMENT


@given(st.text())
def test_the_instructions_stand_between_the_rules_as_they_were_written(body: str) -> None:
    prompt = build("/w", f"a{body}z", MOMENT)
    assert f"\n---\na{body}z\n---\n\nRules:\n" in prompt
