"""The command tree from the contract, and how a command line becomes the parameters of an operation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from covey.cli.commands import ContractAdapter, OperationCommand, parameters
from covey.contract import OPERATIONS
from covey.contract.operation import Operation, Parameter
from murli.adapter import Refused, read
from tests.covey.conftest import Covey

TRY = Operation(
    "try",
    "Try it.",
    cli=["try"],
    route="/v1/try",
    parameters=[
        Parameter("first", "F.", positional=True),
        Parameter("rest", "R.", positional=True, multiple=True),
        Parameter("count", "C.", type="int", short="-n", default=5),
        Parameter("share", "S.", type="float"),
        Parameter("state", "S.", multiple=True),
        Parameter("sort_by", "S.", enum=["age", "name"], default="age"),
        Parameter("wide", "W.", type="bool"),
        Parameter("file", "F.", path=True),
    ],
)


def params_of(*words: str, operation: Operation = TRY) -> dict[str, Any]:
    invocation = read(ContractAdapter([operation]).root, "covey", [*operation.cli, *words], lambda *_: None)
    return parameters(operation, invocation.leaf)


def test_what_is_not_given_has_its_default() -> None:
    assert params_of() == {
        "first": None,
        "rest": [],
        "count": 5,
        "share": None,
        "state": None,
        "sort_by": "age",
        "wide": False,
        "file": None,
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-n", "7"], {"count": 7}),
        (["-n7"], {"count": 7}),
        (["--count=7", "--count", "8"], {"count": 8}),
        (["--count", "-1"], {"count": -1}),
        (["--share", "0.5"], {"share": 0.5}),
        (["--state", "idle", "--state=error"], {"state": ["idle", "error"]}),
        (["--sort-by", "name"], {"sort_by": "name"}),
        (["--sort", "name"], {"sort_by": "name"}),
        (["--wide"], {"wide": True}),
        (["a", "b", "--wide", "c"], {"first": "a", "rest": ["b", "c"], "wide": True}),
        (["--", "--wide"], {"first": "--wide", "wide": False}),
        (["--file", "/srv/../x"], {"file": "/x"}),
    ],
)
def test_words_become_values(words: list[str], expected: dict[str, Any]) -> None:
    assert expected.items() <= params_of(*words).items()


@pytest.mark.parametrize(
    "words",
    [
        ["--bogus"],
        ["--count"],
        ["--count", "many"],
        ["--share", "half"],
        ["--sort-by", "size"],
        ["--wide=yes"],
        ["--wid=yes"],
        ["--s", "x"],
    ],
)
def test_what_the_contract_does_not_allow_is_refused(words: list[str]) -> None:
    with pytest.raises(Refused):
        params_of(*words)


def test_a_required_argument_and_one_too_many_are_refused() -> None:
    one = Operation("one", "O.", cli=["one"], parameters=[Parameter("key", "K.", required=True, positional=True)])
    assert params_of("a", operation=one) == {"key": "a"}
    for words in ([], ["a", "b"]):
        with pytest.raises(Refused):
            params_of(*words, operation=one)


def test_every_operation_is_found_by_its_words() -> None:
    root = ContractAdapter().root
    for operation in OPERATIONS:
        command = root
        for word in operation.cli:
            found = command.find(word)
            assert found is not None
            command = found
        if operation.cli:
            assert isinstance(command, OperationCommand)
            assert command.operation is operation
    assert root.find("nonsense") is None


def test_a_group_within_a_group_is_found_and_named() -> None:
    mesh = ContractAdapter().root.find("mesh")
    assert mesh is not None
    topic = mesh.find("topic")
    assert topic is not None
    assert (topic.is_group, [child.name for child in topic.children]) == (
        True,
        ["post", "subscribe", "unsubscribe", "list"],
    )
    assert topic.find("nonsense") is None
    assert [child.name for child in mesh.children].count("topic") == 1


def test_what_only_clients_take_is_taken_and_may_replace_an_argument() -> None:
    send = Operation(
        "send",
        "S.",
        cli=["send"],
        route="/v1/send",
        parameters=[Parameter("text", "T.", required=True, positional=True), Parameter("meta", "M.", type="object")],
        client_parameters=[Parameter("file", "F.", replaces="text"), Parameter("where", "W.")],
    )
    assert params_of("--file", "x", "--where", "y", operation=send) == {
        "text": None,
        "meta": None,
        "file": "x",
        "where": "y",
    }
    assert params_of("hello", "--meta", '{"a": 1}', operation=send)["meta"] == {"a": 1}
    for wrong in ("[1]", "{", "1"):
        with pytest.raises(Refused):
            params_of("hello", "--meta", wrong, operation=send)
    assert send.parameter("file") is None


def test_a_switch_with_a_value_and_a_missing_argument_say_what_is_wrong(covey: Covey) -> None:
    assert covey.run("up", "--foreground=true").error["message"] == "--foreground takes no value"
    assert covey.run("config", "get").error["message"] == "missing argument 'key'"
    assert covey.run("config", "get", "a", "b").error["message"] == "unexpected argument 'b' for 'covey config get'"
    assert covey.run("logs", "-n", "many").error["field"] == "lines"


@pytest.mark.parametrize("text", ["[1]", "{'a': 1}", "", "1"])
def test_what_is_not_an_object_is_refused_before_the_daemon_is_asked(text: str, covey: Covey) -> None:
    error = covey.run("mesh", "vector", "search", "docs", "x", "--filter", text).error
    assert (error["field"], error["message"].rpartition(": ")[2]) == ("filter", "expected a JSON object")


def test_json_that_is_nested_too_deeply_is_an_error_of_its_writer(covey: Covey) -> None:
    deep, value = '{"a":' * 5000 + "1" + "}" * 5000, "[" * 5000 + "]" * 5000
    for field, words in {
        "filter": ["vector", "search", "docs", "x", "--filter", deep],
        "metadata": ["vector", "store", "docs", "x", "--metadata", deep],
        "params": ["graph", "query", "RETURN 1", "--params", deep],
        "args": ["mcp", "call", "server", "tool", "--args", deep],
        "meta": ["send", "@bob", "x", "--meta", deep],
        "value": ["state", "set", "n", value, "--as-json"],
    }.items():
        error = covey.run("mesh", *words).error
        assert (error["error"], error["field"]) == ("invalid_input", field)


def test_the_schema_of_a_command_says_that_a_parameter_is_an_object(covey: Covey) -> None:
    described = json.loads(covey.run("mesh", "vector", "search", "--schema").stdout)
    assert next(flag["type"] for flag in described["flags"] if flag["name"] == "filter") == "object"
