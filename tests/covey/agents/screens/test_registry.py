"""Adapters from a person's folder and from packages, and the explanation of a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.agents.registry import known_agents
from covey.agents.screens.adapter import Adapter
from covey.agents.screens.explain import explained
from covey.agents.screens.registry import Registry, load
from tests.captured import captures
from tests.covey.agents.screens.adapters_seen import REGISTRY, Seen

TOY = Path(__file__).parent / "data" / "toy.toml"


def with_file(folder: Path, text: str, name: str = "mine.toml") -> Registry:
    (folder / name).write_text(text, encoding="utf-8")
    return load(folder, packages=False)


@pytest.fixture(name="toy")
def _toy(tmp_path: Path) -> Adapter:
    registry = with_file(tmp_path, TOY.read_text(encoding="utf-8"), "toy.toml")
    assert not registry.problems
    return registry.adapters["toy"]


def test_an_agent_can_be_described_by_a_file_alone(toy: Adapter) -> None:
    assert toy.identify(Seen("python3", ("python3", "-u", "/home/me/toy_agent.py")))
    screens = {
        "hello\n[work] building": ("running", "", ""),
        "[work] building\n[ask] rm -rf build/": ("waiting_approval", "rm -rf build/", "permission"),
        "[ask] rm -rf build/\n[done] built\n> ": ("completed", "", ""),
        "[done] built\n> and now": ("completed", "", ""),
        "welcome\n>": ("idle", "", ""),
    }
    for screen, expected in screens.items():
        reading = toy.read_screen(screen)
        assert reading
        assert (reading.state, reading.detail, reading.dialog) == expected
    assert toy.read_screen("$ ls\nREADME") is None
    draft = toy.read_screen("[done] built\n> and now")
    assert draft
    assert draft.composer
    assert (draft.composer.state, draft.composer.text) == ("draft", "and now")


def test_a_file_with_the_name_of_a_known_agent_extends_it(tmp_path: Path) -> None:
    registry = with_file(
        tmp_path,
        """
        name = "claude"
        [process]
        names = ["my-claude"]
        [capabilities]
        polling_required = true
        [[screens]]
        name = "login"
        state = "error"
        match = 'Please run /login\\Z'
        [[screens]]
        name = "ready"
        state = "completed"
        composer = "present"
        """,
    )
    assert not registry.problems
    claude = registry.adapters["claude"]
    assert claude.title == "Claude Code"
    assert claude.origin == f"built-in, {tmp_path / 'mine.toml'}"
    assert claude.identify(Seen("my-claude", ("my-claude",)))
    assert claude.identify(Seen("claude", ("claude",)))
    assert claude.capabilities.polling_required
    assert claude.capabilities.event_driven
    states = {
        "Please run /login": "error",
        next(one.screen for one in captures("claude") if one.about["case"] == "ready"): "completed",
        next(one.screen for one in captures("claude") if one.about["case"] == "approval-shell"): "waiting_approval",
    }
    assert {screen: reading.state for screen in states if (reading := claude.read_screen(screen))} == states


def test_patterns_for_other_versions_join_the_known_ones_newest_first(tmp_path: Path) -> None:
    registry = with_file(
        tmp_path,
        'name = "claude"\n[[versions]]\nwhen = ">=3"\n[[versions.screens]]\nname = "x"\nstate = "idle"\nmatch = "x"\n',
    )
    claude = registry.adapters["claude"]
    assert [patterns.when.text for patterns in claude.versions] == [">=3", ">=2.1"]
    assert claude.at("2.5").patterns.when.text == ">=2.1"
    assert claude.at("3.1").read_screen("x")
    assert not claude.at("2.5").read_screen("x")


@pytest.mark.parametrize(
    ("text", "line", "message", "suggestion"),
    [
        ('name = "x\n', 1, "not valid TOML", "Mend the line"),
        ('title = "X"\n', 0, "'name' is missing here", "Add: name"),
        ('name = "x"\n\n[procces]\nnames = ["x"]\n', 3, "'procces' is not known here", "Did you mean 'process'?"),
        (
            'name = "x"\n[process]\nnames = ["x"]\n\n[[screens]]\nname = "a"\nstate = "waiting"\n',
            7,
            "'waiting' is not known here",
            "waiting_approval",
        ),
        (
            'name = "x"\n[[screens]]\nname = "a"\nstate = "idle"\n[[screens]]\nname = "b"\nstat = "idle"\n',
            7,
            "'stat' is not known here",
            "Did you mean 'state'?",
        ),
        (
            (
                'name = "x"\n[[versions]]\n[[versions.screens]]\nname = "a"\n'
                '[[versions]]\n[[versions.screens]]\nstate = "idle"\n'
            ),
            3,
            "'state' is missing here",
            "Add",
        ),
        ('name = "x"\n[process]\nnames = "x"\n', 3, "expected `array`, got `str`", "Give a value of that type."),
        (
            'name = "x"\n[[screens]]\nname = "a"\nstate = "idle"\nzone = "top"\n',
            5,
            "'top' is not known here",
            "One of: screen, bottom, above, footer.",
        ),
        (
            'name = "x"\n[process]\nnames = ["x"]\n[[screens]]\nname = "a"\nstate = "idle"\nmatch = "(x"\n',
            7,
            "is no regular expression",
            "single quotes",
        ),
        (
            (
                'name = "x"\n[process]\nnames = ["x"]\n'
                '[[titles]]\nname = "a"\nstate = "idle"\nmatch = "yes"\ndetail = "no"\n'
            ),
            8,
            "no group named 'detail'",
            "(?P<detail>",
        ),
        ('name = "x"\n[process]\nnames = ["x"]\n[[versions]]\nwhen = "~2"\n', 5, "'~2' is no version range", "range"),
        (
            'name = "x"\n[process]\nnames = ["x"]\n[[dialogs]]\nrules = ["ask"]\nbegins = ["^x"]\n',
            5,
            "names a rule 'ask' that is not among the screens",
            "One of",
        ),
        (
            (
                'name = "x"\n[process]\nnames = ["x"]\n[[screens]]\nname = "ask"\nstate = "idle"\n'
                '[[dialogs]]\nrules = ["ask"]\nbegins = ["^x"]\noption = "[0-9]"\n'
            ),
            10,
            "no group named 'label'",
            "(?P<label>",
        ),
        (
            'name = "x"\n[[dialogs]]\nrules = ["ask"]\nbegins = ["^x"]\nonse = "Yes"\n',
            5,
            "'onse' is not known here",
            "Did you mean 'once'?",
        ),
        ('name = "x"\n', 0, "no process is named", "[process]"),
        ('name = "x"\ncontract_version = 9\n', 2, "contract_version 9 is not known", "This Covey knows"),
    ],
)
def test_a_broken_file_is_reported_and_leaves_the_others_alone(
    tmp_path: Path, text: str, line: int, message: str, suggestion: str
) -> None:
    (tmp_path / "toy.toml").write_text(TOY.read_text(encoding="utf-8"), encoding="utf-8")
    registry = with_file(tmp_path, text)
    assert list(registry.adapters) == [*known_agents(), "toy"]
    (problem,) = registry.problems
    assert problem.name == str(tmp_path / "mine.toml")
    assert message in problem.message
    assert suggestion in problem.suggestion
    assert problem.line == line
    assert str(problem).startswith(problem.name)


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xff")
    (tmp_path / "b.toml").mkdir()
    (tmp_path / "c.toml").write_text(" " * (1 << 21), encoding="utf-8")
    registry = load(tmp_path, packages=False)
    assert list(registry.adapters) == list(known_agents())
    assert [Path(problem.name).name for problem in registry.problems] == ["a.toml", "b.toml", "c.toml"]


def test_a_folder_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    assert list(load(tmp_path / "none", packages=False).adapters) == list(known_agents())


def test_packages_may_bring_adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real package on the path, with metadata as an installer leaves it."""
    info = tmp_path / "birds-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: birds\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[covey.adapters]\na-path = birds:PATH\nb-text = birds:TEXT\nc-adapter = birds:ADAPTER\n"
        "d-wrong = birds:NUMBER\ne-gone = birds:GONE\n"
    )
    unreadable = tmp_path / "fish-1.0.dist-info"
    unreadable.mkdir()
    (unreadable / "entry_points.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "birds.py").write_text(
        "from pathlib import Path\nfrom msgspec.structs import replace\n"
        "from covey.agents.screens.registry import load\n"
        f"PATH = Path({str(TOY)!r})\n"
        'TEXT = b\'name = "wren"\\n[process]\\nnames = ["wren"]\\n\'\n'
        "ADAPTER = replace(load(packages=False).adapters['claude'], name='rook')\nNUMBER = 7\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = load()
    assert list(registry.adapters) == [*known_agents(), "toy", "wren", "rook"]
    assert [problem.message.split(":")[0] for problem in registry.problems] == ["offers a int", "cannot be loaded"]
    assert {problem.name for problem in registry.problems} == {"package birds"}


def test_an_explanation_names_the_rule_that_held_and_why_the_others_did_not() -> None:
    capture = next(one for one in captures("claude") if one.about["case"] == "approval-shell")
    explanation = REGISTRY.explain("claude", capture.screen, capture.pane["pane_title"])
    assert (explanation.agent, explanation.state, explanation.reason) == (
        "claude",
        "waiting_approval",
        "permission_prompt",
    )
    tried = {one.rule: one.why for one in explanation.screen_rules}
    assert tried["permission"] == ""
    assert tried["trust"].startswith("nothing matches ")
    idle = next(one for one in captures("claude") if one.about["case"] == "ready")
    tried = {one.rule: one.why for one in REGISTRY.explain("claude", idle.screen).screen_rules}
    assert tried["permission"] == "there is a composer"


def test_an_explanation_without_an_agent_finds_the_one_that_fits() -> None:
    capture = next(one for one in captures("opencode") if one.about["case"] == "approval-shell")
    assert REGISTRY.explain(None, capture.screen).agent == "opencode"
    nothing = REGISTRY.explain(None, "$ ls\nREADME")
    assert (nothing.agent, nothing.state, nothing.reason, nothing.candidates) == ("", "unknown", "no_pattern", ())


def test_an_explanation_falls_back_on_the_title() -> None:
    explanation = REGISTRY.explain("codex", "", "⠋ thread | project")
    assert (explanation.state, explanation.reading) == ("running", None)
    assert explanation.title_reading
    assert [tried.rule for tried in explanation.title_rules] == ["title-action-required", "title-spinner"]


def test_an_explanation_of_an_unknown_version_says_so() -> None:
    assert "is newer than" in REGISTRY.explain("codex", "", version="5.0").caveat


def test_a_screen_is_explained_with_its_colours_and_without() -> None:
    capture = next(one for one in captures("claude") if one.about["case"] == "suggestion")
    about = {"agent": "claude", "title": "", "agent_version": "2.1.325", "redact": False}
    plain, coloured = (explained(REGISTRY, {**about, "screen": screen}) for screen in (capture.screen, capture.escapes))
    assert (plain["state"], plain["rule"]) == (coloured["state"], coloured["rule"]) == ("idle", "ready")
    assert "\x1b" not in coloured["report"]
