"""One declaration, every surface; and who may import whom."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from covey.beats.offline import OFFLINE as BEATS_OFFLINE
from covey.contract import GROUPS, OPERATIONS, Operation, Parameter
from covey.contract.events import EVENTS
from covey.contract.operation import shape
from covey.contract.reference import mesh_page, page
from covey.fleet.policy.answers import OFFLINE as POLICY_OFFLINE
from covey.kernel.client import Client
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations.call import Call
from covey.kernel.operations.offline import OfflineOperations
from covey.mesh.offline import OFFLINE as MESH_OFFLINE
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from tests.covey.conftest import COMMAND, Covey
from tests.covey.subsystems import serving
from tests.forking.tools import assert_program_conforms

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "covey"

MAY_IMPORT: dict[str, set[str]] = {
    "__init__.py": set(),
    "adapter.py": set(),
    "node": {"node", "contract", "kernel", "fleet", "attention", "beats", "keeper", "mcp", "mesh"},
    "contract": {"contract"},
    "kernel": {"contract", "kernel"},
    "consent": {"agents", "consent", "contract", "hosts", "kernel"},
    "hosts": {"hosts", "kernel"},
    "policy": {"contract", "kernel", "policy"},
    "agents": {"agents", "contract", "hosts", "kernel", "policy"},
    "tmux": {"contract", "hosts", "kernel", "tmux"},
    "fleet": {"agents", "consent", "contract", "fleet", "hosts", "kernel", "policy", "tmux"},
    "attention": {"contract", "kernel", "attention"},
    "beats": {"agents", "contract", "kernel", "beats", "policy"},
    "keeper": {"adapter", "agents", "contract", "hosts", "kernel", "keeper", "policy", "tmux"},
    "mcp": {"contract", "kernel", "mcp"},
    "mesh": {"agents", "consent", "contract", "kernel", "mesh"},
    "cli": {"agents", "consent", "contract", "kernel", "cli", "node", "fleet", "beats", "mcp", "mesh", "policy"},
}
"""By package or top module; `covey` itself (the version) may be imported by all. One that is missing fails the test."""


def test_the_reference_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / "covey.md").read_text() == page()
    assert (ROOT / "docs" / "reference" / "mesh.md").read_text() == mesh_page()


def test_every_operation_has_a_surface_and_every_local_one_a_reason() -> None:
    for operation in OPERATIONS:
        assert bool(operation.route) != bool(operation.local), operation.name
        assert operation.summary.endswith("."), operation.name
        for length in range(1, len(operation.cli)):
            assert " ".join(operation.cli[:length]) in GROUPS, operation.name
    verbs = [operation.cli for operation in OPERATIONS if operation.cli]
    assert len(set(verbs)) == len(verbs)
    assert {operation.name for operation in OPERATIONS if operation.offline} == {
        *OfflineOperations(Home("/nowhere").node, SETTINGS, OPERATIONS, EVENTS, lambda: SUBSYSTEMS).handlers(),
        *BEATS_OFFLINE,
        *POLICY_OFFLINE,
        *MESH_OFFLINE,
    }


def test_describe_tells_the_whole_contract() -> None:
    document = json.loads(subprocess.run([COMMAND, "describe"], capture_output=True, check=True).stdout)
    found: dict[tuple[str, ...], Any] = {}
    left: list[tuple[tuple[str, ...], Any]] = [((one["name"],), one) for one in document["commands"]]
    while left:
        path, command = left.pop()
        left += [((*path, below["name"]), below) for below in command.get("subcommands", [])]
        if "subcommands" not in command:
            found[path] = command
    for operation in OPERATIONS:
        if not operation.cli:  # for programs only
            continue
        leaf = found.pop(operation.cli)
        assert leaf["safety"]["read_only"] is not operation.mutating
        assert {flag["name"] for flag in leaf.get("flags", [])} >= {
            parameter.flag for parameter in operation.command_parameters if not parameter.positional
        }
        assert [argument["name"] for argument in leaf.get("arguments", [])] == [
            p.name for p in operation.command_parameters if p.positional
        ]
    assert set(found) == {("describe",)}


def test_packages_import_only_what_they_may() -> None:
    for path in SOURCE.rglob("*.py"):
        package = path.relative_to(SOURCE).parts[0]
        assert package in MAY_IMPORT, f"{package} is unknown: add it to MAY_IMPORT with what it may import"
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in names:
                parts = name.split(".")
                if parts[0] == "covey" and len(parts) > 1:
                    assert parts[1] in MAY_IMPORT[package], f"{path}: {name}"
                if package == "contract":
                    assert parts[0] in sys.stdlib_module_names | {"covey"}, f"{path}: {name}"


def test_asking_the_daemon_loads_nothing_heavy() -> None:
    program = (
        "import sys, os; sys.argv = ['covey', 'status']; os.environ['COVEY_HOME'] = '/nonexistent/covey'\n"
        "from covey.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'asyncio', 'socket', 'http', 'urllib', 'dataclasses', 'typing', 'pathlib', 'inspect', 'subprocess', "
        "'logging', 'shutil', 'msgspec'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.__stdout__)"
    )
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'packages' / 'murli' / 'src'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == ""


@pytest.mark.first
def test_the_installed_command_passes_the_conformance_kit() -> None:
    report = assert_program_conforms(Path(COMMAND))
    assert report.counts["passed"] > 40


async def test_an_operation_is_added_in_under_twenty_lines(tmp_path: Path) -> None:
    del tmp_path
    # --- as ARCHITECTURE.md shows it ---
    greet = Operation(
        "greet",
        "Greet somebody.",
        cli=["greet"],
        method="POST",
        route="/v1/greet/{name}",
        parameters=[
            Parameter("name", "Who to greet.", required=True, positional=True),
            Parameter("loud", "Shout.", type="bool", default=False),
        ],
        result=shape(greeting="string"),
        mutating=True,
        guard=False,
    )

    async def handle_greet(call: Call) -> object:
        text = f"hello {call.params['name']}"
        return {"greeting": text.upper() if call.params["loud"] else text}

    # -----------------------------------

    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        home = Home(f"{folder}/home")
        home.node.prepare()
        async with Daemon.running(home.node, [serving([greet], lambda _: {"greet": handle_greet})]):
            client = Client(home.node.socket)
            result = await asyncio.to_thread(client.call, greet, {"name": "wren & co/1", "loud": True})
            assert result == {"greeting": "HELLO WREN & CO/1"}


def test_nonsense_on_the_command_line_is_one_envelope(covey: Covey) -> None:
    for words in (
        ["nonsense"],
        ["config"],
        ["config", "get"],
        ["config", "get", "../x"],
        ["logs", "-n", "many"],
        ["events", "--since", "-1"],
        ["up", "--bogus"],
    ):
        ran = covey.run(*words)
        assert ran.code in (1, 2), words
        assert ran.error["message"], words
        assert "Traceback" not in ran.stderr
