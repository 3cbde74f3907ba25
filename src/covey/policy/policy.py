"""The rules together: what is decided about a request, and by which rule. Pure; nothing here looks at the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.policy.decision import ALLOW, ASK, DENY, Decision
from covey.policy.rule import Asked, Fit, Rule, RuleProblem, read_rule
from covey.policy.settings import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.policy.request import PolicyRequest

MOST_PATHS = 1000
"""Of one request; one with more is never allowed."""
_SEVERITY = (DENY, ASK, ALLOW)


class Policy:
    """Decides about requests. Made of the tables `[[policy.rule]]` of the configuration, in their order.

    A deny wins over everything. Of the others the narrowest wins: the one with more conditions, then the one with more
    characters that are no wildcards; if they are equally narrow, `ask` wins over `allow`, then the first. A request
    that no rule fits is asked.

    If a rule cannot be read, or `unreadable` says why the tables are not all of the policy, nothing is allowed: what
    would be is asked. What is denied stays denied.
    """

    def __init__(self, tables: Sequence[Mapping[str, Any]], *, home: str = "", unreadable: str = "") -> None:
        self.rules: list[Rule] = []
        self.problems = [RuleProblem(*fault) for fault in RULES.faults(tables)]
        self._unreadable = unreadable
        faulty = {problem.place for problem in self.problems}
        for index, table in enumerate(tables):
            if index not in faulty:
                self._add(*read_rule(index, table, home))
        self.problems.sort()

    def _add(self, rule: Rule | None, problems: list[RuleProblem]) -> None:
        self.problems += problems
        if rule is None:
            return
        if any(other.name == rule.name for other in self.rules):
            self.problems.append(RuleProblem(rule.index, "name", f"another rule has the name {rule.name!r}"))
        self.rules.append(rule)

    @property
    def unreadable(self) -> str:
        """Return why nothing is allowed; empty if all rules can be read."""
        if self._unreadable or not self.problems:
            return self._unreadable
        first = self.problems[0]
        return f"rule {first.place + 1} of the policy is wrong: {first.message}"

    def by_precedence(self) -> list[Rule]:
        """Return the rules that can be read: denies first, then from the narrowest to the widest."""
        return sorted(self.rules, key=lambda rule: (rule.effect != DENY, _rank(rule)))

    def decide(self, request: PolicyRequest) -> Decision:
        """Return what is to be done with a request. One with several paths is allowed only if each of them is."""
        asked = Asked(request)
        paths = tuple(dict.fromkeys(request.call.paths)) or ("",)
        decisions = [self._decide(asked, path) for path in paths[:MOST_PATHS]]
        decision = worst(decisions)
        if decision.effect == ALLOW and len(paths) > MOST_PATHS:
            return Decision(effect=ASK, why=f"it has more than {MOST_PATHS} paths")
        return decision

    def _decide(self, asked: Asked, path: str) -> Decision:
        fits = [(rule, fit) for rule in self.rules if (fit := rule.fit(asked, path)) is not Fit.NO]
        denies = [rule for rule, fit in fits if rule.effect == DENY and fit is Fit.YES]
        if denies:
            rule = _narrowest(denies)
            return Decision(effect=DENY, rule=rule.name, why=f"the rule {rule.name!r} denies it")
        certain = [rule for rule, fit in fits if rule.effect != DENY and fit is Fit.YES]
        if not certain:
            return Decision(effect=ASK, why=self._nothing_fits(asked))
        rule = _narrowest(certain)
        if rule.effect == ASK:
            return Decision(effect=ASK, rule=rule.name, why=f"the rule {rule.name!r} asks")
        doubt = self._doubt(rule, [other for other, fit in fits if fit is Fit.MAYBE], asked)
        if doubt:
            return Decision(effect=ASK, rule=rule.name, why=f"the rule {rule.name!r} would allow it, but {doubt}")
        return Decision(effect=ALLOW, rule=rule.name, why=f"the rule {rule.name!r} allows it")

    def _doubt(self, allowing: Rule, possible: Sequence[Rule], asked: Asked) -> str:
        """Return why a rule does not allow what it fits; empty if it does."""
        if self.unreadable:
            return self.unreadable
        if why := asked.request.call.unread:
            return f"Covey does not understand it: {why}"
        for rule in possible:
            if rule.effect == DENY or _rank(rule) < _rank(allowing):
                verb = "deny" if rule.effect == DENY else "ask"
                return f"the rule {rule.name!r} may {verb} it: {rule.why_possible(asked)}"
        return ""

    def _nothing_fits(self, asked: Asked) -> str:
        if self.unreadable:
            return self.unreadable
        if not self.rules:
            return "there are no rules"
        if asked.request.call.unread:
            return f"no rule fits, and Covey does not understand it: {asked.request.call.unread}"
        patterns = any(rule.effect == ALLOW and "command" in rule.conditions for rule in self.rules)
        if patterns and asked.request.call.command and asked.words is None:
            return "no rule fits: a pattern allows one simple command only, and this is not one"
        return "no rule fits"


def worst(decisions: Iterable[Decision]) -> Decision:
    """Return the decision that permits least."""
    return min(decisions, key=lambda one: _SEVERITY.index(one.effect))


def _narrowest(rules: Sequence[Rule]) -> Rule:
    return min(rules, key=_rank)


def _rank(rule: Rule) -> tuple[int, int, bool, int]:
    """Return the place of a rule among those that fit; the lowest wins."""
    conditions, literal = rule.narrowness
    return -conditions, -literal, rule.effect == ALLOW, rule.index
