from __future__ import annotations

import pytest

from lab import agents
from lab.scenario import BARE, PERSON, Act, act, load, names, read
from lab.script import ScriptError


def test_every_scenario_of_the_lab_reads_and_says_what_it_is_about() -> None:
    for name in names():
        assert load(name).about.endswith(".")


@pytest.mark.parametrize("agent", agents.NAMES)
def test_every_agent_plays_most_scenarios_and_gives_a_reason_for_the_others(agent: str) -> None:
    kind = agents.find(agent)
    assert set(kind.skips) <= set(names()), "a skipped scenario must exist"
    assert all(len(reason) > 10 for reason in kind.skips.values())
    assert sum(1 for name in names() if load(name).fits(kind)) >= 10


@pytest.mark.parametrize("agent", agents.NAMES)
def test_every_agent_has_the_tools_that_its_scenarios_call(agent: str) -> None:
    kind = agents.find(agent)
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
