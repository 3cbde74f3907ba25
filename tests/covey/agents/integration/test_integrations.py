"""Integrating an agent and taking it back, on real files."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.agents import integration as integrate
from covey.agents.integration import NotEditable, hook
from covey.agents.integration.script import is_ours
from covey.agents.registry import INTEGRATIONS
from murli import AgentError

FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "copilot": ".copilot/hooks/covey.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/plugin/covey.js",
}
TABLES = ["claude", "codex", "cursor", "gemini"]
OWN = ["copilot", "opencode"]
MINE = """{
    "model": "opus",
    "numbers": [1, 2.50, 1e3, -0],
    "hooks": {
        "Stop": [ { "hooks": [{"type": "command", "command": "say done"}] } ],
        "stop": [ { "command": "say done" } ],
        "PreToolUse": []
    },
    "text": "caf\\u00e9 é \\ud83d \\/"
}"""
STYLES = {
    "spread": MINE,
    "tabs": MINE.replace("    ", "\t") + "\n",
    "windows": MINE.replace("\n", "\r\n"),
    "compact": json.dumps(json.loads(MINE), separators=(",", ":")),
    "inline": json.dumps(json.loads(MINE)),
    "empty": "{}",
    "open": "{\n}\n",
    "blank": " \n",
    "nothing": "",
    "marked": "\ufeff" + MINE,
    "no hooks": '{\n  "theme": "dark"\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
}


def install(agent: str, home: Path, **environ: str) -> list[str]:
    plan = integrate.plan(agent, home, environ)
    integrate.apply(plan)
    return plan.notes


def remove(agent: str, home: Path, **environ: str) -> None:
    integrate.apply(integrate.plan(agent, home, environ, remove=True))


def state(agent: str, home: Path) -> str:
    return integrate.status(agent, home, {}).state


def written(home: Path, agent: str, text: str) -> Path:
    file = home / FILES[agent]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def snapshot(home: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(file.relative_to(home)): (file.read_bytes(), file.stat().st_mode)
        for file in home.rglob("*")
        if file.is_file()
    }


def outside_covey(home: Path) -> dict[str, tuple[bytes, int]]:
    return {name: what for name, what in snapshot(home).items() if not name.startswith(".covey/")}


@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_installs_where_there_was_nothing_and_leaves_nothing(agent: str, tmp_path: Path) -> None:
    assert state(agent, tmp_path) == "absent"
    notes = install(agent, tmp_path)
    file = tmp_path / FILES[agent]
    assert notes
    assert "covey-hook" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.access(tmp_path / ".covey/hooks/covey-hook", os.X_OK)
    assert state(agent, tmp_path) == "installed"
    remove(agent, tmp_path)
    assert state(agent, tmp_path) == "absent"
    assert outside_covey(tmp_path) == {}


@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_a_second_time_changes_nothing(agent: str, tmp_path: Path) -> None:
    install(agent, tmp_path)
    before = snapshot(tmp_path)
    assert integrate.plan(agent, tmp_path, {}).files == []
    install(agent, tmp_path)
    assert snapshot(tmp_path) == before
    remove(agent, tmp_path)
    assert integrate.plan(agent, tmp_path, {}, remove=True).files == []


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_a_plan_alone_changes_nothing(agent: str, remove: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter of the test
    if remove:
        install(agent, tmp_path)
    before = snapshot(tmp_path)
    assert integrate.plan(agent, tmp_path, {}, remove=remove).files
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("agent", TABLES)
def test_settings_come_back_byte_for_byte(agent: str, style: str, tmp_path: Path) -> None:
    file = written(tmp_path, agent, STYLES[style])
    file.chmod(0o640)
    before = outside_covey(tmp_path)
    install(agent, tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = file.with_name(file.name + ".covey-backup-1")
    assert backup.read_bytes() == STYLES[style].encode()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert integrate.plan(agent, tmp_path, {}).files == []
    remove(agent, tmp_path)
    assert outside_covey(tmp_path) == before


@pytest.mark.parametrize("style", ["spread", "tabs", "windows"])
def test_the_lines_that_were_there_stay_as_they_are(style: str, tmp_path: Path) -> None:
    file = written(tmp_path, "claude", STYLES[style])
    install("claude", tmp_path)
    after = file.read_bytes().decode()
    lines = STYLES[style].replace(" ] } ],", "").splitlines(keepends=True)
    assert [line for line in lines if line.strip(" \t\r\n],") not in after] == []
    assert ("\r\n" in STYLES[style]) == ("\r\n" in after)
    assert after.count("\n") == after.count("\r\n" if style == "windows" else "\n")
    assert '\n\t"hooks"' in after if style == "tabs" else '\n    "hooks"' in after


@pytest.mark.parametrize("agent", TABLES)
def test_what_the_user_adds_meanwhile_stays_when_ours_is_removed(agent: str, tmp_path: Path) -> None:
    event = "stop" if agent == "cursor" else "Stop"
    file = written(tmp_path, agent, MINE)
    install(agent, tmp_path)
    document = json.loads(file.read_text())
    document["added"] = True
    document["hooks"].setdefault(event, []).append({"hooks": [{"type": "command", "command": "mine after"}]})
    file.write_text(json.dumps(document, indent=4))
    assert integrate.plan(agent, tmp_path, {}).files == [], "ours are all there: their order is the user's"
    changed = file.read_bytes()
    remove(agent, tmp_path)
    expected = json.loads(MINE)
    expected["hooks"].setdefault(event, []).append({"hooks": [{"type": "command", "command": "mine after"}]})
    left = json.loads(file.read_text())
    assert left.pop("added")
    assert without_empty(left) == without_empty({"version": 1, **expected} if agent == "cursor" else expected)
    assert file.with_name(file.name + ".covey-backup-2").read_bytes() == changed


def without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "hooks": {event: entries for event, entries in document["hooks"].items() if entries}}


def test_a_hook_that_the_user_moved_into_a_group_of_theirs_is_removed_from_it(tmp_path: Path) -> None:
    install("claude", tmp_path)
    file = tmp_path / FILES["claude"]
    document = json.loads(file.read_text())
    document["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
    file.write_text(json.dumps(document))
    remove("claude", tmp_path)
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def test_hooks_of_an_older_covey_are_replaced(tmp_path: Path) -> None:
    old = {"hooks": [{"type": "command", "command": "/somewhere/else/covey-hook claude"}]}
    file = written(tmp_path, "claude", json.dumps({"hooks": {"Stop": [old], "Forgotten": [old]}}, indent=2))
    assert state("claude", tmp_path) == "outdated"
    install("claude", tmp_path)
    assert state("claude", tmp_path) == "installed"
    document = json.loads(file.read_text())
    assert "Forgotten" not in document["hooks"]
    assert "/somewhere/else" not in file.read_text()
    remove("claude", tmp_path)
    assert json.loads(file.read_text()) == {}


WAITS = {
    "claude": {"PermissionRequest"},
    "codex": {"PermissionRequest", "PreToolUse"},
    "copilot": {"PermissionRequest"},
}


@pytest.mark.parametrize("agent", WAITS)
def test_only_hooks_that_a_person_answers_may_wait_and_older_ones_are_replaced(agent: str, tmp_path: Path) -> None:
    install(agent, tmp_path)
    file = tmp_path / FILES[agent]
    hooks = {event: entry for event, (entry,) in json.loads(file.read_text())["hooks"].items()}
    limits = {event: entry.get("timeoutSec") or entry["hooks"][0]["timeout"] for event, entry in hooks.items()}
    assert {event for event, limit in limits.items() if limit == 3600} == WAITS[agent]
    assert {limit for event, limit in limits.items() if event not in WAITS[agent]} == {5}
    assert max(limits.values()) > hook.HELD_S
    file.write_text(file.read_text().replace("3600", "5"))  # as it was before hooks could wait
    assert state(agent, tmp_path) == "outdated"
    install(agent, tmp_path)
    assert (state(agent, tmp_path), "3600" in file.read_text()) == ("installed", True)
    remove(agent, tmp_path)
    assert state(agent, tmp_path) == "absent"
    assert not file.exists() or json.loads(file.read_text()) == {}
    launch = integrate.launch(agent, tmp_path, {})
    assert launch is not None
    assert "3600" in " ".join([*launch.argv, *(content.decode() for content in launch.files.values())])


def test_a_missing_program_is_put_back(tmp_path: Path) -> None:
    install("claude", tmp_path)
    (tmp_path / ".covey/hooks/covey-hook").unlink()
    assert state("claude", tmp_path) == "outdated"
    install("claude", tmp_path)
    assert state("claude", tmp_path) == "installed"


def test_the_program_is_brought_up_to_date_where_there_is_one(tmp_path: Path) -> None:
    assert not integrate.refresh(tmp_path, {})
    assert snapshot(tmp_path) == {}
    install("claude", tmp_path)
    assert not integrate.refresh(tmp_path, {})
    (tmp_path / ".covey/hooks/covey_hook.py").write_text("of old")
    assert integrate.refresh(tmp_path, {})
    assert state("claude", tmp_path) == "installed"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": ', "not valid JSON"),
        ('{"a": NaN}', "not valid JSON"),
        ("[]", "not an object"),
        ('{"hooks": []}', "not an object"),
        ('{"hooks": {"Stop": {}}}', "not a list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("removing", [False, True])
def test_what_cannot_be_edited_is_refused_with_an_instruction(
    text: str,
    says: str,
    removing: bool,  # noqa: FBT001 - as above
    tmp_path: Path,
) -> None:
    file = written(tmp_path, "claude", text)
    with pytest.raises(NotEditable, match=says) as caught:
        integrate.plan("claude", tmp_path, {}, remove=removing)
    assert str(file) in caught.value.message
    assert str(file) in caught.value.suggestion
    assert file.read_text() == text
    assert state("claude", tmp_path) == "blocked"


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "claude", "{}").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(NotEditable, match="UTF-8"):
        integrate.plan("claude", tmp_path, {})


COMMENTED = """{
  // what I like
  "theme": "dark", /* not "light" */
  "hooks": {
    // mine
    "AfterAgent": [
      { "hooks": [{ "type": "command", "command": "say // done" }] }, // keep
    ],
  },
}
"""


def test_comments_are_refused_where_the_agent_does_not_read_them(tmp_path: Path) -> None:
    file = written(tmp_path, "claude", COMMENTED)
    with pytest.raises(NotEditable, match="comments") as caught:
        integrate.plan("claude", tmp_path, {})
    assert "Take them out" in caught.value.suggestion
    assert file.read_text() == COMMENTED


def test_comments_stay_where_the_agent_reads_them(tmp_path: Path) -> None:
    file = written(tmp_path, "gemini", COMMENTED)
    install("gemini", tmp_path)
    after = file.read_text()
    assert all(comment in after for comment in ("// what I like", '/* not "light" */', "// mine", "// keep"))
    assert after.count("covey-hook") == 8
    assert state("gemini", tmp_path) == "installed"
    file.write_text(after.replace("dark", "light"))
    remove("gemini", tmp_path)
    assert file.read_text() == COMMENTED.replace("dark", "light")


@pytest.mark.parametrize("agent", TABLES)
def test_a_link_stays_a_link(agent: str, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mine.json"
    target.parent.mkdir()
    target.write_text("{}")
    link = tmp_path / FILES[agent]
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    install(agent, tmp_path)
    assert link.is_symlink()
    assert "covey-hook" in target.read_text()
    assert target.with_name("mine.json.covey-backup-1").exists()
    remove(agent, tmp_path)
    assert link.is_symlink()
    assert target.read_text() == "{}"


@pytest.mark.parametrize("agent", OWN)
def test_a_file_of_somebody_else_in_the_place_of_ours_is_refused(agent: str, tmp_path: Path) -> None:
    file = written(tmp_path, agent, "mine")
    with pytest.raises(NotEditable, match="not Covey's"):
        integrate.plan(agent, tmp_path, {})
    assert integrate.plan(agent, tmp_path, {}, remove=True).files == []
    assert file.read_text() == "mine"


@pytest.mark.parametrize("agent", OWN)
def test_a_file_of_ours_from_an_older_covey_is_replaced_and_removed_without_a_copy(agent: str, tmp_path: Path) -> None:
    file = written(tmp_path, agent, "covey-hook of old")
    install(agent, tmp_path)
    assert state(agent, tmp_path) == "installed"
    file.write_text("covey-hook of old")
    remove(agent, tmp_path)
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("agent", "variable", "file"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("copilot", "COPILOT_HOME", "hooks/covey.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "OPENCODE_CONFIG_DIR", "plugin/covey.js"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/covey.js"),
    ],
)
def test_the_agents_own_variables_say_where_its_settings_are(
    agent: str, variable: str, file: str, tmp_path: Path
) -> None:
    install(agent, tmp_path / "home", **{variable: str(tmp_path / "elsewhere"), "COVEY_HOME": str(tmp_path / "covey")})
    assert str(tmp_path / "covey" / "hooks" / "covey-hook") in (tmp_path / "elsewhere" / file).read_text()
    assert not (tmp_path / "home").exists()


def test_a_folder_that_cannot_be_written_is_an_instruction(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    folder.write_text("a file in the place of the folder")
    with pytest.raises(AgentError, match=r"settings\.json") as caught:
        install("claude", tmp_path)
    assert caught.value.suggestion
    if os.geteuid() == 0:
        return  # whom modes do not stop
    folder.unlink()
    written(tmp_path, "claude", "{}")
    folder.chmod(0o500)
    try:
        with pytest.raises(AgentError, match="cannot be written") as caught:
            install("claude", tmp_path)
        assert "ls -ld" in caught.value.suggestion
    finally:
        folder.chmod(0o700)
    assert (folder / "settings.json").read_text() == "{}"


def test_a_file_that_changes_between_plan_and_deed_is_left_alone(tmp_path: Path) -> None:
    file = written(tmp_path, "claude", "{}")
    plan = integrate.plan("claude", tmp_path, {})
    file.write_text('{"new": 1}')
    with pytest.raises(AgentError, match="changed by somebody else"):
        integrate.apply(plan)
    assert snapshot(tmp_path) == {FILES["claude"]: (b'{"new": 1}', file.stat().st_mode)}


def test_a_pipe_in_the_place_of_settings_does_not_make_us_wait(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / FILES["claude"])
    with pytest.raises(NotEditable, match="not a file"):
        integrate.plan("claude", tmp_path, {})


def test_settings_that_keep_hooks_from_running_are_pointed_out(tmp_path: Path) -> None:
    written(tmp_path, "claude", '{"disableAllHooks": true}')
    written(tmp_path, "gemini", '{"hooksConfig": {"enabled": false, "disabled": ["covey"]}}')
    assert "disableAllHooks" in install("claude", tmp_path)[0]
    assert "disableAllHooks" in integrate.status("claude", tmp_path, {}).detail
    notes = install("gemini", tmp_path)
    assert "enabled" in notes[0]
    assert "names covey" in notes[1]


def test_codex_users_are_told_of_the_review(tmp_path: Path) -> None:
    assert "Hooks need review" in " ".join(install("codex", tmp_path))


def test_an_unknown_agent_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="no integration") as caught:
        integrate.plan("copilto", tmp_path, {})
    assert caught.value.valid_values == list(INTEGRATIONS)


def test_a_command_is_ours_by_the_name_of_its_program() -> None:
    assert is_ours("/home/me/.covey/hooks/covey-hook claude")
    assert is_ours("'/home/my self/.covey/hooks/covey-hook' claude")
    assert not is_ours("echo covey-hook")
    assert not is_ours("/x/covey-hook-of-mine")
    assert not is_ours("'covey-hook")
    assert not is_ours(None)


@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_a_launch_touches_only_coveys_home(agent: str, tmp_path: Path) -> None:
    found = integrate.launch(agent, tmp_path, {})
    assert outside_covey(tmp_path) == {}
    if agent in {"gemini", "cursor"}:
        assert found is None
        return
    assert found is not None
    assert found.argv or found.env
    assert all(file.read_bytes() == content for file, content in found.files.items())
    assert integrate.launch(agent, tmp_path, {}) == found
    install(agent, tmp_path)
    assert integrate.launch(agent, tmp_path, {}) == integrate.Launch(), "the hooks are there already"


def test_a_launch_leaves_settings_in_the_environment_to_their_owner(tmp_path: Path) -> None:
    assert integrate.launch("opencode", tmp_path, {"OPENCODE_CONFIG_CONTENT": "{}"}) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "stop", "AfterAgent", "PreToolUse", "Other"]), st.lists(VALUES, max_size=3), max_size=4
)
DOCUMENTS = st.builds(
    lambda rest, hooks: {**rest, **({} if hooks is None else {"hooks": hooks})},
    st.dictionaries(st.text(max_size=6).filter(lambda name: name != "hooks"), VALUES, max_size=4),
    st.none() | HOOKS,
)
WRITTEN = st.builds(
    lambda document, indent, ascii_only, end: json.dumps(document, indent=indent, ensure_ascii=ascii_only) + end,
    DOCUMENTS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
    st.sampled_from(["", "\n", "\n\n"]),
)


@settings(max_examples=150, deadline=None)
@given(text=WRITTEN, agent=st.sampled_from(TABLES), touched=st.booleans())
def test_any_settings_survive(text: str, agent: str, touched: bool, tmp_path_factory: pytest.TempPathFactory) -> None:  # noqa: FBT001 - drawn
    home = tmp_path_factory.mktemp("home")
    original = json.loads(text)
    file = written(home, agent, text)
    install(agent, home)
    installed = json.loads(file.read_bytes())
    assert state(agent, home) == "installed"
    assert {name: value for name, value in installed.items() if name in original and name != "hooks"} == {
        name: value for name, value in original.items() if name != "hooks"
    }
    for event, entries in original.get("hooks", {}).items():
        assert installed["hooks"][event][: len(entries)] == entries
    if touched:
        file.write_bytes(file.read_bytes() + b"\n")
    remove(agent, home)
    if not touched:
        assert file.read_bytes() == text.encode()
        return
    left = json.loads(file.read_bytes())
    emptied = [event for event, entries in original.get("hooks", {}).items() if not entries]
    expected = {**original, **({"version": 1} if agent == "cursor" and "version" not in original else {})}
    expected["hooks"] = {event: entries for event, entries in original.get("hooks", {}).items() if event not in emptied}
    left["hooks"] = {event: entries for event, entries in left.get("hooks", {}).items() if entries}
    assert left == expected
