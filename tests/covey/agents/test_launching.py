"""Plans of launches, as they follow from the request. What agents make of them is in test_launching_real."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from covey.agents.headless import guarding
from covey.agents.integration import Launch
from covey.agents.launching import MARKS, LaunchPlan, LaunchRequest, Tools, inherited
from covey.agents.opencode.integration import CONTENT
from covey.agents.registry import INTEGRATIONS, LAUNCHING, known_agents
from murli import AgentError

ID = "0cb916db-26aa-40f2-86b5-1ba81b225fd2"
SESSION = "ses_4f2a9c"
TOOLS = Tools(
    name="covey", url="http://127.0.0.1:1/mcp", sse_url="http://127.0.0.1:1/sse", names=("ping",), token_variable="TOK"
)
AGENTS = tuple(LAUNCHING)
RESUMED = {
    "claude": ("claude", "--resume", ID),
    "codex": ("codex", "resume"),
    "copilot": ("copilot", f"--resume={ID}"),
    "gemini": ("gemini", "--resume", ID),
    "opencode": ("opencode", "--session", SESSION),
}
BEGUN = {
    "claude": ("claude", "--session-id", ID),
    "codex": ("codex", "-c"),
    "copilot": ("copilot", f"--session-id={ID}"),
    "gemini": ("gemini", "--session-id", ID),
    "opencode": ("opencode",),
}
ONE_SHOT = {
    "claude": ("--print", "-p", "--resume", "--resume=x", "-c", "--continue", "--session-id", "mcp"),
    "codex": ("exec", "resume", "--last"),
    "copilot": ("-p", "--resume=x", "--continue", "--session-id", "mcp"),
    "gemini": ("-p", "--prompt=x", "--resume", "--session-id", "mcp"),
    "opencode": ("--session", "-c", "--continue", "run"),
}


def conversation(agent: str) -> str:
    return SESSION if agent == "opencode" else ID


def planned(agent: str, **more: Any) -> LaunchPlan:
    return LAUNCHING[agent].plan(LaunchRequest(cwd="/src/a b", folder=Path("/run/session"), **more))


def settings(plan: LaunchPlan) -> dict[str, Any]:
    """What the plan has in opencode's variable."""
    found = json.loads(plan.env.get(CONTENT) or "{}")
    assert isinstance(found, dict)
    return found


def test_every_agent_with_hooks_but_cursor_is_launched() -> None:
    assert {*INTEGRATIONS} - {*LAUNCHING} == {"cursor"}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_conversation_is_begun_under_its_id_or_resumed_never_both(agent: str) -> None:
    begun = planned(agent, conversation=conversation(agent)).argv
    resumed = planned(agent, conversation=conversation(agent), resume=True).argv
    assert begun[: len(BEGUN[agent])] == BEGUN[agent]
    assert resumed[: len(RESUMED[agent])] == RESUMED[agent]
    assert resumed.count(conversation(agent)) + sum(f"={ID}" in word for word in resumed) == 1
    assert LAUNCHING[agent].chooses_id is (ID in " ".join(begun))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("known", ["last", "--yolo", "../x", "0cb916d"])
def test_what_is_not_an_id_of_the_agents_is_refused(agent: str, known: str) -> None:
    with pytest.raises(AgentError) as caught:
        planned(agent, conversation=known, resume=True)
    assert caught.value.field == "conversation"
    with pytest.raises(ValueError, match="without an id"):
        planned(agent, resume=True)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_users_arguments_come_last(agent: str) -> None:
    for resume in (False, True):
        plan = planned(agent, args=("--own", "value"), conversation=conversation(agent), resume=resume, tools=TOOLS)
        assert plan.argv[-2:] == ("--own", "value")


@pytest.mark.parametrize(("agent", "word"), [(agent, word) for agent, words in ONE_SHOT.items() for word in words])
def test_arguments_that_spoil_a_kept_session_are_refused_with_advice(agent: str, word: str) -> None:
    with pytest.raises(AgentError) as caught:
        planned(agent, args=(word, "x"))
    assert word.partition("=")[0] in caught.value.message
    assert caught.value.suggestion.startswith("Leave ")


def test_a_prompt_that_looks_like_an_option_is_a_prompt_after_two_dashes() -> None:
    assert planned("claude", args=("--", "--print")).argv[-2:] == ("--", "--print")


@pytest.mark.parametrize(
    ("agent", "args", "kept"),
    [
        ("claude", ("do it", "--verbose"), ("--verbose",)),
        ("claude", ("--verbose", "--", "do it"), ("--verbose",)),
        ("claude", ("--add-dir", "/x"), ("--add-dir", "/x")),
        ("codex", ("do it", "--search"), ("--search",)),
        ("gemini", ("-i", "do it", "--debug"), ("--debug",)),
        ("copilot", ("--interactive=do it", "--banner"), ("--banner",)),
        ("opencode", ("/src/b", "--prompt", "do it"), ("/src/b",)),
    ],
)
def test_a_first_prompt_is_not_given_again_when_the_conversation_is_resumed(
    agent: str, args: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    first = planned(agent, args=args)
    again = planned(agent, args=args, conversation=conversation(agent), resume=True)
    assert first.argv[-len(args) :] == args
    assert again.argv[-len(kept) :] == kept
    assert "do it" not in again.argv
    assert any("first prompt" in sentence for sentence in again.left_out) is (args != kept)


@pytest.mark.parametrize(
    ("agent", "own", "ours"),
    [
        ("claude", ("--settings", "mine.json"), "hooks"),
        ("claude", ("--append-system-prompt=mine",), "system prompt"),
        ("claude", ("--model", "opus"), "model"),
        ("claude", ("--dangerously-skip-permissions",), "permission mode"),
        ("codex", ("-c", 'developer_instructions="mine"'), "system prompt"),
        ("codex", ("-s", "read-only"), "permission mode"),
        ("gemini", ("--yolo",), "permission mode"),
        ("copilot", ("--plan",), "permission mode"),
        ("opencode", ("-m", "lab/x"), "model"),
    ],
)
def test_what_the_user_says_differently_is_left_out_and_named(agent: str, own: tuple[str, ...], ours: str) -> None:
    hooks = Launch(["--settings", "covey.json"], {}, {Path("/covey.json"): b"{}"}) if agent == "claude" else None
    mode = LAUNCHING[agent].permission_modes[0]
    more = {"model": "m", "permission_mode": mode, "system_prompt": "Listen.", "hooks": hooks}
    plan = planned(agent, args=own, **more)
    (sentence,) = [one for one in plan.left_out if "because the arguments of this session have" in one]
    assert ours in sentence
    without = planned(agent, **more)
    assert len(plan.argv) - len(own) < len(without.argv)
    assert not [one for one in without.left_out if "because the arguments" in one]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_unknown_permission_mode_is_refused_with_those_that_are_known(agent: str) -> None:
    for mode in LAUNCHING[agent].permission_modes:
        assert any(word.endswith(mode) for word in planned(agent, permission_mode=mode).argv)
    with pytest.raises(AgentError) as caught:
        planned(agent, permission_mode="free")
    assert set(caught.value.valid_values) == set(LAUNCHING[agent].permission_modes)


def test_the_folder_of_a_session_is_trusted_by_codex_whatever_its_name() -> None:
    plan = planned("codex")
    assert tomllib.loads(plan.argv[2]) == {"projects": {"/src/a b": {"trust_level": "trusted"}}}


def test_nothing_grants_permissions_unasked() -> None:
    for agent in AGENTS:
        plan = planned(agent, tools=TOOLS, system_prompt="Listen.")
        own = ("--allowedTools=mcp__covey__ping", "--allow-tool=covey(ping)")  # what is written to its own channels
        words = " ".join([*(word for word in plan.argv if word not in own), *plan.env])
        assert not [one for one in ("allow", "yolo", "bypass", "dangerously", "ALLOW_ALL", "--auto") if one in words]


def test_an_agent_that_takes_nothing_per_launch_says_so() -> None:
    plan = planned("gemini", tools=TOOLS, system_prompt="Listen.")
    assert [word in " ".join(plan.left_out) for word in ("hooks", "MCP", "system prompt")] == [True, True, True]
    assert planned("gemini", hooks=Launch()).left_out == (), "its settings have the hooks"


def test_instructions_of_copilot_are_added_to_those_of_the_user() -> None:
    environ = {"COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "/mine"}
    plan = planned("copilot", system_prompt="Listen.", environ=environ)
    assert plan.env["COPILOT_CUSTOM_INSTRUCTIONS_DIRS"] == "/mine,/run/session/instructions"
    ((file, content),) = plan.files.items()
    assert file.relative_to("/run/session/instructions") == Path(".github/instructions/covey.instructions.md")
    assert content.decode().endswith("---\nListen.\n")


def test_settings_of_opencode_are_merged_with_the_hooks_and_the_users_own() -> None:
    hooks = Launch([], {CONTENT: json.dumps({"plugin": ["file:///covey.js"]})}, {Path("/covey.js"): b"x"})
    own = {"plugin": ["file:///own.js"], "mcp": {"mine": {"type": "local"}}, "theme": "dark"}
    plan = planned("opencode", hooks=hooks, tools=TOOLS, system_prompt="Listen.", environ={CONTENT: json.dumps(own)})
    merged = settings(plan)
    assert merged["plugin"] == ["file:///own.js", "file:///covey.js"]
    assert merged["instructions"] == ["/run/session/opencode.md"]
    assert merged["mcp"]["mine"] == {"type": "local"}
    assert merged["mcp"]["covey"]["headers"] == {"Authorization": "Bearer {env:TOK}"}
    assert merged["theme"] == "dark"
    assert plan.left_out == ()


@pytest.mark.parametrize("own", ["{ // mine\n}", "[]", "{"])
def test_settings_of_opencode_that_are_not_json_stay_as_they_are(own: str) -> None:
    plan = planned("opencode", tools=TOOLS, system_prompt="Listen.", environ={CONTENT: own})
    assert CONTENT not in plan.env
    assert not plan.files
    (sentence,) = plan.left_out
    assert CONTENT in sentence


def test_nothing_of_opencode_is_set_when_there_is_nothing_to_say() -> None:
    assert CONTENT not in planned("opencode").env


def test_marks_of_an_agent_around_are_removed_and_the_users_own_variables_stay() -> None:
    environ = {"PAGER": "less", "DISPLAY": ":0", "GIT_EDITOR": "vi", "AGENT": "x", "NO_COLOR": "1"}
    changes = inherited(environ)
    assert not set(environ) & set(changes)
    gone = {name for name, value in changes.items() if value is None}
    assert gone >= {*MARKS, *(name for agent in known_agents().values() for name in agent.session_variables)}
    inside = inherited({**environ, "CODEX_THREAD_ID": "x", "GEMINI_CLI": "1", "GIT_CONFIG_COUNT": "1"})
    assert {name for name, value in inside.items() if value is None} - gone == {
        "DISPLAY",
        "GIT_CONFIG_COUNT",
        "NO_COLOR",
        "PAGER",
    }


@pytest.mark.parametrize(
    ("environ", "upper", "lower"),
    [
        ({}, "127.0.0.1,localhost", "127.0.0.1,localhost"),
        ({"NO_PROXY": "a, localhost"}, "a,localhost,127.0.0.1", "a,localhost,127.0.0.1"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "a,127.0.0.1,localhost", "b,127.0.0.1,localhost"),
    ],
)
def test_this_machine_is_reached_without_a_proxy(environ: dict[str, str], upper: str, lower: str) -> None:
    changes = inherited(environ)
    assert (changes["NO_PROXY"], changes["no_proxy"]) == (upper, lower)


def test_a_transcript_of_claude_counts_once_it_has_a_prompt(tmp_path: Path) -> None:
    (folder := tmp_path / "projects" / "-src").mkdir(parents=True)
    file, environ = folder / f"{ID}.jsonl", {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    launching = LAUNCHING["claude"]
    assert not launching.is_stored(ID, environ, "/src")
    file.write_text('{"type":"mode"}\n')
    assert not launching.is_stored(ID, environ, "/src")
    file.write_text('{"type":"mode"}\n{"parentUuid":null,"type":"user","message":{}}\n')
    assert launching.is_stored(ID, environ, "/elsewhere")
    assert not launching.is_stored("*", environ, "/src")
    assert not launching.is_stored("", environ, "/src")


def test_a_transcript_of_gemini_counts_in_its_folder_once_it_has_a_prompt(tmp_path: Path) -> None:
    (folder := tmp_path / ".gemini" / "tmp" / "src" / "chats").mkdir(parents=True)
    (folder.parent / ".project_root").write_text("/src")
    file, environ = folder / f"session-2026-11-17T00-21-{ID[:8]}.jsonl", {"HOME": str(tmp_path)}
    context = {"$set": {"messages": [{"type": "user", "content": [{"text": "<session_context>\nA list."}]}]}}
    lines: list[dict[str, Any]] = [{"sessionId": ID}, context]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    launching = LAUNCHING["gemini"]
    assert not launching.is_stored(ID, environ, "/src")
    lines.append({"type": "user", "content": [{"text": "Go on"}]})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert launching.is_stored(ID, environ, "/src")
    assert not launching.is_stored(ID, environ, "/elsewhere")
    assert not launching.is_stored(f"{ID[:-1]}3", environ, "/src")


def test_a_conversation_of_opencode_counts_once_it_is_in_its_database(tmp_path: Path) -> None:
    environ, launching = {"XDG_DATA_HOME": str(tmp_path)}, LAUNCHING["opencode"]
    assert not launching.is_stored(SESSION, environ, "/src")
    assert list(tmp_path.iterdir()) == [], "no database is made"
    (tmp_path / "opencode").mkdir()
    with closing(sqlite3.connect(tmp_path / "opencode" / "opencode.db")) as database:
        database.execute("CREATE TABLE session (id TEXT)")
        database.execute("INSERT INTO session VALUES (?)", (SESSION,))
        database.commit()
    assert launching.is_stored(SESSION, environ, "/src")
    assert not launching.is_stored("ses_other", environ, "/src")


ASKS_NOBODY: dict[str, list[dict[str, Any]]] = {
    "claude": [
        {"permission_mode": "bypassPermissions"},
        {"permission_mode": "auto"},
        {"args": ("--dangerously-skip-permissions",)},
        {"args": ("--permission-mode=dontAsk",)},
    ],
    "codex": [
        {"permission_mode": "never"},
        {"permission_mode": "danger-full-access"},
        {"args": ("-a", "never")},
        {"args": ("--dangerously-bypass-approvals-and-sandbox",)},
        {"args": ("-c", 'approval_policy="never"')},
    ],
    "copilot": [{"permission_mode": "autopilot"}, {"permission_mode": "allow-all"}, {"args": ("--yolo",)}],
    "gemini": [{"permission_mode": "yolo"}, {"args": ("-y",)}, {"args": ("--approval-mode", "yolo")}],
    "opencode": [{"permission_mode": "auto"}, {"args": ("--auto",)}],
}
"""The ways to start each agent so that it asks nobody."""


@pytest.mark.parametrize(("agent", "how"), [(agent, how) for agent, hows in ASKS_NOBODY.items() for how in hows])
def test_an_agent_that_asks_nobody_is_started_with_the_guard(agent: str, how: dict[str, Any]) -> None:
    def is_guarded(plan: LaunchPlan) -> bool:
        given = "".join(
            [*plan.argv, *(content.decode() for content in (*plan.files.values(), *plan.programs.values()))]
        )
        return guarding.PROGRAM in given and any(file.name == guarding.RULES for file in plan.files)

    assert is_guarded(planned(agent, **how))
    assert not is_guarded(planned(agent, **how, guarded=False))
    assert not is_guarded(planned(agent))


def test_the_guard_stands_beside_the_hooks_that_tell_of_the_agent() -> None:
    hook = {"hooks": [{"type": "command", "command": "covey-hook"}]}
    theirs = {Path("/covey.json"): json.dumps({"hooks": {"PreToolUse": [hook], "Stop": [hook]}}).encode()}
    hooks = Launch(["--settings", "/covey.json"], {}, theirs)
    plan = planned("claude", permission_mode="auto", hooks=hooks)
    assert plan.argv.count("--settings") == 1
    settings = json.loads(plan.files[Path(plan.argv[plan.argv.index("--settings") + 1])])
    assert settings["disableAllHooks"] is False
    assert settings["hooks"]["Stop"] == [hook]
    assert settings["hooks"]["PreToolUse"][0] == hook
    codex = Launch(["-c", "hooks.PreToolUse=[{ours=1}]", "-c", "hooks.Stop=[{ours=2}]"])
    words = planned("codex", permission_mode="never", hooks=codex).argv
    (before,) = [word for word in words if word.startswith("hooks.PreToolUse=")]
    assert before.startswith("hooks.PreToolUse=[{ours=1}, {")
    assert "hooks.Stop=[{ours=2}]" in words


def test_a_file_of_settings_of_the_users_own_takes_the_place_of_the_guard_and_that_is_said() -> None:
    plan = planned("claude", args=("--settings", "mine.json", "--dangerously-skip-permissions"))
    assert any(sentence.startswith("The guard, which refuses") for sentence in plan.left_out)
