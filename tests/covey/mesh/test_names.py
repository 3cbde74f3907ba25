"""Names that people choose, and those that cannot be."""

from __future__ import annotations

import pytest

from covey.mesh.names import check_agent
from murli import AgentError


@pytest.mark.parametrize(
    "name",
    ["claude", "%14", "api:2.1", "api", "größe", "host/api:2.1", "host@work/%3", "pane:host/api/@2/%14", "runtime:a1"],
)
def test_what_covey_send_takes_can_name_an_agent(name: str) -> None:
    assert check_agent(name, "to") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x y",
        " x",
        "x\u00a0y",
        "../%3",
        "..",
        "./api",
        "/api",
        "api/",
        "a//b",
        "%",
        "%x",
        "a%3",
        "x\ny",
        "\x1b[31m",
        "a" * 257,
    ],
)
def test_what_no_agent_can_be_called_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(AgentError) as caught:
        check_agent(name, "as_agent")
    assert (caught.value.code, caught.value.field) == (1, "as_agent")
    assert "`covey send`" in caught.value.suggestion
