"""A client that is not ours, the MCP Inspector, over both transports. `python -m lab.inspector` calls every tool."""

from __future__ import annotations

import shutil

import pytest

from lab.inspector import INSPECTOR, REFUSED, Inspection, stdio_server
from lab.install import install
from tests.covey.conftest import COMMAND, Covey
from tests.covey.mcp.conftest import address_of


@pytest.mark.first
async def test_the_inspector_accepts_schemas_results_and_refusals(covey: Covey) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not to be had here")
    install(INSPECTOR)
    covey.home.mkdir(mode=0o700)
    (covey.home / "config.toml").write_text('[mcp]\nact = true\nhttp = true\ntools = ["all"]\n')
    covey.run("up")
    env = covey.environment()
    stdio = Inspection(covey.folder, stdio_server([COMMAND, "mcp"], env), env)
    names = {tool["name"] for tool in stdio.tools()}
    assert names >= {"list_agents", "send_message", "kill"}
    assert stdio.call("send_message", ref="%99", text="x").envelope["error"]["code"] == "E_REF_NOT_FOUND"

    server = [await address_of(covey), "--transport", "http", "--header", f"Authorization: Bearer {covey.token}"]
    http = Inspection(covey.folder, server, env)
    answer = http.call("list_agents")
    assert (answer.exit_code, answer.envelope["ok"]) == (0, True)
    refused = http.call("view_agent", ref="%99")
    assert (refused.exit_code, refused.envelope["error"]["code"]) == (REFUSED, "E_REF_NOT_FOUND")
