"""The quick starts of the guide are run as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from sdk.conformance.hosts import Host, until_connected
from sdk.generate.__main__ import SDK
from tests.sdk.tools import built_typescript, packed_typescript

GUIDE = (SDK.parent / "docs" / "guide" / "sdk.md").read_text("utf-8")
LIMIT_S = 120


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.+?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def commands(section: str) -> list[str]:
    """Return the commands by which the SDK is installed, with the place of this clone."""
    text = GUIDE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\$ (.+)$", text, re.MULTILINE)
    assert found
    return [command.replace("/path/to/covey", str(SDK.parent)) for command in found]


def run(hosts: tuple[Host, Host], *command: str, folder: Path, **extra: str) -> str:
    """Return what a program on Alice's host printed, to which Bob writes until it has ended."""
    until_connected(*hosts)
    environment = hosts[0].environment(**extra)
    limit = time.monotonic() + LIMIT_S
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as running:
        while running.poll() is None:
            if time.monotonic() > limit:
                running.kill()
            hosts[1].run("mesh", "send", "@alice", "are you there?", "--yes")
        assert running.returncode == 0
        assert running.stdout is not None
        return running.stdout.read()


def test_the_quick_start_in_python(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text(block("python"))
    printed = run(hosts, sys.executable, "start.py", folder=tmp_path, PYTHONPATH=str(SDK / "python"))
    assert printed == "bob are you there?\n"
    assert "alerts" in [topic["name"] for topic in hosts[0].run("mesh", "topic", "list")["items"]]


def test_the_quick_start_in_go(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module start\n\ngo 1.23\n")
    (tmp_path / "main.go").write_text(block("go"))
    for command in commands("Go"):
        subprocess.run(command, cwd=tmp_path, check=True, shell=True, timeout=LIMIT_S)
    subprocess.run(["go", "build", "-o", "start", "."], cwd=tmp_path, check=True, timeout=LIMIT_S)
    assert run(hosts, "./start", folder=tmp_path).startswith("in_inbox\nmessage ")


def test_the_pack_for_typescript_is_made_as_the_guide_says() -> None:
    making, installing = commands("TypeScript")
    assert making == f"cd {SDK / 'typescript'} && npm install && npm pack"
    assert installing == f"npm install {SDK / 'typescript' / packed_typescript().name}"
    ignored = subprocess.run(
        ["git", "check-ignore", "package-lock.json", packed_typescript().name, "dist/", "node_modules/"],
        cwd=SDK / "typescript",
        check=False,
        capture_output=True,
        text=True,
    )
    assert len(ignored.stdout.split()) == 4


def test_the_quick_start_in_typescript(hosts: tuple[Host, Host]) -> None:
    project = built_typescript()
    (project / "start.mjs").write_text(block("ts"))
    assert run(hosts, "node", "start.mjs", folder=project) == "in_inbox\nmessage are you there?\n"
