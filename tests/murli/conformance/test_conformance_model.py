"""Reading a describe document: the whole of it, and without falling over a wrong shape."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from murli.conformance.arguments import synthesise
from murli.conformance.model import Example, read, split_example, walk

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "list", "int", "--all", "shelf list --yes"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "type",
                    "flags",
                    "arguments",
                    "subcommands",
                    "safety",
                    "examples",
                    "command",
                    "enum",
                    "required",
                    "guarded",
                    "read_only",
                ]
            ),
            children,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    commands=ANYTHING,
    global_flags=ANYTHING,
    profiles=ANYTHING,
    root=st.dictionaries(st.sampled_from(["flags", "arguments"]), ANYTHING),
)
def test_no_shape_of_describe_stops_the_kit(
    commands: object, global_flags: object, profiles: object, root: dict[str, object]
) -> None:
    document = {"commands": commands, "global_flags": global_flags, "profiles": profiles, "capabilities": profiles}
    found = read(document, root)
    assert all(all(command.path) for command in found.commands)
    assert isinstance(found.profileable, tuple)
    for command in found.leaves:
        synthesise(command)


def test_commands_come_parents_first_in_the_order_of_describe() -> None:
    document = {
        "commands": [{"name": "a", "subcommands": [{"name": "b", "subcommands": [{"name": "c"}]}]}, {"name": "d"}]
    }
    assert [path for path, _ in walk(document)] == [("a",), ("a", "b"), ("a", "b", "c"), ("d",)]


def test_a_command_inherits_the_flags_of_the_root_and_of_its_parents_at_their_depth() -> None:
    document = {
        "global_flags": [{"name": "region"}, {"name": "output"}],
        "commands": [
            {
                "name": "remote",
                "flags": [{"name": "host"}],
                "subcommands": [{"name": "push", "flags": [{"name": "region"}]}, {"name": "pull"}],
            }
        ],
    }
    found = read(document, {"flags": [{"name": "token", "sensitive": True}]})
    pull, push = found.find("remote", "pull"), found.find("remote", "push")
    assert pull is not None
    assert push is not None
    assert [(flag.name, flag.depth) for flag in pull.every_flag] == [("region", 0), ("token", 0), ("host", 1)]
    assert [(flag.name, flag.depth) for flag in push.every_flag] == [("token", 0), ("host", 1), ("region", 2)]


def test_a_tool_of_the_go_original_guards_whatever_mutates() -> None:
    found = read(
        {"commands": [{"name": "delete", "mutating": True, "safety": {"read_only": False}}, {"name": "list"}]}, {}
    )
    assert [command.guarded for command in found.commands] == [True, False]


def test_a_tool_that_knows_the_guarded_key_guards_only_what_it_says() -> None:
    listed = [
        {"name": "delete", "mutating": True, "safety": {"guarded": True}},
        {"name": "add", "mutating": True, "safety": {"read_only": False}},
    ]
    assert [command.guarded for command in read({"commands": listed}, {}).commands] == [True, False]
    assert [command.guarded for command in read({"commands": listed[1:], "global_flags": []}, {}).commands] == [False]


def test_an_example_is_the_words_behind_the_name_of_the_tool() -> None:
    assert split_example({"command": "shelf add 'Moby Dick'", "expected_exit_code": 7}) == Example(
        "shelf add 'Moby Dick'", ("add", "Moby Dick"), 7
    )


def test_an_example_that_needs_a_shell_is_not_run() -> None:
    for command in (
        "shelf list | head",
        "shelf list > books.json",
        "TOKEN=x shelf list",
        "shelf 'list",
        "",
        "shelf add $(date)",
    ):
        assert split_example({"command": command}).problem
