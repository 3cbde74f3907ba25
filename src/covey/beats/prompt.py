"""The prompt that an agent gets on a heartbeat."""

from __future__ import annotations

from datetime import UTC, datetime

_PROMPT = """\
You are a heartbeat agent. Follow the instructions below.

WORKSPACE: {workspace}
TIME: {time}

---
{contents}
---

Rules:
- Do what the instructions above ask.
- If there is nothing to report: respond with exactly HEARTBEAT_OK (nothing else).
- If something needs human attention: respond with ATTENTION: followed by a concise summary.
- Be brief."""


def build(workspace: str, body: str, moment: float) -> str:
    """Return the prompt for the body of a HEARTBEAT.md, at a moment in seconds since 1970.

    Empty lines around the body are left out.
    """
    time = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = body.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        del lines[0]
    return _PROMPT.format(workspace=workspace, time=time, contents="\n".join(lines))
