"""Programs of the SDKs, built once for all tests of a session."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sdk.generate.__main__ import SDK

TYPESCRIPT_PLAYER = "play.mjs"
LIMIT_S = 300
CACHE = Path(os.environ["COVEY_SDK_CACHE"])


def run(*command: str, folder: Path, limit_s: float = LIMIT_S) -> str:
    """Return what a program printed. Fails with what it said."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit_s, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}: {ended.stdout}{ended.stderr}"
    return ended.stdout


def go_module(folder: Path) -> None:
    """Make a folder a Go module that uses the SDK, with the commands of the guide."""
    run("go", "mod", "init", "start", folder=folder)
    run(
        "go",
        "mod",
        "edit",
        "-require=covey.example/sdk@v0.0.0",
        f"-replace=covey.example/sdk={SDK / 'go'}",
        folder=folder,
    )


def built_go_player(folder: Path) -> str:
    """Build the player in Go, and return its path."""
    run("go", "build", "-o", str(folder / "play"), "./internal/play", folder=SDK / "go")
    return str(folder / "play")


@functools.cache
def packed_typescript() -> Path:
    """Pack the SDK for TypeScript, which compiles it, and return the pack.

    The compiler is fetched from npm once, and kept.
    """
    tools, project = CACHE / "typescript", Path(tempfile.mkdtemp(prefix="cv-ts-"))
    atexit.register(shutil.rmtree, project, ignore_errors=True)
    tools.mkdir(parents=True, exist_ok=True)
    source = project / "source"
    shutil.copytree(SDK / "typescript", source, ignore=shutil.ignore_patterns("node_modules", "dist", "*.tgz"))
    if (
        not (tools / "package.json").exists()
        or (tools / "package.json").read_text() != (source / "package.json").read_text()
    ):
        shutil.copy(source / "package.json", tools)
        run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", folder=tools)
    (source / "node_modules").symlink_to(tools / "node_modules")
    return source / run("npm", "pack", "--silent", folder=source).split()[-1]


@functools.cache
def built_typescript() -> Path:
    """Install the pack of the SDK for TypeScript into a clean project, and return the project's folder."""
    pack = packed_typescript()
    project = pack.parent.parent
    (project / "package.json").write_text('{"name": "clean", "private": true, "type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", str(pack), folder=project)
    shutil.copy(SDK / "conformance" / TYPESCRIPT_PLAYER, project)
    return project
