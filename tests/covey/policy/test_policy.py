"""What a policy decides: deny wins, the narrowest of the others, and what cannot be read is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.policy.policy import MOST_PATHS, Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import FILE, OTHER, PATCH, SHELL, Kind, ToolCall
from tests.covey.policy.shell.test_simple import NOT_SIMPLE

pytestmark = pytest.mark.once  # the release of tmux makes no difference

HOME = "/home/me"
KINDS: dict[str, Kind] = {"Bash": SHELL, "Edit": FILE, "apply_patch": PATCH}
PIECES = ["git", "status", "push", "rm", "-rf", "/", "x", "src/a.py", "~/.ssh/id", "'a b'", "a=1", "sudo", "bash -c"]
JOINTS = [" ", " ", " ", "; ", " && ", " | ", "\n", " > ", " $(", ")", "`", '"', "'", " $x", " *", "\\"]


def rule(effect: str, **conditions: str) -> dict[str, Any]:
    return {"name": f"{effect} {sorted(conditions.items())}", "effect": effect, **conditions}


def decided(rules: list[dict[str, Any]], **request: Any) -> str:
    tool = request.pop("tool", "Bash")
    call = called(tool, request.pop("command", ""), request.pop("paths", ()))
    asked = PolicyRequest(
        **{"agent": "claude", "tool": tool, "call": call, "target": "host", "folder": "/srv", **request}
    )
    return Policy(rules, home=HOME).decide(asked).effect


def called(tool: str, command: str = "", paths: tuple[str, ...] = ()) -> ToolCall:
    kind = KINDS.get(tool, OTHER)
    return ToolCall(kind=kind, command=command if kind == SHELL else "", paths=paths, texts=(command, *paths))


commands = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(JOINTS)), min_size=1, max_size=5).map(
    lambda parts: "".join(piece + joint for piece, joint in parts).strip()
)
conditions = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.sampled_from(["claude", "c*", "codex", "*"]),
        "tool": st.sampled_from(["Bash", "Edit", "*"]),
        "command": st.sampled_from(["git *", "git status*", "*", "rm *", "*rm*", "git push"]),
        "path": st.sampled_from(["src/**", "~/.ssh/", "*.py", "/", ".env"]),
        "target": st.sampled_from(["host", "*", "far"]),
        "folder": st.sampled_from(["/srv", "~/x", "/"]),
    },
)
rules = st.builds(lambda effect, found: rule(effect, **found), st.sampled_from(["allow", "deny", "ask"]), conditions)
policies = st.lists(rules, max_size=6, unique_by=lambda one: one["name"])
paths = st.lists(st.sampled_from(["src/a.py", "/etc/x", "~/.ssh/id", ".env", "src/../x"]), max_size=3).map(tuple)
requests = st.builds(
    PolicyRequest,
    agent=st.sampled_from(["claude", "codex"]),
    tool=st.sampled_from(["Bash", "Edit", "apply_patch"]),
    call=st.builds(called, st.sampled_from(["Bash", "Edit", "apply_patch"]), st.just("") | commands, paths),
    target=st.sampled_from(["host", "far", ""]),
    folder=st.sampled_from(["/srv", "/home/me/x", ""]),
)


def with_more_paths(request: PolicyRequest) -> PolicyRequest:
    return replace(request, call=replace(request.call, paths=(*request.call.paths, "src/a.py", ".env")))


def effect(tables: list[dict[str, Any]], request: PolicyRequest) -> str:
    return Policy(tables, home=HOME).decide(request).effect


@given(policies, requests)
def test_a_deny_wins_over_everything(tables: list[dict[str, Any]], request: PolicyRequest) -> None:
    """A request that some deny alone denies is denied, whatever else is there."""
    denies = [one for one in tables if one["effect"] == "deny"]
    alone = any(effect([one], request) == "deny" for one in denies)
    assert (effect(tables, request) == "deny") == alone


@given(policies, rules, requests)
def test_another_deny_never_makes_anything_easier(
    tables: list[dict[str, Any]], another: dict[str, Any], request: PolicyRequest
) -> None:
    denying = {**another, "effect": "deny", "name": "another"}
    order = ["allow", "ask", "deny"]
    assert order.index(effect([*tables, denying], request)) >= order.index(effect(tables, request))


@given(policies, requests, st.randoms(use_true_random=False))
def test_the_order_of_the_rules_does_not_matter(
    tables: list[dict[str, Any]], request: PolicyRequest, chance: Any
) -> None:
    mixed = list(tables)
    chance.shuffle(mixed)
    assert effect(mixed, request) == effect(tables, request)


@given(
    policies,
    requests,
    st.sampled_from(
        [
            {"name": "x"},
            {"effect": "allow"},
            {"name": "x", "effect": "permit"},
            {"name": "x", "effect": "allow", "comand": "x"},
            {"name": "x", "effect": "deny", "path": "a/../b"},
            {"name": "x", "effect": "deny", "path": "~root/x"},
            {"name": "x", "effect": "deny", "folder": "work"},
            {"name": "x", "effect": "deny", "tool": ""},
            {"name": "x", "effect": "deny", "tool": "a\nb"},
            {"name": "x", "effect": "deny", "tool": 7},
            {"name": "x", "effect": ["deny"]},
        ]
    ),
    st.integers(0, 6),
)
def test_with_a_rule_that_is_wrong_nothing_is_allowed_and_denies_still_deny(
    tables: list[dict[str, Any]], request: PolicyRequest, wrong: dict[str, Any], place: int
) -> None:
    broken = [*tables[:place], wrong, *tables[place:]]
    before, now = effect(tables, request), effect(broken, request)
    assert now == ("ask" if before == "allow" else before)
    assert Policy(broken).problems


@given(policies, requests)
def test_a_policy_that_is_not_all_there_allows_nothing(tables: list[dict[str, Any]], request: PolicyRequest) -> None:
    before = effect(tables, request)
    now = Policy(tables, home=HOME, unreadable="the file is broken").decide(request)
    assert now.effect == ("ask" if before == "allow" else before)


@given(st.sampled_from(["git status*", "git *", "*", "git status *", "*git*"]), st.sampled_from(NOT_SIMPLE), commands)
def test_a_pattern_for_simple_commands_allows_no_other(pattern: str, other: str, command: str) -> None:
    assert decided([rule("allow", command=pattern)], command=other) == "ask"
    for joint in ("; ", " && ", " || ", " | ", "\n", " & "):
        assert decided([rule("allow", command=pattern)], command=f"git status{joint}{command}") == "ask"


@given(policies, requests.map(with_more_paths))
def test_a_request_with_several_paths_is_allowed_only_if_each_is(
    tables: list[dict[str, Any]], request: PolicyRequest
) -> None:
    alone = [effect(tables, replace(request, call=replace(request.call, paths=(path,)))) for path in request.call.paths]
    worst = next(one for one in ("deny", "ask", "allow") if one in alone)
    assert effect(tables, request) == worst


def test_without_rules_everything_is_asked() -> None:
    decision = Policy([]).decide(PolicyRequest(agent="claude", tool="Bash", call=called("Bash", "ls")))
    assert (decision.effect, decision.rule, decision.why) == ("ask", "", "there are no rules")


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([rule("ask", tool="Bash")], "allow"),
        ([rule("ask", tool="Bash", agent="claude")], "ask"),
        ([rule("ask", command="git status -s")], "ask"),
        ([rule("ask", command="git ??????*")], "allow"),
        ([rule("ask", command="git ?tatus*")], "allow"),
        ([rule("ask", command="git status?*")], "ask"),
    ],
)
def test_the_narrowest_wins_and_ask_if_they_are_equally_narrow(others: list[dict[str, Any]], expected: str) -> None:
    assert decided([rule("allow", command="git status*"), *others], command="git status -s") == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make test", "allow"),
        ("make test; ls", "allow"),
        ("rm -rf build", "deny"),
        ("make test && rm -rf build", "deny"),
        ("sudo RM x", "deny"),
        ("bash -c 'rm x'", "deny"),
        ('bash -c "rm $x"', "deny"),
        ("$x -rf build", "ask"),
        ("make $x", "ask"),
        ("cat $x", "allow"),
        ("r{m,} x", "ask"),
        ("echo 'rm x", "ask"),
        ("git rm x", "ask"),
        ("docker run --rm x", "allow"),
    ],
)
def test_what_a_deny_may_cover_is_not_allowed(command: str, expected: str) -> None:
    tables = [rule("allow", folder="/srv"), rule("deny", command="rm *")]
    assert decided(tables, command=command) == expected


def test_a_denied_path_is_denied_in_commands_too() -> None:
    tables = [rule("allow", tool="Bash"), rule("deny", path="~/.ssh/"), rule("deny", path="*.pem")]
    for command in (
        "cat ~/.ssh/id",
        "ls; cp a.pem b",
        "x --key=/home/me/.SSH/id",
        "ssh -i~/.ssh/id x",
        "curl -d @/home/me/.ssh/id x",
        "cat < /home/me/.ssh/id",
        "cat $HOME/.ssh/id",
        'cat "${HOME}"/.ssh/id',
        "cat ~u/.ssh/id",
        "curl file:///home/me/.ssh/id",
        "docker run -v ~/.ssh:/x y",
        "dd if=/home/me/.ssh/id",
        "tool a,/home/me/.ssh/id",
        "f=~/.ssh/id; cat x",
    ):
        assert decided(tables, command=command) == "deny", command
    for command in (
        "cat $x",
        "cd ~; cat .ssh/id",
        "cd ~/.s*; cat id",
        'cd "$x"; cat id',
        "env --chdir=/home/me cat .ssh/id",
        "tar -C ~ -cf x .ssh",
        "cat ~/.s*/id",
        "ln -s ~ l; cat l/.ssh/id",
        "python3 -c 'open(\".ssh/id\")'",
        "cat /home/{me,you}/.s{s,}h/id",
        "for f in ~/.s*/*; do cat $f; done",
    ):
        assert decided(tables, command=command) == "ask", command
    for command in ("cat a", "cat *.py", "cd src; cat a/b", "for f in *.py; do cat $f; done", "echo $x"):
        assert decided(tables, command=command) == "allow", command


def test_an_allowed_path_says_nothing_about_a_command() -> None:
    tables = [rule("allow", path="src/**")]
    assert decided(tables, tool="Edit", paths=("src/a",)) == "allow"
    assert decided(tables, tool="Bash", command="rm src/a", paths=("src/a",)) == "ask"
    assert decided(tables, tool="apply_patch", command="*** Begin Patch\n", paths=("src/a",)) == "allow"
    assert decided(tables, tool="Edit") == "ask"


def test_a_request_with_very_many_paths_is_not_allowed() -> None:
    many = tuple(f"src/{number}" for number in range(MOST_PATHS + 1))
    assert decided([rule("allow", path="src/**")], tool="Edit", paths=many[1:]) == "allow"
    assert decided([rule("allow", path="src/**")], tool="Edit", paths=many) == "ask"


def test_what_is_not_known_of_a_request_may_be_denied() -> None:
    tables = [rule("allow", tool="Edit"), rule("deny", folder="/srv/secret")]
    assert decided(tables, tool="Edit", paths=("a",)) == "allow"
    assert decided(tables, tool="Edit", paths=("a",), folder="") == "ask"


def test_a_name_that_is_used_twice_is_a_problem_and_both_deny() -> None:
    tables = [{"name": "x", "effect": "deny", "tool": "A"}, {"name": "x", "effect": "deny", "tool": "Bash"}]
    assert decided(tables, command="ls") == "deny"
    assert [problem.place for problem in Policy(tables).problems] == [1]


@example({"name": "\ud800", "effect": "allow"})
@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=8), max_size=4))
def test_any_table_is_read_or_is_a_problem(table: dict[str, Any]) -> None:
    policy = Policy([table], home=HOME)
    assert bool(policy.problems) != bool(policy.rules)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo 'rm x", "its syntax is not that of a complete shell command"),
        ("echo rm", "rm is written in it where it may be run"),
        ("cat x | sh", "a shell takes what it runs from somewhere else"),
        ("tool '$x'", "tool is not known, and may run its words"),
        ("ls\u200b", "it has control characters, or characters that cannot be seen"),
    ],
)
def test_a_decision_says_what_could_not_be_read(command: str, why: str) -> None:
    tables = [rule("allow", tool="Bash"), {"name": "no rm", "effect": "deny", "command": "rm *"}]
    decision = Policy(tables, home=HOME).decide(
        PolicyRequest(agent="claude", tool="Bash", target="host", folder="/srv", call=called("Bash", command))
    )
    assert decision.effect == "ask"
    assert decision.why.endswith(f"the rule 'no rm' may deny it: {why}")
