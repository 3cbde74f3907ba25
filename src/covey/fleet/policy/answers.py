"""Answers about a policy, the same with and without a daemon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.fleet.policy.asked import requests_of
from covey.fleet.policy.live_policy import placed_in_file
from covey.kernel.config.config import Config
from covey.policy.policy import Policy, worst
from covey.policy.settings import CONDITIONS, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from covey.kernel.config.settings import Settings
    from covey.kernel.home import Home
    from covey.policy.rules_text import WrittenProblem


def listed(policy: Policy, problems: Sequence[WrittenProblem]) -> dict[str, Any]:
    """Return the rules in the order in which they win over each other, and what is wrong with the policy."""
    return {
        "items": [
            {
                "name": rule.name,
                "effect": rule.effect,
                "conditions": {key: rule.conditions[key] for key in CONDITIONS if key in rule.conditions},
            }
            for rule in policy.by_precedence()
        ],
        "problems": problems_as_dicts(problems),
    }


def problems_as_dicts(problems: Sequence[WrittenProblem]) -> list[dict[str, Any]]:
    """Return problems for an answer."""
    return [one._asdict() for one in problems]


def explained(policy: Policy, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what would be decided about a request; for one of several files, about the file that fares worst."""
    decision = worst(policy.decide(request) for request in requests_of(params))
    return {"effect": decision.effect, "rule": decision.rule, "why": decision.why}


def _list_offline(home: Home, settings: Settings, _: dict[str, Any]) -> dict[str, Any]:
    policy = _configured(home, settings)
    return listed(policy, placed_in_file(policy.problems, home.node.config_file))


def _explain_offline(home: Home, settings: Settings, params: dict[str, Any]) -> dict[str, Any]:
    return explained(_configured(home, settings), params)


def _configured(home: Home, settings: Settings) -> Policy:
    """Return the policy of the configuration. Raises ConfigError if the file cannot be read."""
    return Policy(Config.load(home.node, settings).get(RULES.key), home=str(Path.home()))


OFFLINE: Mapping[str, Callable[[Home, Settings, dict[str, Any]], dict[str, Any]]] = {
    "policy.list": _list_offline,
    "policy.explain": _explain_offline,
}
"""What works without a daemon."""
