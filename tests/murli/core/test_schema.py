"""What a tool tells about itself."""

from __future__ import annotations

import enum
import json
import math
from pathlib import Path
from typing import Any

import pytest

from murli._core.command import Argument
from murli._core.metadata import Example, Metadata, ReturnSchema
from murli._core.schema import agents_md, argument_schema, command_schema, describe, flag_schema, global_flags, safety
from murli._core.wire import encode
from tests.murli.core.conftest import Sketch, flag, golden


class Hue(enum.Enum):
    RED = "red"


def add() -> Sketch:
    """A command with everything a schema can hold."""
    return Sketch(
        "add",
        summary='Add a bird <&> "größe".',
        metadata=Metadata(
            when_to_use="When a bird is new.",
            agent_description="Adds one bird.",
            idempotent=True,
            mutating=True,
            destructive=True,
            dry_runnable=True,
            returns=ReturnSchema(
                type="object", description="The bird", shape={"id": "string"}, output_schema={"type": "object"}
            ),
            examples=[
                Example(command="roost add Hoot --species owl", description="An owl"),
                Example(command="roost add", expected_exit_code=1),
            ],
        ),
        arguments=[
            Argument(name="name", required=True, description="Its name."),
            Argument(name="kind", type="path", multiple=True, enum=["a", "b"]),
        ],
        flags=[
            flag("-s", "--species", required=True, enum=["owl", "wren"], description="Its species."),
            flag(
                "--count", type="int", default=1, pattern="^[1-9]", env="ROOST_COUNT", profileable=True, persistent=True
            ),
            flag("--token", sensitive=True, default="s3cr3t"),
            flag("--tag", multiple=True, default=[], mutually_exclusive_with=["bare"]),
            flag("--loud", arity=0, negative="--no-loud"),
            flag("-x", default=None),
            flag("--ghost", hidden=True),
        ],
    )


def roost() -> Sketch:
    return Sketch(
        summary="Keep a list of birds.",
        flags=[
            flag(
                "-r",
                "--region",
                enum=["north", "south"],
                default="north",
                persistent=True,
                profileable=True,
                description="Region.",
            )
        ],
        children=[
            add(),
            Sketch(
                "nest", summary="Nests.", children=[Sketch("list", summary="List them."), Sketch("secret", hidden=True)]
            ),
            Sketch("ghost", hidden=True),
        ],
    )


def test_the_schema_of_a_command_is_the_one_of_the_contract() -> None:
    assert encode(command_schema(add())) == golden("schema.json")


def test_the_schema_of_a_group_names_its_commands_only() -> None:
    assert encode(command_schema(roost())) == golden("schema_group.json")


def test_the_description_of_a_tool_is_the_one_of_the_contract() -> None:
    profiles = {"available": ["home"], "default": "home", "profileable_flags": ["region"]}
    assert encode(describe(roost(), roost().children, profiles, "1.2.3")) == golden("describe.json")


def test_a_tool_without_version_and_profiles_says_nothing_of_them() -> None:
    document = describe(roost(), roost().children, None)
    assert "tool_version" not in document
    assert "profiles" not in document
    assert "tool_version" not in document["capabilities"]
    assert document["capabilities"]["profiles"] is False
    assert "profile" not in [known["name"] for known in document["global_flags"]]


def test_a_tool_that_runs_without_a_command_describes_itself_as_one() -> None:
    single = Sketch(summary="Greet.", arguments=[Argument(name="who", required=True)], metadata=Metadata(mutating=True))
    document = describe(single, [], None)
    assert document["root"] == command_schema(single)
    assert document["commands"] == []
    assert "root" not in describe(roost(), [], None)


def test_hidden_commands_and_flags_are_not_told_about() -> None:
    text = encode(describe(roost(), roost().children, None)).decode()
    assert "ghost" not in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (Metadata(), {"read_only": True, "idempotent": False}),
        (Metadata(idempotent=True), {"read_only": True, "idempotent": True}),
        (Metadata(mutating=True), {"read_only": False, "idempotent": False, "guarded": True}),
        (Metadata(mutating=True, guard=False), {"read_only": False, "idempotent": False, "guarded": False}),
        (
            Metadata(mutating=True, destructive=True, dry_runnable=True),
            {"read_only": False, "idempotent": False, "destructive": True, "dry_run_supported": True, "guarded": True},
        ),
    ],
)
def test_the_safety_block_tells_the_truth(metadata: Metadata, expected: dict[str, bool]) -> None:
    assert list(safety(metadata).items()) == list(expected.items())


@pytest.mark.parametrize(
    ("metadata", "added"),
    [
        (Metadata(), []),
        (Metadata(mutating=True), ["yes", "force"]),
        (Metadata(dry_runnable=True), ["dry-run"]),
        (Metadata(mutating=True, guard=False, dry_runnable=True), ["yes", "force", "dry-run"]),
    ],
)
def test_the_flags_of_the_guard_are_listed_where_they_work(metadata: Metadata, added: list[str]) -> None:
    assert [known["name"] for known in command_schema(Sketch(metadata=metadata)).get("flags", [])] == added


def test_a_flag_of_the_tool_is_listed_once() -> None:
    command = Sketch(metadata=Metadata(mutating=True), flags=[flag("--force", arity=0, description="Mine.")])
    assert [
        (known["name"], known["description"]) for known in command_schema(command)["flags"] if known["name"] == "force"
    ] == [("force", "Mine.")]


@pytest.mark.parametrize(
    ("default", "told"),
    [
        (None, None),
        (False, False),
        (0, 0),
        (1.5, 1.5),
        ("", ""),
        ("größe", "größe"),
        ([], []),
        (("a", 1), ["a", 1]),
        (Path("x/y"), "x/y"),
        (Hue.RED, "red"),
        ([Hue.RED, Path("z")], ["red", "z"]),
        ({"a": 1}, "{'a': 1}"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        ([math.inf], ["inf"]),
    ],
)
def test_every_default_has_a_json_form(default: Any, told: object) -> None:
    schema = flag_schema(flag("--x", default=default))
    assert json.loads(encode(schema))["default"] == told


@pytest.mark.parametrize("default", ["s3cr3t", ["s3cr3t"], 5])
def test_the_default_of_a_sensitive_flag_is_null(default: Any) -> None:
    assert flag_schema(flag("--token", sensitive=True, default=default))["default"] is None


def test_a_plain_flag_or_argument_is_four_keys() -> None:
    assert list(flag_schema(flag("--x"))) == ["name", "type", "default", "description"]
    assert list(argument_schema(Argument(name="x"))) == ["name", "type", "required", "description"]


def test_global_flags_are_those_of_the_root_and_those_of_murli() -> None:
    names = [known["name"] for known in global_flags(roost(), with_profiles=True)]
    assert names == [
        "region",
        "agent",
        "output",
        "schema",
        "input",
        "fields",
        "limit",
        "profile",
        "protocol-version",
        "debug",
    ]


def test_a_global_flag_of_the_tool_replaces_murlis() -> None:
    known = global_flags(Sketch(flags=[flag("--output", type="path", description="Mine.")]), with_profiles=False)
    assert [entry["description"] for entry in known if entry["name"] == "output"] == ["Mine."]


def test_the_page_for_a_repository_shows_every_command_with_its_marks_and_examples() -> None:
    page = agents_md(describe(roost(), roost().children, None))
    assert page.startswith("# AGENTS.md\n")
    assert "## Tool: roost\n\nKeep a list of birds.\n" in page
    assert (
        "### add (changes state, destructive, needs --yes, has --dry-run)\n\nAdds one bird.\n\nWhen a bird is new.\n"
        in page
    )
    assert "```bash\nroost add Hoot --species owl\nroost add\nroost add --schema\n```" in page
    assert "### nest list\n" in page
    assert "ghost" not in page
    assert page.endswith("```\n")


def test_the_page_of_a_tool_without_a_summary_has_no_hole() -> None:
    assert "\n\n\n" not in agents_md(describe(Sketch(children=[Sketch("list")]), [Sketch("list")], None))
