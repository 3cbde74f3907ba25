"""A saved screen, explained: the answer of `covey adapters explain`, with or without a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.screens.report import redacted, report, without_escapes
from murli import not_found

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.agents.screens.registry import Registry


def explained(registry: Registry, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return which state a screen shows, by which rule, and why the rules before it did not hold.

    The screen may have its colours as escape sequences.
    """
    agent = params["agent"] or ""
    if registry.get(agent) is None:
        problem = f"there is no adapter for {agent!r}" if agent else "no agent is named"
        error = not_found(problem, "See `covey adapters list`, or describe the agent in a TOML file.", field="agent")
        error.valid_values = sorted(registry.adapters)
        raise error
    screen = params["screen"] or ""
    letters, escapes = without_escapes(screen), screen if "\x1b" in screen else ""
    found = registry.explain(
        agent, letters, params["title"] or "", escapes=escapes, version=params["agent_version"] or ""
    )
    reading = found.reading or found.title_reading
    tried = [*(("screen", rule) for rule in found.screen_rules), *(("title", rule) for rule in found.title_rules)]
    result = {
        "agent": found.agent,
        "state": found.state,
        "reason": found.reason,
        "detail": reading.detail if reading else "",
        "rule": reading.evidence.pattern if reading else "",
        "evidence": reading.evidence.text if reading else "",
        "caveat": found.caveat,
        "tried": [
            {"source": source, "rule": rule.rule, "state": rule.state, "why": rule.why} for source, rule in tried
        ],
    }
    about = {
        "agent": f"{registry.adapters[agent].title} {params['agent_version'] or ''}".strip(),
        **params.get("about", {}),
    }
    return {
        **result,
        "report": written(result, about, params.get("sources", ()), screen, redact=bool(params["redact"])),
    }


def written(
    found: Mapping[str, Any],
    about: Mapping[str, str],
    sources: Sequence[Mapping[str, Any]],
    screen: str,
    *,
    redact: bool,
) -> str:
    """The report about a screen. With `redact` nothing of what the agent shows can be read in it."""
    if redact:
        found = {**found, "tried": [{**one, "why": one["why"].partition(" matches ")[0]} for one in found["tried"]]}
        sources = [{**one, "evidence": redacted(one["evidence"])} for one in sources]
        about = {name: redacted(value) if name == "title" else value for name, value in about.items()}
        screen = redacted(without_escapes(screen))
    return report(found, about, sources, screen)
