"""A saved screen, explained: the answer of `covey adapters explain`, with or without a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murli import not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.adapters.registry import Registry


def explained(registry: Registry, params: Mapping[str, Any]) -> dict[str, Any]:
    """Which state a screen shows, which rule said so, and why those before it did not hold."""
    agent = params["agent"]
    if registry.get(agent) is None:
        error = not_found(f"there is no adapter for {agent!r}", "See `covey adapters list`, or describe the agent in a TOML file.", field="agent")
        error.valid_values = sorted(registry.adapters)
        raise error
    found = registry.explain(agent, params["screen"], params["title"] or "", version=params["agent_version"] or "")
    reading = found.reading or found.title_reading
    tried = [*(("screen", rule) for rule in found.screen_rules), *(("title", rule) for rule in found.title_rules)]
    return {
        "agent": found.agent,
        "state": found.state,
        "reason": found.reason,
        "detail": reading.detail if reading else "",
        "rule": reading.evidence.pattern if reading else "",
        "evidence": reading.evidence.text if reading else "",
        "caveat": found.caveat,
        "tried": [{"source": source, "rule": rule.rule, "state": rule.state, "why": rule.why} for source, rule in tried],
    }
