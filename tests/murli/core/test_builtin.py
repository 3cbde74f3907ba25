"""The commands murli gives to every tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from murli._core.command import Argument, Command
from murli._core.profiles import ProfileStore
from murli._core.schema import command_schema
from murli._core.tool import Tool
from murli._core.writer import writer
from tests.murli.core.conftest import Ran, Sketch, Terminal, flag, run, run_on


def roost(**root: Any) -> Sketch:
    flags = [
        flag("-r", "--region", enum=["north", "south"], default="north", persistent=True, profileable=True),
        flag("--token", sensitive=True, profileable=True, env="ROOST_TOKEN"),
        flag("--tag", multiple=True, profileable=True),
        flag("-v", "--verbose", arity=0, type="count", profileable=True),
        flag("--file"),
    ]
    listing = Sketch(
        "list", flags=[flag("--top", type="int", profileable=True, required=True)], arguments=[Argument(name="species")]
    )
    return Sketch(**{"flags": flags, "children": [listing], "summary": "Birds.", **root})


def never(_: list[str]) -> None:
    raise AssertionError("the tool ran although murli answers this command")


def call(*words: str, root: Command | None = None, stdin: bytes = b"") -> Ran:
    ran = run(root or roost(), never, *words, stdin=stdin)
    assert ran.calls == []
    return ran


def stored(tmp_path: Path) -> dict[str, dict[str, str]]:
    return ProfileStore.load(str(tmp_path / ".roost" / "profiles.json")).profiles


# describe


def test_describe_is_a_bare_document_with_the_whole_tree() -> None:
    document = call("describe").answer
    assert [command["name"] for command in document["commands"]] == ["list", "describe", "profile"]
    assert [command["name"] for command in document["commands"][-1]["subcommands"]] == [
        "save",
        "use",
        "list",
        "show",
        "delete",
    ]
    assert document["profiles"] == {"profileable_flags": ["region", "token", "tag", "verbose", "top"]}
    assert "status" not in document


def test_describe_tells_the_profiles_there_are() -> None:
    call("profile", "save", "home", "--region", "south")
    call("profile", "use", "home")
    assert call("describe").answer["profiles"]["available"] == ["home"]
    assert call("describe").answer["profiles"]["default"] == "home"


def test_describe_works_beside_a_damaged_profile_file(tmp_path: Path) -> None:
    (tmp_path / ".roost").mkdir()
    (tmp_path / ".roost" / "profiles.json").write_text("{", encoding="utf-8")
    assert "available" not in call("describe").answer["profiles"]
    assert call("profile", "list").error["error"] == "profile_error"


def test_a_tool_without_profileable_flags_gets_no_profile_command() -> None:
    document = call("describe", root=Sketch(children=[Sketch("list")])).answer
    assert [command["name"] for command in document["commands"]] == ["list", "describe"]
    assert call("profile", "list", root=Sketch(children=[Sketch("list")])).error["error"] == "unknown_command"


def test_a_command_of_the_tool_with_the_same_name_stays_the_tools() -> None:
    root = Sketch(children=[Sketch("describe", summary="Mine.")])
    assert run(root, lambda _: writer().success("x", "mine"), "describe").answer["result"] == "mine"
    assert [command.name for command in Tool(root, "").builtins()] == []


def test_describe_works_on_a_tool_that_is_one_command_with_a_required_argument() -> None:
    root = Sketch(arguments=[Argument(name="file", required=True)], flags=[flag("--kind", required=True)])
    assert call("describe", root=root).answer["root"]["arguments"][0]["name"] == "file"


@pytest.mark.parametrize("more", [{"required": True}, {"prompts": True}], ids=["required", "prompts"])
def test_describe_needs_none_of_the_flags_that_the_tool_needs(more: dict[str, Any]) -> None:
    root = Sketch(flags=[flag("--token", **more)], children=[Sketch("list")])
    assert call("describe", root=root).answer["name"] == "roost"


def test_describe_follows_the_output_flag_and_prints_json_for_people_too(terminal: Terminal) -> None:
    assert call("describe", "--output", "ndjson").stdout.count(b"\n") == 1
    code, seen = run_on(terminal, roost(), never, "describe")
    assert (code, json.loads(seen)["name"]) == (0, "roost")


def test_describe_can_be_a_page_for_a_repository() -> None:
    ran = call("describe", "--agents-md")
    assert ran.code == 0
    assert ran.stdout.startswith(b"# AGENTS.md\n")
    assert b"### profile save (changes state)" in ran.stdout


def test_structured_input_may_decline_the_page() -> None:
    assert call("describe", "--input", "-", stdin=b'{"agents_md": false}').answer["name"] == "roost"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["describe", "x"], "argument_error"),
        (["describe", "--nope"], "flag_error"),
        (["profile", "save"], "argument_error"),
    ],
)
def test_murlis_commands_refuse_what_they_do_not_take(words: list[str], kind: str) -> None:
    assert call(*words).error["error"] == kind


@pytest.mark.parametrize(
    "path",
    [["describe"], ["profile"], ["profile", "save"], ["profile", "use"], ["profile", "list"], ["profile", "delete"]],
)
def test_murlis_commands_have_a_schema_like_any_other(path: list[str]) -> None:
    schema = call(*path, "--schema").answer
    assert schema["name"] == path[-1]
    assert schema["summary"]


def test_profile_without_a_command_names_the_commands() -> None:
    error = call("profile").error
    assert (error["error"], error["valid_values"]) == ("missing_command", ["save", "use", "list", "show", "delete"])


# profile


def test_a_profile_is_saved_listed_shown_used_and_deleted(tmp_path: Path) -> None:
    assert call("profile", "save", "home", "--region", "south", "--tag", "a", "--tag", "b").answer["result"] == {
        "name": "home",
        "flags": {"region": "south", "tag": '["a", "b"]'},
    }
    assert call("profile", "list").answer["result"] == [{"name": "home", "default": False}]
    assert call("profile", "use", "home").answer["result"] == {"default": "home"}
    assert call("profile", "show", "home").answer["result"] == {
        "name": "home",
        "default": True,
        "flags": {"region": "south", "tag": '["a", "b"]'},
    }
    assert call("profile", "delete", "home", "--dry-run").answer["status"] == "plan"
    assert "home" in stored(tmp_path)
    assert call("profile", "delete", "home", "--yes").answer["result"] == {"deleted": "home"}
    assert call("profile", "list").answer["result"] == []
    assert ProfileStore.load(str(tmp_path / ".roost" / "profiles.json")).default == ""


def test_a_profile_keeps_flags_given_before_the_command_and_flags_of_any_command(tmp_path: Path) -> None:
    call("--region", "south", "profile", "save", "home", "--top", "3")
    assert stored(tmp_path) == {"home": {"region": "south", "top": "3"}}


def test_a_saved_profile_reaches_the_framework() -> None:
    call("profile", "save", "home", "--region", "south", "--top", "3")
    assert run(roost(), lambda _: None, "--profile", "home", "list").calls == [["--region=south", "list", "--top=3"]]
    call("profile", "use", "home")
    assert run(roost(), lambda _: None, "list", "--top", "9").calls == [["--region=south", "list", "--top", "9"]]


def test_a_count_is_saved_as_high_as_it_was_given() -> None:
    call("profile", "save", "loud", "-vvv")
    (words,) = run(roost(), lambda _: None, "--profile", "loud", "list").calls
    assert words.count("--verbose") == 3


def test_sensitive_values_are_never_shown(tmp_path: Path) -> None:
    ran = [
        call("profile", "save", "home", "--token", "s3cr3t-feather"),
        call("profile", "show", "home"),
        call("profile", "list"),
        call("describe"),
    ]
    assert all(b"s3cr3t-feather" not in one.stdout + one.stderr for one in ran)
    assert ran[1].answer["result"]["flags"] == {"token": "***"}
    assert stored(tmp_path)["home"]["token"] == "s3cr3t-feather"


def test_a_value_of_a_flag_that_the_tool_no_longer_knows_stays_hidden(tmp_path: Path) -> None:
    (tmp_path / ".roost").mkdir()
    (tmp_path / ".roost" / "profiles.json").write_text(
        '{"profiles": {"home": {"flags": {"old-token": "s3cr3t"}}}}', encoding="utf-8"
    )
    assert call("profile", "show", "home").answer["result"]["flags"] == {"old-token": "***"}


def test_a_secret_in_the_environment_is_not_saved_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOST_TOKEN", "s3cr3t-feather")
    call("profile", "save", "home", "--region", "south")
    assert stored(tmp_path) == {"home": {"region": "south"}}


def test_a_flag_that_prompts_need_not_be_saved() -> None:
    root = Sketch(
        children=[
            Sketch("list", flags=[flag("--token", prompts=True, profileable=True), flag("--top", profileable=True)])
        ]
    )
    assert call("profile", "save", "home", "--top", "3", root=root).answer["result"]["flags"] == {"top": "3"}


def test_saving_nothing_is_refused_with_what_could_be_saved() -> None:
    error = call("profile", "save", "home").error
    assert (error["error"], error["valid_values"]) == ("profile_error", ["region", "token", "tag", "verbose", "top"])
    assert call("--file", "x", "profile", "save", "home").error["error"] == "profile_error"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["home", "--region", "east"], "flag_error"),
        (["home", "--top", "three"], "flag_error"),
        (["../home", "--region", "south"], "invalid_input"),
        (["a\x1bb", "--region", "south"], "invalid_input"),
        (["x" * 300, "--region", "south"], "invalid_input"),
        (["home", "--region"], "flag_error"),
        (["home", "more", "--region", "south"], "argument_error"),
        (["home", "--file", "x"], "flag_error"),
    ],
)
def test_a_profile_that_could_never_work_is_not_saved(tmp_path: Path, words: list[str], kind: str) -> None:
    assert call("profile", "save", *words).error["error"] == kind
    assert not (tmp_path / ".roost").exists()


def test_a_profile_with_other_values_is_replaced_only_when_confirmed(tmp_path: Path) -> None:
    call("profile", "save", "home", "--region", "south")
    assert call("profile", "save", "home", "--region", "south").code == 0
    error = call("profile", "save", "home", "--region", "north").error
    assert (error["code"], error["error"], error["field"]) == (7, "conflict", "name")
    assert stored(tmp_path)["home"]["region"] == "south"
    assert call("profile", "save", "home", "--region", "north", "--yes").code == 0
    assert stored(tmp_path)["home"]["region"] == "north"


def test_deleting_a_profile_is_guarded(tmp_path: Path) -> None:
    call("profile", "save", "home", "--region", "south")
    assert call("profile", "delete", "home").error["error"] == "confirmation_required"
    assert "home" in stored(tmp_path)


@pytest.mark.parametrize(
    "words", [["use", "nope"], ["show", "nope"], ["delete", "nope", "--yes"], ["delete", "nope", "--dry-run"]]
)
def test_a_profile_that_is_not_there_is_not_found(words: list[str]) -> None:
    call("profile", "save", "home", "--region", "south")
    error = call("profile", *words).error
    assert (error["code"], error["error"], error["valid_values"]) == (5, "not_found", ["home"])


def test_the_default_can_be_taken_back(tmp_path: Path) -> None:
    call("profile", "save", "home", "--region", "south")
    call("profile", "use", "home")
    assert call("profile", "use", "--clear").answer["result"] == {"default": None}
    assert ProfileStore.load(str(tmp_path / ".roost" / "profiles.json")).default == ""


@pytest.mark.parametrize("words", [["use"], ["use", "home", "--clear"]])
def test_use_takes_a_name_or_clear_and_not_both(words: list[str]) -> None:
    call("profile", "save", "home", "--region", "south")
    assert call("profile", *words).error["error"] == "argument_error"


@pytest.mark.parametrize(
    ("words", "document", "result"),
    [
        (["save"], {"name": "away", "region": "north"}, {"name": "away", "flags": {"region": "north"}}),
        (["use"], {"name": "home"}, {"default": "home"}),
        (["use"], {"name": "home", "clear": False}, {"default": "home"}),
        (["use"], {"clear": True}, {"default": None}),
        (["show"], {"name": "home"}, {"name": "home", "default": False, "flags": {"region": "south"}}),
        (["delete", "--yes"], {"name": "home"}, {"deleted": "home"}),
    ],
)
def test_murlis_commands_take_structured_input_like_any_other(
    words: list[str], document: dict[str, Any], result: dict[str, Any]
) -> None:
    call("profile", "save", "home", "--region", "south")
    assert call("profile", *words, "--input", "-", stdin=json.dumps(document).encode()).answer["result"] == result


def test_people_read_sentences(terminal: Terminal) -> None:
    assert run_on(terminal, roost(), never, "profile", "list") == (
        0,
        "No profiles yet. Make one with: roost profile save NAME --flag value\n",
    )


def test_people_read_what_a_profile_holds(terminal: Terminal) -> None:
    call("profile", "save", "home", "--region", "south", "--token", "s3cr3t-feather")
    assert run_on(terminal, roost(), never, "profile", "show", "home") == (0, "region = south\ntoken = ***\n")


# doctor


def test_doctor_is_there_during_development_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("doctor").error["error"] == "unknown_command"
    monkeypatch.setenv("MURLI_DEV", "1")
    answer = call("doctor").answer
    assert answer["status"] == "ok"
    assert {check["name"] for check in answer["result"]["checks"]} >= {"schema_version", "command_metadata"}
    assert "doctor" in [command["name"] for command in call("describe").answer["commands"]]


def test_naming_advice_is_for_people_during_development_only(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Sketch(children=[Sketch("rm", summary="Remove.")])
    monkeypatch.setenv("MURLI_DEV", "1")
    assert run(root, lambda _: writer().success("done"), "rm").stderr == b""
    code, seen = run_on(terminal, root, lambda _: writer().success("done"), "rm")
    assert (code, seen) == (0, '[murli advisory] command "rm": prefer "delete" (conventional vocabulary)\ndone\n')


# The tool


def test_profileable_flags_are_collected_over_the_whole_tree_by_name() -> None:
    root = Sketch(
        flags=[flag("--region", profileable=True)],
        children=[
            Sketch("a", flags=[flag("--top", profileable=True), flag("--other")]),
            Sketch(
                "b", children=[Sketch("c", flags=[flag("--top", profileable=True), flag("--deep", profileable=True)])]
            ),
        ],
    )
    assert [known.name for known in Tool(root, "").profileable()] == ["region", "top", "deep"]


def test_profiles_are_kept_in_a_hidden_folder_of_home(tmp_path: Path) -> None:
    assert Tool(Sketch("roost"), "").profile_path == str(tmp_path / ".roost" / "profiles.json")


def test_the_names_of_commands_include_murlis_at_the_root_only() -> None:
    tool = Tool(roost(children=[Sketch("nest", children=[Sketch("list")]), Sketch("ghost", hidden=True)]), "")
    assert tool.names(tool.root) == ["nest", "describe", "profile"]
    assert tool.names(tool.root.children[0]) == ["list"]


def test_the_schema_of_saving_lists_every_profileable_flag_as_optional() -> None:
    save = Tool(roost(), "").builtins()[-1].children[0]
    flags = {known["name"]: known for known in command_schema(save)["flags"]}
    assert {"region", "token", "tag", "top"} <= set(flags)
    assert not any(known.get("required") for known in flags.values())
    assert flags["region"]["default"] is None
    assert (save.metadata.mutating, save.metadata.guard) == (True, False)
