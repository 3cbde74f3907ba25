"""The rules of the policy in `config.toml`."""

from __future__ import annotations

from covey.kernel.config.setting import Tables

CONDITIONS = ("agent", "tool", "command", "path", "target", "folder")
RULES = Tables(
    "policy.rule",
    "Which requests of agents are allowed, denied or left to you, by agent, tool, command, path, target and folder.",
    consent=True,
    required=["name", "effect"],
    columns=dict.fromkeys(("name", "effect", *CONDITIONS), ("text",)),
)
