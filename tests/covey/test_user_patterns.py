"""Every pattern that users write is compared with a hostile text in a time that grows with its length, not faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from covey.agents.screens.adapter import ProcessShape
from covey.mesh.peer.bridge_rules import allowed
from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import ToolCall

pytestmark = pytest.mark.once  # the release of tmux makes no difference

LONGEST = 4096
PATTERNS = ("*a*b*c*d", "*a*a*a*a*a*a*b", "**/a/**/a/**/b", "*?a?*?a?*?b", "~/**/src/**/test/**/*.key", "a*" * 100)
TEXTS = ("a", "ab", "abc", "a/", "aa/", "é", "a b ", "src/test/", "\u0315\u0300")

Compare = Callable[[str, str], object]


class _Process:
    def __init__(self, name: str) -> None:
        self.name = name
        self.exe = f"/{name}"
        self.argv = ("node", name)


def _decided(condition: str, effect: str) -> Compare:
    def compare(pattern: str, text: str) -> object:
        if condition == "folder":
            pattern = f"/{pattern}"
        rule: dict[str, Any] = {"name": "rule", "effect": effect, condition: pattern}
        policy = Policy([rule], home="/home/me")
        values: dict[str, Any] = {"agent": "claude", "tool": "Write", "folder": "/srv", "target": "host"}
        call = ToolCall(kind="file", paths=(text if condition == "path" else "a",))
        if condition == "command":
            call = ToolCall(kind="shell", command=f"cat {text}")
        given = {} if condition in {"path", "command"} else {condition: f"/{text}" if condition == "folder" else text}
        return policy.decide(PolicyRequest(call=call, **{**values, **given}))

    return compare


COMPARED: dict[str, Compare] = {
    **{
        f"policy.rule {condition}, {effect}": _decided(condition, effect)
        for condition in ("path", "folder", "tool", "agent", "target", "command")
        for effect in ("allow", "deny")
    },
    "bridge.allow agents": lambda pattern, text: allowed([{"member": "*", "agents": [pattern]}], "m", text),
    "process names": lambda pattern, text: ProcessShape(names=(pattern,), paths=(pattern,)).fits(_Process(text)),
}


@pytest.mark.parametrize("where", COMPARED)
def test_a_hostile_text_is_compared_in_linear_time(where: str) -> None:
    for pattern in PATTERNS:
        for part in TEXTS:
            whole = _seconds(COMPARED[where], pattern, part, LONGEST)
            if whole > 0.01:
                half = min(_seconds(COMPARED[where], pattern, part, LONGEST // 2) for _ in range(3))
                whole = min(_seconds(COMPARED[where], pattern, part, LONGEST) for _ in range(3))
                assert whole < 3.2 * half, (pattern, part)


def _seconds(compare: Compare, pattern: str, part: str, length: int) -> float:
    text = (part * length)[:length]
    began = time.thread_time()
    compare(pattern, text)
    return time.thread_time() - began
