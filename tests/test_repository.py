"""The root of the repository holds what is known, and nothing that was left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {
    ".ci",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "bench",
    "docs",
    "examples",
    "lab",
    "packages",
    "pyproject.toml",
    "requirements-lowest.lock",
    "requirements-models.lock",
    "requirements.lock",
    "run",
    "sdk",
    "src",
    "tests",
}


def git(*words: str, stdin: str = "") -> str:
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a clone")
def test_the_root_holds_only_what_is_known() -> None:
    assert {name.partition("/")[0] for name in git("ls-files", "-z").split("\0") if name} == KNOWN


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a clone")
def test_what_tools_leave_behind_is_ignored() -> None:
    litter = [
        "node_modules/.bin/codex",
        "out.log",
        "v.out",
        ".venv/ready",
        ".venv-lowest/ready",
        ".venv-lowest.lock/pid",
    ]
    ignored = git("check-ignore", "--no-index", "--stdin", stdin="\n".join(litter))
    assert ignored.split() == litter
