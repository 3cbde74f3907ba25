"""The SDKs play one scenario against a real node and two real peers, over kills of each, and find the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sdk.conformance.harness import EXPECTED, PYTHON, expected_of, play
from sdk.conformance.hosts import Host
from tests.sdk.tools import TYPESCRIPT_PLAYER, built_go_player, built_typescript


@pytest.fixture(scope="session")
def found_by_python(hosts: tuple[Host, Host]) -> str:
    """What the SDK for Python finds, with every field."""
    return play(PYTHON, hosts, "run-py")


def test_the_python_sdk_finds_what_is_expected(found_by_python: str) -> None:
    assert expected_of(found_by_python) == EXPECTED.read_text("utf-8")


def test_the_python_sdk_finds_the_same_with_asyncio(hosts: tuple[Host, Host], found_by_python: str) -> None:
    assert play(PYTHON, hosts, "run-asyncio", asynchronous=True) == found_by_python


def test_the_go_sdk_finds_the_same(hosts: tuple[Host, Host], found_by_python: str, tmp_path: Path) -> None:
    assert play([built_go_player(tmp_path)], hosts, "run-go") == found_by_python


def test_the_typescript_sdk_finds_the_same(hosts: tuple[Host, Host], found_by_python: str) -> None:
    node = shutil.which("node")
    assert node, "the tests of the SDK for TypeScript need Node"
    assert play([node, str(built_typescript() / TYPESCRIPT_PLAYER)], hosts, "run-ts") == found_by_python
