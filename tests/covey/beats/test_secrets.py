"""Secrets that an agent prints reach nothing that is kept, logged, shown or sent."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from covey.agents.headless.lines import read_line
from covey.agents.headless.secrets import KEPT_CHARACTERS, redacted_text
from tests.covey.beats.world import World

KEYS = (
    "sk-ant-api03-AAAAbbbbCCCCddddEEEE",
    "ghp_0123456789abcdefABCDEF0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "hunter2hunter2",
)
"""Made up: they have the shape of keys and open nothing."""
AGENT = """\
#!/bin/sh
cat >/dev/null
cat <<'END'
%s
END
echo "fatal: password=%s in the settings" >&2
exit %d
"""


def agent(folder: Path, *, code: int) -> None:
    """A `claude` that prints secrets in every place in which it can."""
    asked = {"command": f"curl -H 'Authorization: Bearer {KEYS[1]}' {'x' * 150} {KEYS[0]}", "apiKey": KEYS[3]}
    lines: list[dict[str, Any]] = [
        {
            "type": "assistant",
            "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": asked}]},
        },
        {"type": "user", "message": {"content": [{"tool_use_id": "t", "content": f"AWS_ACCESS_KEY_ID={KEYS[2]}"}]}},
        {"type": "assistant", "message": {"id": "n", "content": [{"type": "text", "text": f"The key is {KEYS[0]}"}]}},
    ]
    if code == 0:
        denied = [{"tool_name": "Bash", "tool_input": {"command": f"echo {KEYS[1]}"}}]
        answer = f"ATTENTION: the key {KEYS[0]} is in the repository"
        lines.append(
            {
                "type": "result",
                "is_error": False,
                "result": answer,
                "total_cost_usd": 0.1,
                "num_turns": 1,
                "permission_denials": denied,
            }
        )
    program = folder / "claude"
    program.write_text(AGENT % ("\n".join(map(json.dumps, lines)), KEYS[3], code))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize("code", [0, 1])
async def test_what_an_agent_prints_is_kept_without_its_secrets(world: World, code: int) -> None:
    agent(world.agent.folder, code=code)
    world.beat("api", "notify: [attention, error]")
    async with world.living() as node:
        await node.rest()
        (run,) = await node.runs()
        assert run.outcome == ("error" if code else "attention")
        assert "[redacted]" in (run.error if code else run.summary)
        turns = json.dumps(await node.beats.ledger.turns(run.id))
        assert "[redacted]" in turns
        assert "Authorization" in turns
        assert len(await node.published("attention.asked")) == 1
    kept = [
        Path(folder) / name
        for folder, _, names in os.walk(world.folder)
        for name in names
        if "bin" not in Path(folder).parts
    ]
    assert {"node.db", "heartbeats.jsonl"} <= {file.name for file in kept}
    assert any(file.name.startswith("last-beat-") for file in kept)
    found = {(file.name, key) for file in kept for key in KEYS if key.encode() in file.read_bytes()}
    assert not found


async def test_a_probe_that_cannot_run_is_told_without_secrets(world: World) -> None:
    world.beat("api", f"probe: 'echo {KEYS[1]}; exit 127'")
    async with world.living() as node:
        await node.rest()
        (run,) = await node.runs()
        assert (run.error_kind, run.error) == ("probe", "the probe could not be run: [redacted]")


def test_numbers_and_what_controls_a_run_stay_as_they_are() -> None:
    line = {
        "type": "result",
        "session_id": "0f0f",
        "usage": {"input_tokens": 5},
        "is_error": False,
        "result": "HEARTBEAT_OK",
        "cost": None,
    }
    assert read_line(json.dumps(line)) == line


def test_the_end_of_a_long_text_is_kept() -> None:
    text = f"{KEYS[0]} {'x ' * KEPT_CHARACTERS} {KEYS[1]}\nHEARTBEAT_OK"
    kept = redacted_text(text)
    assert kept.startswith("[redacted]")
    assert kept.endswith("[redacted]\nHEARTBEAT_OK")
    assert len(kept) < len(text) + 100
