"""The webhook of the guide, as it is written there, with the real Claude Code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from pathlib import Path

import pytest

from lab.agents import find
from lab.agents.agent import RunSetup
from lab.bench import bench
from lab.install import program_of
from lab.keeping import Hearing, conversation_of
from lab.play import environment_of
from lab.terminal import Terminal, TerminalError

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "keep.md"
LIMIT_S = 150.0
CLAUDE = find("claude")

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not program_of(CLAUDE).exists(), reason="Claude Code is not installed in the lab"),
]


def commands(name: str) -> str:
    """Return the commands of a marked part of the guide."""
    part = re.search(rf"<!-- test:{name} -->(.*?)<!-- /test -->", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert part
    return "\n".join(re.findall(r"```sh\n(.*?)```", part[1], re.DOTALL))


async def test_the_webhook_of_the_guide_wakes_an_agent_whose_answer_arrives() -> None:
    async with bench() as shared:
        folder = shared.folder / "g"
        folder.mkdir()
        agent = CLAUDE(program_of(CLAUDE))
        setup = RunSetup(folder, f"{shared.address}/{folder.name}", integrated=True)
        for needed in (setup.home, setup.project, folder / "tmp"):
            needed.mkdir(mode=0o700)
        launch = agent.prepare(setup)
        shared.model.conversations[folder.name] = conversation_of(agent, Hearing({}))
        own = environment_of(folder, shared.mark)
        environment = {
            **own,
            **launch.env,
            "PATH": f"{Path(sys.executable).parent}:{agent.program.parent}:{own['PATH']}",
            "TMUX_TMPDIR": str(folder),
            "TERM": "xterm-256color",
        }
        script = f"set -e\n{commands('webhook')}"
        try:
            said = await run(["bash", "-c", script], environment, setup.project)
            assert "one sentence" in said.splitlines()[-1]
        finally:
            await run(["bash", "-c", "covey keep stop ci --yes; covey down"], environment, setup.project)
            with contextlib.suppress(TerminalError):
                await Terminal(folder / f"tmux-{os.getuid()}" / "default", environment).run("kill-server")


async def run(argv: list[str], environment: dict[str, str], folder: Path) -> str:
    """Return what a program prints."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        env=environment,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(LIMIT_S):
        out, _ = await process.communicate()
    return out.decode()
