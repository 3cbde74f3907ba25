"""What compilers and checkers say about the SDKs, and that they can be installed into clean projects."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from sdk.generate.__main__ import SDK
from tests.sdk.tools import built_typescript, run

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
COMPILED_S = 900
"""Within which Go has fetched and compiled it, once on each machine."""
GO_PROGRAM = """package main

import (
	"context"
	"fmt"

	covey "covey.example/sdk"
)

func main() {
	_, err := covey.ConnectMesh("nowhere", "/nonexistent")
	node, _ := covey.ConnectNode("/nonexistent")
	_, silence := node.BeatsList(context.Background())
	fmt.Println(covey.IsError(err, "no_mesh"), covey.IsError(silence, "daemon_not_running"))
}
"""
PYTHON_PROGRAM = """
import sys
before = set(sys.modules)
from covey_sdk import CoveyError, Mesh, Node, NotRunningError
try:
    Mesh("nowhere", home="/nonexistent")
except CoveyError as error:
    print(error.error)
try:
    Node("/nonexistent").beats.list()
except NotRunningError as error:
    print(error.error)
foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"covey_sdk", "__main__"}
print(sorted(name for name in foreign if name not in before))
"""
NODE_PROGRAM = """
import { Mesh, Node } from "@covey/sdk";
await Mesh.connect("nowhere", "/nonexistent").catch((error) => console.log(error.error));
const node = await Node.connect("/nonexistent");
await node.beats.list().catch((error) => console.log(error.error));
"""


def test_the_go_sdk_is_formatted_vetted_and_built_in_a_clean_module(tmp_path: Path) -> None:
    assert run("gofmt", "-l", ".", folder=SDK / "go") == ""
    run("go", "vet", "./...", folder=SDK / "go")
    assert (SDK / "go" / "go.mod").read_text().split("\n")[3:] == [""], "it requires no other module"
    module = (
        f"module clean\n\ngo 1.23\n\nrequire covey.example/sdk v0.0.0\n\nreplace covey.example/sdk => {SDK / 'go'}\n"
    )
    (tmp_path / "go.mod").write_text(module)
    (tmp_path / "main.go").write_text(GO_PROGRAM)
    assert run("go", "run", ".", folder=tmp_path) == "true true\n"


@pytest.mark.first
@pytest.mark.timeout(COMPILED_S)
def test_staticcheck_finds_nothing_in_the_go_sdk() -> None:
    assert run("go", "run", STATICCHECK, "./...", folder=SDK / "go", limit_s=COMPILED_S) == ""


def test_the_typescript_sdk_needs_no_package_and_is_typed_strictly() -> None:
    project = built_typescript()  # compiled with tsc --strict
    assert json.loads((SDK / "typescript" / "tsconfig.json").read_text())["compilerOptions"]["strict"]
    installed = project / "node_modules" / "@covey" / "sdk"
    assert "dependencies" not in json.loads((installed / "package.json").read_text())
    assert {"index.js", "index.d.ts"} <= {path.name for path in (installed / "dist").iterdir()}
    (project / "clean.mjs").write_text(NODE_PROGRAM)
    assert run("node", "clean.mjs", folder=project) == "no_mesh\ndaemon_not_running\n"


def test_the_python_sdk_is_installed_from_its_wheel_and_imports_the_standard_library_only(tmp_path: Path) -> None:
    program = "import sys, hatchling.build; print(hatchling.build.build_wheel(sys.argv[1]))"
    built = run(sys.executable, "-c", program, str(tmp_path), folder=SDK / "python").strip()
    venv.create(tmp_path / "clean", symlinks=True)
    python = str(tmp_path / "clean" / "bin" / "python")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        python,
        "install",
        "--no-index",
        "-q",
    ]
    subprocess.run([*pip, str(tmp_path / built)], check=True, timeout=100)
    assert run(python, "-I", "-c", PYTHON_PROGRAM, folder=tmp_path).split() == ["no_mesh", "daemon_not_running", "[]"]


def test_the_sdks_have_one_version() -> None:
    python = re.search(r'^version = "(.+)"', (SDK / "python" / "pyproject.toml").read_text(), re.MULTILINE)
    assert python
    assert json.loads((SDK / "typescript" / "package.json").read_text())["version"] == python[1]
