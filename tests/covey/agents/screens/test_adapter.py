"""The contract: processes, versions, and what a person finds in the data."""

from __future__ import annotations

import pytest

from covey.agents.registry import known_agents
from covey.agents.screens.adapter import CONTRACT_VERSION, Adapter
from covey.agents.screens.build import build, extended
from covey.agents.screens.description import parse
from tests.captured import all_captures, captures
from tests.covey.agents.screens.adapters_seen import REGISTRY, Seen, read


@pytest.mark.parametrize(
    ("process", "agent"),
    [
        (Seen("claude", ("claude",)), "claude"),
        (
            Seen("claude", ("/home/me/.local/bin/claude", "--resume"), "/home/me/.local/share/claude/versions/2.1.325"),
            "claude",
        ),
        (Seen("2.1.325", ("node-less",), "/home/me/.local/share/claude/versions/2.1.325"), "claude"),
        (Seen("node", ("node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js")), "claude"),
        (Seen("node", ("node", "--no-warnings", "/usr/local/bin/gemini", "--yolo")), "gemini"),
        (Seen("node", ("node", "/usr/local/bin/codex", "-p", "work")), "codex"),
        (Seen("MainThread", ("/opt/copilot-linux-x64/copilot",)), "copilot"),
        (
            Seen(
                "cursor-agent",
                ("/home/me/.local/bin/cursor-agent",),
                "/home/me/.local/share/cursor-agent/versions/1/node",
            ),
            "cursor",
        ),
        (Seen("bun", ("bun", "/home/me/.bun/bin/opencode")), "opencode"),
        (Seen("claude", ("claude", "fix -p in the parser")), "claude"),
        (Seen("claude", ("claude", "--", "-p")), "claude"),
    ],
    ids=str,
)
def test_an_agent_is_known_by_its_process(process: Seen, agent: str) -> None:
    assert [adapter.name for adapter in REGISTRY if adapter.identify(process)] == [agent]


@pytest.mark.parametrize(
    "process",
    [
        Seen("bash", ("bash", "-c", "claude")),
        Seen("vim", ("vim", "claude")),
        Seen("node", ("node", "server.js", "claude")),
        Seen("node", ("node",)),
        Seen("tail", ("tail", "-f", "/home/me/.claude/x")),
        Seen("claude", ("claude", "-p", "say hello")),
        Seen("claude", ("claude", "--print=x")),
        Seen("claude", ("claude", "mcp", "serve")),
        Seen("node", ("node", "/usr/local/bin/codex", "exec", "-")),
        Seen("node", ("node", "/usr/local/bin/gemini", "-p", "x")),
        Seen("opencode", ("opencode", "serve")),
        Seen("", ()),
    ],
    ids=str,
)
def test_what_nobody_can_talk_to_is_no_agent(process: Seen) -> None:
    assert REGISTRY.identify(process) is None


def test_a_newer_version_is_read_with_the_newest_patterns_and_that_is_said() -> None:
    capture = next(one for one in captures("claude") if one.about["case"] == "approval-shell")
    adapter = REGISTRY.adapters["claude"]
    reading = adapter.at("9.0.0").read_screen(capture.screen)
    assert reading
    assert reading.state == "waiting_approval"
    assert reading.caveat == "Claude Code 9.0.0 is newer than 2.1.325, the newest version that was measured"
    tested = adapter.at("2.1.325").read_screen(capture.screen)
    assert tested
    assert not tested.caveat


@pytest.mark.parametrize(
    ("version", "caveat"),
    [
        ("1.4", ""),
        ("1.4.0", ""),
        ("1.5", "Tool 1.5 was never measured; 1.4 and 2.0 were"),
        ("2.1", "Tool 2.1 is newer than 2.0, the newest version that was measured"),
        ("1.3", "Tool 1.3 is older than 1.4, the oldest version that was measured"),
        ("0.9", "Tool 0.9 has no patterns of its own; those for >=1 were used"),
    ],
)
def test_a_version_that_was_never_measured_is_said(version: str, caveat: str) -> None:
    description = parse(
        "tool", 'name="tool"\ntitle="Tool"\nprocess.names=["t"]\n[[versions]]\nwhen=">=1"\ntested=["2.0","1.4"]\n'
    )
    adapter = build(description)
    assert adapter.tested == ("1.4", "2.0")
    assert adapter.at(version).caveat == caveat


def test_a_rule_counts_only_for_the_versions_it_names() -> None:
    text = """
        name = "tool"
        process.names = ["t"]
        [[versions]]
        when = ">=1"
        tested = ["1.4", "2.0"]
        [[versions.composer]]
        when = "<2"
        prompt = '> (?P<text>.*)$'
        [[versions.composer]]
        prompt = '» (?P<text>.*)$'
        [[versions.screens]]
        name = "asks"
        state = "waiting_approval"
        match = 'Sure'
        when = "<1.5"
        [[versions.screens]]
        name = "asks"
        state = "waiting_approval"
        match = 'Really'
        when = ">=1.5"
        [[versions.screens]]
        name = "ready"
        state = "idle"
        composer = "present"
        """
    adapter = build(parse("tool", text))

    def state(version: str, screen: str) -> str | None:
        reading = adapter.at(version).read_screen(screen)
        return reading.state if reading else None

    assert [state(version, "Sure") for version in ("1.4", "1.5", "2.0", "")] == ["waiting_approval", None, None, None]
    assert [state(version, "Really") for version in ("1.4", "1.5", "2.0", "")] == [
        None,
        "waiting_approval",
        "waiting_approval",
        "waiting_approval",
    ]
    assert [state(version, "> x") for version in ("1.4", "2.0", "")] == ["idle", None, None]
    assert [state(version, "» x") for version in ("1.4", "2.0", "")] == [None, "idle", "idle"]
    assert adapter.read_screen("» x"), "without a version, as the newest that was measured"
    assert adapter.at("1.4").at("2.0").read_screen("Really"), "nothing is lost on the way"

    mine = build(
        extended(
            parse("tool", text),
            parse("mine", 'name="tool"\n[[screens]]\nname="asks"\nstate="waiting_input"\nmatch="Sure|Really"'),
        )
    )
    assert [reading.state for version in ("1.4", "2.0") if (reading := mine.at(version).read_screen("Sure"))] == [
        "waiting_input"
    ] * 2


def test_a_version_before_all_ranges_is_read_with_the_oldest_patterns_and_that_is_said() -> None:
    assert (
        REGISTRY.adapters["claude"].at("1.0.3").caveat
        == "Claude Code 1.0.3 has no patterns of its own; those for >=2.1 were used"
    )
    assert not REGISTRY.adapters["claude"].at("9.0.0").at("").caveat


def test_every_built_in_agent_is_there_and_whole() -> None:
    assert list(REGISTRY.adapters) == list(known_agents())
    assert not REGISTRY.problems
    for adapter in REGISTRY:
        assert adapter.contract_version == CONTRACT_VERSION
        assert adapter.origin == "built-in"
        names = [rule.name for patterns in adapter.versions for rule in (*patterns.screens, *patterns.titles)]
        assert len(names) >= 8


@pytest.mark.parametrize("adapter", list(REGISTRY), ids=lambda adapter: adapter.name)
def test_every_rule_is_needed_or_known_to_be_unseen(adapter: Adapter) -> None:
    """A rule that no capture needs was written for other widths, other settings or from what others report, and is
    listed here.
    """
    unseen = {"claude": {"spinner"}, "codex": {"plan"}, "copilot": {"loading"}, "cursor": {"question-answer"}}
    unseen["opencode"] = {"permission-always"}
    held = set()
    for capture in all_captures(adapter.name):
        reading = read(capture)
        held |= {reading.evidence.pattern} if reading else set()
    assert {rule.name for patterns in adapter.versions for rule in patterns.screens} - held == unseen.get(
        adapter.name, set()
    )


def test_a_spinner_tells_even_where_the_footer_has_no_room_to_say_so() -> None:
    running = [one for one in captures("claude") if one.state == "running" and "esc to interrupt" in one.screen]
    readings = [
        REGISTRY.adapters["claude"].read_screen(one.screen.replace(" · esc to interrupt", "")) for one in running
    ]
    assert {reading and reading.state for reading in readings} == {"running"}
    assert len(running) > 5


def test_a_copilot_that_still_loads_is_not_said_to_work() -> None:
    """As 1.0.80 draws it for a second at its start, where nobody has asked it anything."""
    ready = next(
        one for one in all_captures("copilot") if (one.about["version"], one.folder.name) == ("1.0.80", "ready")
    )
    reading = REGISTRY.adapters["copilot"].read_screen(
        ready.screen.replace(" ← open sidebar · / commands", " ● Loading: 13 hooks, 2 skills")
    )
    assert reading
    assert (reading.state, reading.reason) == ("unknown", "starting")


def test_a_codex_that_shows_an_older_turn_is_told_to_be_at_rest_by_its_title_only() -> None:
    capture = next(one for one in captures("codex") if one.about["case"] == "completed")
    screen = capture.screen.replace("Worked for", "")
    codex = REGISTRY.adapters["codex"]
    reading = codex.read_screen(screen, title="scripted | project")
    assert reading
    assert reading.state == "idle"
    assert codex.read_screen(screen) is None, "it may be streaming"
