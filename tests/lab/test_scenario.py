from __future__ import annotations

import pytest

from lab import agents
from lab.agents.agent import Agent
from lab.scenario import BARE, PERSON, Act, act, load, names, read
from lab.script import ScriptError

EVERY_RELEASE = agents.chosen([f"{name}@all" for name in agents.NAMES])


def test_every_scenario_of_the_lab_reads_and_says_what_it_is_about() -> None:
    for name in names():
        assert load(name).about.endswith(".")


@pytest.mark.parametrize("kind", EVERY_RELEASE, ids=lambda kind: f"{kind.name}-{kind.version}")
def test_every_agent_plays_most_scenarios_and_gives_a_reason_for_the_others(kind: type[Agent]) -> None:
    assert set(kind.skips) <= set(names()), "a skipped scenario must exist"
    assert all(len(reason) > 10 for reason in kind.skips.values())
    assert sum(1 for name in names() if load(name).fits(kind)) >= 10


@pytest.mark.parametrize("kind", EVERY_RELEASE, ids=lambda kind: f"{kind.name}-{kind.version}")
def test_every_agent_has_the_tools_that_its_scenarios_call(kind: type[Agent]) -> None:
    for scenario in map(load, names()):
        if scenario.fits(kind):
            calls = {step.kind for steps in scenario.script.prompts.values() for step in steps if hasattr(step, "kind")}
            assert calls <= set(kind.tools), scenario.name


@pytest.mark.parametrize("verb", sorted(PERSON))
def test_each_thing_a_person_does_reads_with_or_without_an_argument(verb: str) -> None:
    right, wrong = (verb, f"{verb} x") if verb in BARE else (f"{verb} x", verb)
    assert act(right) == Act(verb, "" if verb in BARE else "x")
    with pytest.raises(ScriptError, match="does not read"):
        act(wrong)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"person": []}, "lacks 'about'"),
        ({"about": "x."}, "lacks 'person'"),
        ({"about": "x.", "person": [], "modle": {}}, "unknown keys: modle"),
        ({"about": "x.", "person": [], "opens": ["idle"]}, "`opens` must name a state and what the screen then shows"),
        ({"about": "x.", "person": ["dance"]}, "'dance' does not read"),
        ({"about": "x.", "person": [], "model": {"go": ["shout"]}}, "'shout' does not read"),
    ],
)
def test_a_scenario_that_does_not_read_is_named_with_the_reason(table: dict[str, object], message: str) -> None:
    with pytest.raises(ScriptError, match=rf"scenario mine.*{message}"):
        read("mine", table)


def test_an_unknown_scenario_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ScriptError, match="no scenario 'nonsense'; there are: answer, "):
        load("nonsense")
