"""Reading a command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from murli._core.command import Argument, Command, Flag
from murli._core.metadata import Metadata
from murli._core.route import OWN_FLAGS, Invocation, Level, is_flag, offers, read
from tests.murli.core.conftest import Sketch, flag, read_line

DASHED: dict[str, Any] = {"takes_dashed_values": True}
"""As click reads: the word after a flag is its value, whatever it looks like."""
STRICT: dict[str, Any] = {"takes_dashed_values": False, "abbreviates": True, "help_options": ("-h", "--help")}
"""As argparse reads: a word that looks like a flag is one, and long flags may be shortened."""

both = pytest.mark.parametrize("framework", [DASHED, STRICT], ids=["dashed", "strict"])


def roost(framework: dict[str, Any] = DASHED) -> Sketch:
    """A tool with a bit of everything."""
    return Sketch(
        **framework,
        flags=[flag("-r", "--region", persistent=True), flag("--file"), flag("-v", "--verbose", arity=0)],
        children=[
            Sketch(
                "list",
                **framework,
                flags=[
                    flag("-t", "--top", type="int"),
                    flag("-a", "--all", arity=0),
                    flag("-b", "--brief", arity=0),
                    flag("--loud", arity=0, negative="--no-loud"),
                    flag("--colour", arity="?"),
                    flag("--tags", arity="*", multiple=True),
                    flag("--pair", arity=2, multiple=True),
                ],
                arguments=[Argument(name="species", multiple=True)],
            ),
            Sketch(
                "delete",
                **framework,
                metadata=Metadata(mutating=True, dry_runnable=True),
                arguments=[Argument(name="id", required=True)],
            ),
            Sketch(
                "exec",
                **framework,
                passthrough=True,
                flags=[flag("-a", "--all", arity=0)],
                arguments=[Argument(name="words", multiple=True)],
            ),
            Sketch(
                "nest",
                **framework,
                children=[Sketch("list", **framework, flags=[flag("--top")]), Sketch("clear", **framework)],
            ),
        ],
    )


def given_of(invocation: Invocation) -> dict[str, list[str]]:
    return invocation.leaf.given


# What belongs to whom


def test_the_command_is_found_through_the_groups_above_it() -> None:
    invocation = read_line(roost(), "--file", "x", "nest", "list", "--top", "3")
    assert [level.command.name for level in invocation.levels] == ["roost", "nest", "list"]
    assert invocation.path == "roost nest list"
    assert [level.given for level in invocation.levels] == [{"file": ["x"]}, {}, {"top": ["3"]}]


def test_the_value_of_a_flag_is_never_taken_for_a_command() -> None:
    invocation = read_line(roost(), "--file", "delete", "list", "delete")
    assert invocation.path == "roost list"
    assert (invocation.levels[0].given, invocation.leaf.positionals) == ({"file": ["delete"]}, ["delete"])


def test_a_flag_given_twice_keeps_both_values_in_order() -> None:
    assert given_of(read_line(roost(), "list", "--top", "1", "-t", "2")) == {"top": ["1", "2"]}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--top=5"], {"top": ["5"]}),
        (["--top="], {"top": [""]}),
        (["--top=a=b"], {"top": ["a=b"]}),
        (["--top", "5"], {"top": ["5"]}),
        (["--top", "-"], {"top": ["-"]}),
        (["--top", "-5"], {"top": ["-5"]}),
        (["--top", "-1.5e3"], {"top": ["-1.5e3"]}),
        (["--top", ""], {"top": [""]}),
        (["-t", "5"], {"top": ["5"]}),
        (["-t5"], {"top": ["5"]}),
        (["-at5"], {"all": ["true"], "top": ["5"]}),
        (["-at", "5"], {"all": ["true"], "top": ["5"]}),
        (["-ab"], {"all": ["true"], "brief": ["true"]}),
        (["-aa"], {"all": ["true", "true"]}),
        (["-ta"], {"top": ["a"]}),
        (["--loud"], {"loud": ["true"]}),
        (["--no-loud"], {"loud": ["false"]}),
        (["--colour"], {"colour": []}),
        (["--colour", "red"], {"colour": ["red"]}),
        (["--colour=red", "x"], {"colour": ["red"]}),
        (["--colour", "--all"], {"colour": [], "all": ["true"]}),
        (["--tags", "a", "b", "--all"], {"tags": ["a", "b"], "all": ["true"]}),
        (["--tags"], {"tags": []}),
        (["--pair", "1", "2", "x"], {"pair": ["1", "2"]}),
        (["--pair", "-1", "-2"], {"pair": ["-1", "-2"]}),
    ],
)
@both
def test_values_are_read_as_the_framework_will_read_them(
    framework: dict[str, Any], words: list[str], expected: dict[str, list[str]]
) -> None:
    invocation = read_line(roost(framework), "list", *words)
    assert given_of(invocation) == expected
    assert invocation.leaf.unknown == []
    assert invocation.argv() == ["list", *words]


def test_a_framework_that_takes_dashed_values_takes_the_next_word_whatever_it_looks_like() -> None:
    invocation = read_line(roost(DASHED), "list", "--top", "--all", "--pair", "-a", "--agent", "x")
    assert given_of(invocation) == {"top": ["--all"], "pair": ["-a", "--agent"]}
    assert (invocation.leaf.positionals, invocation.own) == (["x"], {})


def test_a_framework_that_takes_dashed_values_takes_a_double_dash_too() -> None:
    invocation = read_line(roost(DASHED), "--file", "--", "delete", "7")
    assert invocation.path == "roost delete"
    assert (invocation.levels[0].given, invocation.leaf.positionals) == ({"file": ["--"]}, ["7"])
    assert invocation.argv() == ["--file", "--", "delete", "7"]


def test_a_strict_framework_does_not_take_a_flag_for_a_value() -> None:
    invocation = read_line(roost(STRICT), "list", "--top", "--all")
    assert given_of(invocation) == {"top": [], "all": ["true"]}
    assert [missing.name for missing in invocation.leaf.dangling] == ["top"]


@pytest.mark.parametrize("words", [["--top"], ["--pair", "1"], ["-at"], ["--pair"]])
@both
def test_a_flag_at_the_end_that_lacks_its_value_is_remembered(framework: dict[str, Any], words: list[str]) -> None:
    invocation = read_line(roost(framework), "list", *words)
    assert len(invocation.leaf.dangling) == 1
    assert invocation.argv() == ["list", *words]


@pytest.mark.parametrize(
    ("word", "expected"), [("--to=5", {"top": ["5"]}), ("--al", {"all": ["true"]}), ("--p", {"pair": ["1", "2"]})]
)
def test_an_abbreviation_is_read_as_the_flag_it_means(word: str, expected: dict[str, list[str]]) -> None:
    tail = ["1", "2"] if word == "--p" else []
    invocation = read_line(roost(STRICT), "list", word, *tail)
    assert given_of(invocation) == expected
    assert invocation.argv() == ["list", word, *tail]


def test_an_abbreviated_negative_means_false() -> None:
    assert given_of(read_line(roost(STRICT), "list", "--no-l")) == {"loud": ["false"]}


def test_an_abbreviation_that_fits_two_flags_or_a_framework_without_any_is_unknown() -> None:
    assert read_line(roost(STRICT), "list", "--t").leaf.unknown == ["--t"]
    assert read_line(roost(DASHED), "list", "--al").leaf.unknown == ["--al"]


@pytest.mark.parametrize("word", ["--nope", "--nope=1", "-x", "-ax", "-xa"])
@both
def test_an_unknown_flag_is_left_to_the_framework_and_remembered(framework: dict[str, Any], word: str) -> None:
    invocation = read_line(roost(framework), "list", word, "y")
    assert invocation.leaf.unknown == [word.partition("=")[0]]
    assert invocation.argv() == ["list", word, "y"]
    assert invocation.leaf.positionals == ["y"]


@both
def test_a_lone_dash_is_a_value_and_never_a_flag(framework: dict[str, Any]) -> None:
    invocation = read_line(roost(framework), "list", "-")
    assert (invocation.leaf.positionals, invocation.leaf.unknown) == (["-"], [])


@pytest.mark.parametrize(
    ("word", "flag_like"),
    [
        ("-", False),
        ("", False),
        ("x", False),
        ("-5", False),
        ("-1.5", False),
        ("-.5", False),
        ("-1e-9", False),
        ("--", True),
        ("-x", True),
        ("--x", True),
        ("-5x", True),
        ("--5", True),
        ("-e5", True),
    ],
)
def test_a_flag_is_a_dash_and_more_but_no_negative_number(word: str, flag_like: bool) -> None:  # noqa: FBT001
    assert is_flag(word) is flag_like


@pytest.mark.parametrize("word", ["-inf", "-nan", "-infinity"])
def test_letters_are_flags_even_if_python_reads_them_as_a_number(word: str) -> None:
    assert is_flag(word)


@both
def test_a_flag_that_is_a_digit_is_a_flag_of_the_tool(framework: dict[str, Any]) -> None:
    root = Sketch(**framework, flags=[flag("-1", arity=0)], children=[Sketch("list", **framework)])
    invocation = read_line(root, "-1", "list")
    assert (invocation.path, invocation.levels[0].given) == ("roost list", {"1": ["true"]})


# The double dash


@pytest.mark.parametrize("tail", [["--agent"], ["--yes", "--", "--output", "json"], ["delete"], []])
@both
def test_words_after_a_double_dash_are_values_and_stay_where_they_are(
    framework: dict[str, Any], tail: list[str]
) -> None:
    invocation = read_line(roost(framework), "delete", "--dry-run", "7", "--", *tail)
    assert invocation.argv() == ["delete", "7", "--", *tail]
    assert invocation.leaf.positionals == ["7", *tail]
    assert set(invocation.own) == {"--dry-run"}


# murli's own flags


@both
def test_murlis_flags_are_taken_out_wherever_they_stand(framework: dict[str, Any]) -> None:
    invocation = read_line(
        roost(framework),
        "--agent",
        "--file",
        "x",
        "--output",
        "ndjson",
        "delete",
        "--limit=5",
        "7",
        "--yes",
        "--fields",
        "a,b.c",
        "--dry-run",
    )
    assert invocation.argv() == ["--file", "x", "delete", "7"]
    assert invocation.own == {
        "--agent": "",
        "--output": "ndjson",
        "--limit": "5",
        "--yes": "",
        "--fields": "a,b.c",
        "--dry-run": "",
    }
    assert (invocation.agent, invocation.forced, invocation.dry_run, invocation.problem) == (True, True, True, None)


def test_the_last_of_two_values_counts() -> None:
    assert read_line(roost(), "list", "--output", "json", "--output=text").own == {"--output": "text"}


@pytest.mark.parametrize("value", ["-", "@file", "@-x"])
def test_structured_input_may_come_from_standard_input_or_a_file(value: str) -> None:
    assert read_line(roost(), "list", "--input", value).own == {"--input": value}


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--limit"], "needs a value"),
        (["--limit", "--agent"], "needs a value"),
        (["--limit", "--", "5"], "needs a value"),
    ],
)
def test_an_own_flag_without_its_value_is_a_problem(words: list[str], wrong: str) -> None:
    invocation = read_line(roost(), "list", *words)
    assert invocation.problem is not None
    assert wrong in invocation.problem.message
    assert (invocation.problem.error, invocation.problem.field) == ("flag_error", "limit")


@pytest.mark.parametrize("word", ["--agent=yes", "--yes=false", "--dry-run=", "--schema=1"])
def test_an_own_switch_with_a_value_is_a_problem(word: str) -> None:
    invocation = read_line(roost(), "delete", "7", word)
    assert invocation.problem is not None
    assert "takes no value" in invocation.problem.message


def test_only_the_first_problem_is_told() -> None:
    problem = read_line(roost(), "list", "--agent=1", "--limit").problem
    assert problem is not None
    assert problem.field == "agent"


@pytest.mark.parametrize("option", ["--yes", "--force", "--dry-run"])
def test_the_flags_of_the_guard_are_unknown_where_there_is_nothing_to_guard(option: str) -> None:
    invocation = read_line(roost(), "list", option)
    assert (invocation.own, invocation.leaf.unknown) == ({}, [option])
    assert invocation.argv() == ["list", option]


def test_murlis_flags_are_not_abbreviated() -> None:
    assert read_line(roost(STRICT), "list", "--agen").leaf.unknown == ["--agen"]


@pytest.mark.parametrize("option", sorted(OWN_FLAGS))
def test_a_flag_of_the_tool_wins_over_murlis(option: str) -> None:
    takes_value = bool(OWN_FLAGS[option][0])
    command = Sketch(
        flags=[flag(option, arity=1 if takes_value else 0)], metadata=Metadata(mutating=True, dry_runnable=True)
    )
    words = [option, "x"] if takes_value else [option]
    invocation = read_line(command, *words)
    assert (invocation.own, invocation.argv()) == ({}, words)
    assert not offers(command, option)


@pytest.mark.parametrize("option", ["--output", "--limit", "--force"])
def test_a_persistent_flag_of_a_group_wins_over_murlis_on_the_commands_below(option: str) -> None:
    leaf = Sketch("delete", metadata=Metadata(mutating=True))
    root = Sketch(flags=[flag(option, persistent=True)], children=[leaf])
    invocation = read_line(root, "delete", option, "x")
    assert invocation.own == {}
    assert invocation.argv() == [option, "x", "delete"]


def test_a_flag_of_the_tool_called_force_or_dry_run_counts_for_the_guard() -> None:
    command = Sketch(
        flags=[flag("--force", arity=0), flag("--dry-run", arity=0)],
        metadata=Metadata(mutating=True, dry_runnable=True),
    )
    assert read_line(command, "--force").forced
    assert read_line(command, "--dry-run").dry_run
    assert not read_line(command).forced


@pytest.mark.parametrize("name", ["yes", "force"])
def test_a_flag_of_the_tool_that_says_no_confirms_nothing(name: str) -> None:
    command = Sketch(flags=[flag(f"--{name}", arity=0, negative=f"--no-{name}")], metadata=Metadata(mutating=True))
    assert not read_line(command, f"--no-{name}").forced
    assert not read_line(command, f"--{name}", f"--no-{name}").forced
    assert read_line(command, f"--no-{name}", f"--{name}").forced


def test_a_dry_run_that_is_declined_is_none() -> None:
    command = Sketch(
        flags=[flag("--dry-run", arity=0, negative="--no-dry-run")], metadata=Metadata(mutating=True, dry_runnable=True)
    )
    assert not read_line(command, "--no-dry-run").dry_run
    assert read_line(command, "--dry-run").dry_run


def test_a_dry_run_flag_of_a_tool_that_promises_no_dry_run_lifts_no_guard() -> None:
    command = Sketch(flags=[flag("--dry-run", arity=0)], metadata=Metadata(mutating=True))
    assert not read_line(command, "--dry-run").dry_run


def test_a_switch_with_which_nothing_changes_lifts_the_guard_and_is_no_dry_run() -> None:
    command = Sketch(
        flags=[flag("--check-only", arity=0, negative="--no-check-only"), flag("--fast", arity=0)],
        metadata=Metadata(mutating=True, unguarded_with=["check-only"]),
    )
    assert read_line(command, "--check-only").harmless
    assert not read_line(command, "--check-only").dry_run
    for words in ([], ["--fast"], ["--no-check-only"]):
        assert not read_line(command, *words).harmless


@both
def test_help_is_noticed_on_the_command_it_is_asked_for(framework: dict[str, Any]) -> None:
    invocation = read_line(roost(framework), "nest", "list", "--help")
    assert (invocation.help, invocation.path, invocation.argv()) == (
        True,
        "roost nest list",
        ["nest", "list", "--help"],
    )
    assert not read_line(roost(framework), "list", "--", "--help").help


# Commands


def test_an_unknown_command_is_remembered_with_how_the_caller_wants_the_answer() -> None:
    invocation = read_line(roost(), "nope", "--agent", "--output", "ndjson", "--debug", "--token", "x")
    assert (invocation.unknown_command, invocation.path) == ("nope", "roost")
    assert invocation.own == {"--agent": "", "--output": "ndjson", "--debug": ""}
    assert read_line(roost(), "nope", "--output=text").own == {"--output": "text"}


def test_an_unknown_command_below_a_group_names_the_group() -> None:
    invocation = read_line(roost(), "nest", "nope")
    assert (invocation.unknown_command, invocation.path) == ("nope", "roost nest")


def test_a_command_that_murli_adds_is_found_at_the_root_only() -> None:
    describe = Sketch("describe")

    def mounted(command: Command, word: str) -> Command | None:
        return describe if word == "describe" and command.name == "roost" else None

    assert read(roost(), "roost", ["describe"], mounted).leaf.command is describe
    assert read(roost(), "roost", ["nest", "describe"], mounted).unknown_command == "describe"
    assert read(Sketch(), "roost", ["describe"], mounted).leaf.command is describe
    assert read(Sketch(), "roost", ["x", "describe"], mounted).leaf.positionals == ["x", "describe"]
    assert read(Sketch(), "roost", ["--", "describe"], mounted).leaf.positionals == ["describe"]


def test_the_arguments_of_a_group_come_before_its_command() -> None:
    root = Sketch(arguments=[Argument(name="place", required=True)], children=[Sketch("list")])
    invocation = read_line(root, "list", "list", "x")
    assert (invocation.levels[0].positionals, invocation.path, invocation.leaf.positionals) == (
        ["list"],
        "roost list",
        ["x"],
    )
    assert invocation.argv() == ["list", "list", "x"]


def test_the_spelling_of_the_caller_is_kept_for_the_framework() -> None:
    class Aliased(Sketch):
        def find(self, name: str) -> Command | None:
            return super().find({"ls": "list"}.get(name, name))

    invocation = read_line(Aliased(children=[Sketch("list")]), "ls")
    assert (invocation.leaf.command.name, invocation.path, invocation.argv()) == ("list", "roost ls", ["ls"])


@pytest.mark.parametrize("tail", [["--agent"], ["-x", "--", "--yes"], ["--all", "--output", "json"], []])
@both
def test_a_passthrough_command_is_not_read_past_its_first_word(framework: dict[str, Any], tail: list[str]) -> None:
    invocation = read_line(roost(framework), "exec", "--all", "--agent", "git", *tail)
    assert invocation.argv() == ["exec", "--all", "git", *tail]
    assert (set(invocation.own), invocation.leaf.given) == ({"--agent"}, {"all": ["true"]})
    assert invocation.leaf.positionals == ["git", *tail]


@pytest.mark.parametrize("words", [["--region", "south"], ["--region=south"], ["-r", "south"]])
@both
def test_a_persistent_flag_after_the_command_goes_back_to_its_group(
    framework: dict[str, Any], words: list[str]
) -> None:
    invocation = read_line(roost(framework), "-v", "nest", "list", *words, "--top", "3")
    assert invocation.argv() == ["-v", *words, "nest", "list", "--top", "3"]
    assert (invocation.levels[0].given["region"], invocation.leaf.given) == (["south"], {"top": ["3"]})


def test_a_persistent_flag_glued_to_its_value_goes_back_to_its_group() -> None:
    assert read_line(roost(), "list", "-rsouth").argv() == ["-rsouth", "list"]


def test_a_flag_of_a_group_that_is_not_persistent_is_unknown_after_the_command() -> None:
    invocation = read_line(roost(), "list", "--file", "x")
    assert (invocation.leaf.unknown, invocation.argv()) == (["--file"], ["list", "--file", "x"])


def test_the_flag_of_the_command_wins_over_the_persistent_one_of_the_group() -> None:
    root = Sketch(flags=[flag("--region", persistent=True)], children=[Sketch("list", flags=[flag("--region")])])
    invocation = read_line(root, "list", "--region", "x")
    assert [level.given for level in invocation.levels] == [{}, {"region": ["x"]}]


# Values and the arguments they are for


def pairs(level: Level) -> list[tuple[str, str]]:
    return [(parameter.name, value) for parameter, value in level.values()]


def test_every_value_is_paired_with_what_it_is_for() -> None:
    command = Sketch(
        flags=[flag("--top"), flag("--all", arity=0)],
        arguments=[Argument(name="id"), Argument(name="rest", multiple=True)],
    )
    invocation = read_line(command, "a", "--all", "b", "--top", "1", "--top", "2", "c")
    assert pairs(invocation.leaf) == [
        ("top", "1"),
        ("top", "2"),
        ("all", "true"),
        ("id", "a"),
        ("rest", "b"),
        ("rest", "c"),
    ]


def test_a_value_too_many_is_for_nothing() -> None:
    assert pairs(read_line(Sketch(arguments=[Argument(name="id")]), "a", "b").leaf) == [("id", "a")]
    assert pairs(read_line(Sketch(), "a").leaf) == []


def test_a_repeated_argument_in_front_leaves_the_last_words_to_the_others() -> None:
    command = Sketch(
        arguments=[Argument(name="files", multiple=True, required=True), Argument(name="name", required=True)]
    )
    assert pairs(read_line(command, "a/../b", "c", "nest").leaf) == [
        ("files", "a/../b"),
        ("files", "c"),
        ("name", "nest"),
    ]


def test_what_murli_adds_is_paired_like_what_was_typed() -> None:
    level = read_line(Sketch(arguments=[Argument(name="id"), Argument(name="to")]), "a").leaf
    level.added_positionals = ["b"]
    assert pairs(level) == [("id", "a"), ("to", "b")]


# Where added words go


def test_added_flags_stand_where_they_can_neither_swallow_nor_be_swallowed() -> None:
    level = read_line(roost(), "list", "wren", "--", "-x").leaf
    level.added = ["--top=3"]
    assert level.argv() == ["wren", "--top=3", "--", "-x"]


def test_added_arguments_follow_a_double_dash() -> None:
    level = read_line(roost(), "list", "--all").leaf
    level.added, level.added_positionals = ["--top=3"], ["-wren"]
    assert level.argv() == ["--all", "--top=3", "--", "-wren"]


def test_added_arguments_follow_the_double_dash_that_is_there() -> None:
    level = read_line(roost(), "list", "--", "a").leaf
    level.added_positionals = ["b"]
    assert level.argv() == ["--", "a", "b"]


def test_a_double_dash_that_is_the_value_of_a_flag_does_not_part_it_from_its_flag() -> None:
    level = read_line(roost(DASHED), "list", "--top", "--", "--all").leaf
    level.added = ["--loud"]
    assert level.argv() == ["--top", "--", "--all", "--loud"]


def test_flags_are_added_in_front_of_the_words_of_groups_and_passthrough_commands() -> None:
    invocation = read_line(roost(), "--file", "x", "exec", "git", "log")
    for level in invocation.levels:
        level.added = ["--verbose" if level.command.is_group else "--all"]
    assert invocation.argv() == ["--verbose", "--file", "x", "exec", "--all", "git", "log"]


def test_arguments_added_to_a_passthrough_command_are_not_lost() -> None:
    level = read_line(roost(), "exec").leaf
    level.added_positionals = ["git", "log", "-p"]
    assert level.argv()[-3:] == ["git", "log", "-p"]


# Properties

VALUES = st.sampled_from(["x", "7", "-5", "-", "", "a=b", "list", "größe"])
DASHED_VALUES = VALUES | st.sampled_from(["--all", "-z", "--agent", "--yes"])
OWN_CHUNKS = st.sampled_from(
    [
        ["--agent"],
        ["--output", "json"],
        ["--output=ndjson"],
        ["--limit", "5"],
        ["--fields", "a,b"],
        ["--schema"],
        ["--debug"],
        ["--input", "-"],
    ]
)
ANY_WORDS = st.lists(
    st.sampled_from(
        [
            *OWN_FLAGS,
            "--",
            "-",
            "-5",
            "--top",
            "--top=1",
            "-t5",
            "-ab",
            "--nope",
            "list",
            "nest",
            "delete",
            "exec",
            "x",
            "",
        ]
    )
    | st.text(max_size=4)
)
FLAGS: list[tuple[tuple[str, ...], Any]] = [
    (("-t", "--top"), 1),
    (("--name",), 1),
    (("-c",), 1),
    (("-a", "--all"), 0),
    (("-b", "--brief"), 0),
    (("--pair",), 2),
    (("--colour",), "?"),
    (("--tags",), "*"),
]


@st.composite
def trees(draw: st.DrawFn) -> Sketch:
    """A random command tree, read as one framework or the other reads."""
    framework = draw(st.sampled_from([DASHED, STRICT]))

    def command(name: str, depth: int) -> Sketch:
        chosen = draw(st.lists(st.sampled_from(FLAGS), unique_by=lambda entry: entry[0]))
        names = (
            draw(st.lists(st.sampled_from(["list", "nest", "delete", "x"]), unique=True, max_size=3)) if depth else []
        )
        return Sketch(
            name,
            **framework,
            flags=[flag(*options, arity=arity) for options, arity in chosen],
            children=[command(child, depth - 1) for child in names],
            passthrough=not names and draw(st.booleans()),
            metadata=Metadata(mutating=draw(st.booleans()), dry_runnable=draw(st.booleans())),
        )

    return command("roost", 2)


@given(trees(), ANY_WORDS)
def test_every_command_line_can_be_read(root: Sketch, words: list[str]) -> None:
    invocation = read_line(root, *words)
    assert invocation.levels[0].command is root
    assert all(isinstance(word, str) for word in invocation.argv())


@given(trees(), ANY_WORDS)
def test_a_line_without_murlis_flags_reaches_the_framework_word_for_word(root: Sketch, words: list[str]) -> None:
    words = [word for word in words if word.partition("=")[0] not in OWN_FLAGS]
    invocation = read_line(root, *words)
    assume(invocation.unknown_command is None)
    assert invocation.argv() == words
    assert invocation.own == {}


@given(trees(), ANY_WORDS)
def test_murli_only_ever_takes_its_own_words_out(root: Sketch, words: list[str]) -> None:
    invocation = read_line(root, *words)
    assume(invocation.unknown_command is None)
    rest = list(words)
    for word in invocation.argv():
        assert word in rest
        del rest[: rest.index(word) + 1]  # the words that stay keep their order
    assert len(words) - len(invocation.argv()) <= 2 * sum(word.partition("=")[0] in OWN_FLAGS for word in words)


class Line:
    """A well-formed command line and how it must be read.

    It has flags in every spelling, murli's flags and persistent ones at random places, and a tail after `--`.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._framework = draw(st.sampled_from([DASHED, STRICT]))
        leaf_flags = [flag(*options, arity=arity) for options, arity in FLAGS]
        self.root = Sketch(
            **self._framework,
            flags=[flag("-r", "--region", persistent=True), flag("--file"), flag("-v", "--verbose", arity=0)],
            children=[
                Sketch("list", **self._framework, flags=leaf_flags),
                Sketch("exec", **self._framework, flags=leaf_flags, passthrough=True),
                Sketch(
                    "nest",
                    **self._framework,
                    flags=[flag("--depth")],
                    children=[Sketch("list", **self._framework, flags=leaf_flags)],
                ),
            ],
        )
        self.typed: list[str] = []
        self.own: dict[str, str] = {}
        self.levels: list[Level] = []
        command: Command = self.root
        self._level(Level(command, "roost"))
        while command.is_group:
            command = draw(st.sampled_from(command.children))
            self.typed.append(command.name)
            self._level(Level(command, command.name))
        self._end(self.levels[-1])

    def _level(self, level: Level) -> None:
        self.levels.append(level)
        closed = [known for known in level.command.flags if isinstance(known.arity, int)]
        for kind in self._draw(st.lists(st.sampled_from(["flag", "own", "inherited", "word"]), max_size=5)):
            if kind == "own":
                self._own()
            elif kind == "flag":
                self._flag(level, self._draw(st.sampled_from(closed)))
            elif kind == "inherited":
                self._flag(self.levels[0], self.root.flags[0])
            elif not level.command.is_group and not level.command.passthrough:
                self._words(level, [self._draw(st.sampled_from(["x", "-5", "-", "list"]))])

    def _end(self, leaf: Level) -> None:
        """Perhaps a flag that takes words up to the next flag, perhaps a tail that nobody may touch."""
        if self._draw(st.booleans()):
            self._flag(
                leaf,
                self._draw(st.sampled_from([known for known in leaf.command.flags if isinstance(known.arity, str)])),
            )
        if self._draw(st.booleans()):
            leaf.words.append("--")
            self.typed.append("--")
            self._words(leaf, self._draw(ANY_WORDS))

    def _own(self) -> None:
        chunk = self._draw(OWN_CHUNKS)
        self.typed += chunk
        option, equals, value = chunk[0].partition("=")
        self.own[option] = value if equals else (chunk[1:] or [""])[0]

    def _words(self, level: Level, words: list[str]) -> None:
        self.typed += words
        level.words += words
        level.positionals += words

    def _flag(self, level: Level, known: Flag) -> None:
        option = self._draw(st.sampled_from(known.options))
        if known.arity == 0:
            chunk, values = [option], ["true"]
        else:
            values = self._values(known)
            chunk = [option, *values]
            if known.arity == 1 and self._draw(st.booleans()):
                chunk = self._glued(option, values[0], known) or chunk
        self.typed += chunk
        level.words += chunk
        level.given.setdefault(known.name, []).extend(values)

    def _values(self, known: Flag) -> list[str]:
        dashed = isinstance(known.arity, int) and self._framework is DASHED
        wanted = (
            known.arity if isinstance(known.arity, int) else self._draw(st.integers(0, 1 if known.arity == "?" else 3))
        )
        return [self._draw(DASHED_VALUES if dashed else VALUES) for _ in range(wanted)]

    def _glued(self, option: str, value: str, known: Flag) -> list[str]:
        if option.startswith("--"):
            return [f"{option}={value}"]
        return (
            [f"{option}{value}"] if value and "=" not in value and not known.persistent else []
        )  # -rsouth has a test of its own


@st.composite
def lines(draw: st.DrawFn) -> Line:
    return Line(draw)


@given(lines())
def test_murlis_flags_are_taken_out_and_all_else_is_left_as_it_was(line: Line) -> None:
    invocation = read_line(line.root, *line.typed)
    assert invocation.own == line.own
    assert [level.command for level in invocation.levels] == [level.command for level in line.levels]
    assert [level.words for level in invocation.levels] == [level.words for level in line.levels]
    assert [level.given for level in invocation.levels] == [level.given for level in line.levels]
    assert [level.positionals for level in invocation.levels] == [level.positionals for level in line.levels]
    assert not any(level.unknown or level.dangling for level in invocation.levels)
    assert invocation.problem is None


@given(lines())
def test_what_the_framework_gets_reads_the_same_again(line: Line) -> None:
    first = read_line(line.root, *line.typed)
    again = read_line(line.root, *first.argv())
    assert again.argv() == first.argv()
    assert again.own == {}
    assert [level.given for level in again.levels] == [level.given for level in first.levels]


@given(trees(), st.lists(VALUES, max_size=3), ANY_WORDS)
def test_a_passthrough_command_never_loses_a_word_after_its_first(
    root: Sketch, head: list[str], tail: list[str]
) -> None:
    assume(head)
    command = Sketch("exec", passthrough=True, flags=root.flags)
    words = ["program", *head, *tail]
    invocation = read_line(command, "--agent", *words)
    assert invocation.argv() == words
    assert set(invocation.own) == {"--agent"}
