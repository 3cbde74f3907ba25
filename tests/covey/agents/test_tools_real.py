"""What real agents offer to their model is declared, or is known as what no rule may allow: nothing is left to luck."""

from __future__ import annotations

import dataclasses
import re
import shutil
from typing import Any

import pytest

from covey.agents.registry import TOOLS
from lab.agents.agent import Agent
from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.agents.copilot import Copilot
from lab.agents.gemini import Gemini
from lab.agents.opencode import OpenCode
from lab.bench import bench
from lab.install import program_of
from lab.model.offered import offered
from lab.model.recorder import Recorder
from lab.model.server import Tool, serving
from lab.play import play
from lab.scenario import read

pytestmark = pytest.mark.once  # the release of tmux makes no difference

LATER = re.compile(r"deferred tools are now available[^\n]*\n((?:[A-Za-z]+\n)+)")
"""Names that Claude tells its model, which asks for the rest with a tool."""


def needed(agent: type[Agent]) -> Any:
    missing = not program_of(agent).exists() or shutil.which("tmux") is None
    reason = f"{agent.title} is not installed in the lab: ./run lab install {agent.name}"
    return pytest.param(agent, id=agent.name, marks=pytest.mark.skipif(missing, reason=reason))


async def tools_of(agent: type[Agent]) -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of all that an agent offers, by name."""
    found: dict[str, dict[str, Any]] = {}

    def search(_: str) -> Tool:
        """Return the call that has Claude offer the tools that it has only named."""
        names = [name for one in recorder.requests for text in texts(one) for name in LATER.findall(text)]
        return Tool("ToolSearch", {"query": f"select:{','.join(' '.join(names).split())}", "max_results": 100})

    searching = type(agent.__name__, (agent,), {"tools": {**agent.tools, "shell": search}})
    steps = ["shell search", "say Done."] if agent is Claude else ["say Done."]
    person = ["type Say it", "until completed", "quit"]
    scenario = read("offer", {"about": "One turn.", "person": person, "model": {"Say it": steps}})
    async with bench() as shared, serving(recorder := Recorder(shared.model)) as address:
        await play(dataclasses.replace(shared, address=address), searching(program_of(agent)), scenario, agent.name)
    for request in recorder.requests:
        found |= offered(request)
    return found


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in members for text in texts(one)]


@pytest.mark.parametrize("agent", [needed(kind) for kind in (Claude, Codex, Copilot, Gemini, OpenCode)])
async def test_every_tool_that_an_agent_offers_is_declared_with_all_that_it_takes(agent: type[Agent]) -> None:
    tools = TOOLS[agent.name]
    offers = await tools_of(agent)
    assert offers
    assert sorted(offers.keys() - tools.declared.keys() - tools.never.keys()) == []
    # Copilot's own name of this one is that of a request for permission, which has a different input.
    named = {name: "Edit" if (agent, name) == (Copilot, "edit") else name for name in offers}
    lacking = {
        name: sorted(set(schema.get("properties", ())) - set(tools.declared[named[name]].keys))
        for name, schema in offers.items()
        if name in tools.declared
    }
    assert {name: keys for name, keys in lacking.items() if keys} == {}
    if agent is Claude:
        assert {"WebFetch", "Monitor"} <= offers.keys(), "what it offers only when asked is looked at too"
