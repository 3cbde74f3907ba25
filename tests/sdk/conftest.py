"""Two real hosts for the tests of the SDKs, shared by all that do not end them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from sdk.conformance.hosts import Host, two_hosts
from sdk.generate.__main__ import SDK
from tests.sdk.probes import Probes, built_probes

sys.path.insert(0, str(SDK / "python"))


@pytest.fixture(scope="session")
def hosts() -> Iterator[tuple[Host, Host]]:
    """Alice and Bob, whose peers are members of one mesh."""
    with two_hosts() as running:
        yield running


@pytest.fixture(scope="session")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Probes:
    """The program of each SDK that makes the calls which its arguments name."""
    return built_probes(tmp_path_factory.mktemp("probes"))
