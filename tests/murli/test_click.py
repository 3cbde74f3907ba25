"""murli on click: what this framework alone can declare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from murli import FlagAnnotation, Metadata, annotated, writer
from murli.click import describe, execute, schema


def answer(command: click.Command, line: str, capsys: pytest.CaptureFixture[str]) -> Any:
    code = execute(command, argv=line.split(), name="tool")
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return json.loads(captured.out)["result"]


def refusal(command: click.Command, line: str, capsys: pytest.CaptureFixture[str]) -> Any:
    code = execute(command, argv=line.split(), name="tool")
    captured = capsys.readouterr()
    assert captured.out == ""
    error = json.loads(captured.err)
    assert error["code"] == code
    return error


@click.command()
@click.argument("file", type=click.Path())
@click.option("--level", type=click.IntRange(1, 9), default=3)
@click.option("--mode", type=click.Choice(["Fast", "slow"], case_sensitive=False))
@click.option("--size", nargs=2, type=float)
@click.option("--name", "-n", multiple=True)
@click.option("--key", envvar="TOOL_KEY", hide_input=True)
@click.option("-v", "verbose", count=True)
@click.option("--secret-flag", hidden=True)
def flat(**values: Any) -> None:
    """Do one thing.

    More about it.
    """
    writer().success("", values)


def test_a_single_command_runs_and_describes_itself_as_root(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(flat, "-vv a.txt --size 1 2 -n x -n y", capsys) == {
        "file": "a.txt",
        "level": 3,
        "mode": None,
        "size": [1.0, 2.0],
        "name": ["x", "y"],
        "key": None,
        "verbose": 2,
        "secret_flag": None,
    }
    document = describe(flat, name="tool")
    assert document["summary"] == "Do one thing."
    flags = {flag["name"]: flag for flag in document["root"]["flags"]}
    assert {name: flag["type"] for name, flag in flags.items()} == {
        "level": "int",
        "mode": "string",
        "size": "float",
        "name": "string",
        "key": "string",
        "v": "count",
    }
    assert flags["mode"]["enum"] == ["Fast", "slow"]
    assert flags["key"] == {
        "name": "key",
        "type": "string",
        "default": None,
        "description": "",
        "env": "TOOL_KEY",
        "sensitive": True,
    }


def test_click_decides_what_is_wrong_and_murli_only_words_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(flat, "a.txt --mode FAST --fields mode", capsys) == {"mode": "Fast"}
    error = refusal(flat, "a.txt --level 12", capsys)
    assert error["error"] == "flag_error"
    assert "12" in error["message"]


def test_a_value_that_looks_like_a_flag_is_clicks_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(flat, "a.txt --name --agent --fields name", capsys) == {"name": ["--agent"]}


def test_click_reads_its_own_environment_variables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_KEY", "from-environment")
    assert answer(flat, "a.txt --fields key", capsys) == {"key": "from-environment"}


def test_structured_input_reaches_every_kind_of_option(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = {"file": "-odd", "level": 5, "size": [1, 2], "name": ["--x", "y"], "v": 3, "mode": None}
    (tmp_path / "in.json").write_text(json.dumps(document))
    result = answer(flat, f"--input @{tmp_path}/in.json", capsys)
    assert (result["file"], result["level"], result["size"], result["name"], result["verbose"]) == (
        "-odd",
        5,
        [1.0, 2.0],
        ["--x", "y"],
        3,
    )


@click.group(invoke_without_command=True)
@click.pass_context
def group(ctx: click.Context) -> None:
    """A group that also does something alone."""
    if ctx.invoked_subcommand is None:
        writer().success("", "alone")


@group.command(hidden=True)
def quiet() -> None:
    writer().success("", "quiet")


@group.command()
@click.option("--who", prompt=True)
@click.option("--password", prompt=True, hide_input=True, default="")
def ask(who: str, password: str) -> None:
    """Ask for things."""
    writer().success("", [who, bool(password)])


@group.command()
@click.confirmation_option(prompt="Sure?")
def confirmed() -> None:
    """Ask first."""
    writer().success("", "went ahead")


@group.command()
@click.argument("how")
@click.pass_context
def leave(ctx: click.Context, how: str) -> None:
    """Leave in some way."""
    if how == "fail":
        ctx.fail("that will not do")
    if how == "bad":
        raise click.BadParameter("not like this", param_hint="--how")
    if how == "click":
        raise click.ClickException("something is off")
    if how == "abort":
        ctx.abort()
    if how == "pipe":
        raise BrokenPipeError("somebody else's pipe")
    ctx.exit(int(how))


@group.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def wrap(words: tuple[str, ...]) -> None:
    """Run something else."""
    writer().success("", list(words))


def test_a_group_may_answer_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(group, "", capsys) == "alone"
    assert "root" in describe(group, name="tool")


def test_a_hidden_command_works_and_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(group, "quiet", capsys) == "quiet"
    names = [command["name"] for command in describe(group, name="tool")["commands"]]
    assert names == ["ask", "confirmed", "leave", "wrap", "describe"]
    assert refusal(group, "quite", capsys)["valid_values"] == names


def test_an_agent_is_never_prompted(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(group, "ask", capsys)["message"] == "missing flag --who"
    assert answer(group, "ask --who me --password pw", capsys) == ["me", True]
    assert refusal(group, "confirmed", capsys)["message"] == "missing flag --yes"
    assert answer(group, "confirmed --yes", capsys) == "went ahead"


@pytest.mark.parametrize(
    ("how", "code", "kind", "message"),
    [
        ("fail", 1, "flag_error", "that will not do"),
        ("bad", 1, "flag_error", "Invalid value for --how: not like this"),
        ("click", 1, "user_error", "something is off"),
        ("abort", 9, "cancelled", "The operation was cancelled."),
        ("pipe", 2, "internal_error", "BrokenPipeError: somebody else's pipe"),
        ("6", 6, "permission_denied", "the command ended with status 6"),
        ("42", 2, "tool_error", "the command ended with status 42"),
    ],
)
def test_every_way_to_leave_a_click_command_has_its_envelope(
    how: str, code: int, kind: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refusal(group, f"leave {how}", capsys)
    assert (error["code"], error["error"], error["message"]) == (code, kind, message)


def test_leaving_with_zero_is_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(group, "leave 0", capsys) is None


def test_flags_of_a_wrapped_command_are_not_murlis(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(group, "wrap ls --output x --agent", capsys) == ["ls", "--output", "x", "--agent"]


def test_a_chain_of_commands_is_refused_because_it_cannot_be_guarded() -> None:
    with pytest.raises(TypeError, match="chain"):
        execute(click.Group("chain", chain=True), argv=[], name="tool")


def test_metadata_can_sit_on_the_function_or_on_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    @click.option("--zone")
    @annotated(Metadata(when_to_use="now", flag_annotations={"zone": FlagAnnotation(pattern="^z")}))
    def one(zone: str | None) -> None:
        writer().success("", zone)

    assert schema(one)["when_to_use"] == "now"
    assert refusal(one, "--zone a", capsys)["message"] == "invalid value 'a' for --zone: expected text that matches ^z"


def test_commands_made_on_demand_are_found_and_described(capsys: pytest.CaptureFixture[str]) -> None:
    class OnDemand(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
            return ["one", "two"]

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
            if cmd_name not in ("one", "two"):
                return None
            return click.Command(cmd_name, callback=lambda: writer().success("", cmd_name), help=f"Do {cmd_name}.")

    lazy = OnDemand("lazy")
    assert answer(lazy, "two", capsys) == "two"
    assert [command["summary"] for command in describe(lazy, name="tool")["commands"][:2]] == ["Do one.", "Do two."]


def test_the_version_of_a_group_needs_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    @click.group()
    @click.version_option("4.2", prog_name="tool")
    def versioned() -> None:
        """A group."""

    assert answer(versioned, "--version", capsys) == "tool, version 4.2"


def test_shell_completion_is_left_to_click(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_TOOL_COMPLETE", "bash_source")
    with pytest.raises(SystemExit):
        execute(group, argv=[], name="tool")
    assert "COMP_WORDS" in capsys.readouterr().out
