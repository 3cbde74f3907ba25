"""The name of a file under which other hosts know it too: its repository, and its path in there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

GIT_S = 10.0
DEFAULT_PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418"}
PLAIN_GIT = ("/usr/bin/env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "git")
"""Without what a hook of git would hand on."""
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^:/]*)(?::(?P<port>\d*))?/(?P<path>.*)"
)
_SCP = re.compile(r"(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^:/\[\]]{2,}):(?P<path>.*)")


def file_name(path: str, member: str) -> str:
    """Return the canonical name of a file or folder, which need not exist.

    In a git repository with a remote it is that repository and the path in it, such as `github.com/acme/app:src/a.py`;
    without a remote, the repository is named by its first commit. Elsewhere the file is one of this member's host.
    """
    absolute = os.path.realpath(path)
    folder = _existing_folder(absolute)
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top or not _is_inside(absolute, os.path.realpath(top)):
        return f"@{member}:{absolute}"
    inside = os.path.relpath(absolute, os.path.realpath(top))
    remotes = (_git(folder, "remote")).split()
    repository = ""
    if remotes:
        chosen = "origin" if "origin" in remotes else min(remotes)
        repository = repository_name(_git(folder, "remote", "get-url", chosen))
    if not repository:
        roots = (_git(folder, "rev-list", "--max-parents=0", "HEAD")).split()
        repository = f"git-{min(roots)[:12]}" if roots else ""
    return f"{repository}:{inside}" if repository else f"@{member}:{absolute}"


def repository_name(url: str) -> str:
    """Return host and path of a remote, without user, password, default port and `.git`; empty for a local one.

    >>> repository_name("git@GitHub.com:acme/app.git")
    'github.com/acme/app'
    >>> repository_name("https://user:secret@github.com/acme/app/")
    'github.com/acme/app'
    """
    found = _URL.fullmatch(url)
    port = ""
    if found is not None:
        scheme = found["scheme"].lower().removeprefix("git+")
        if scheme == "file":
            return ""
        if found["port"] and found["port"] != DEFAULT_PORTS.get(scheme):
            port = f":{found['port']}"
    else:
        found = _SCP.fullmatch(url)
    if found is None or not found["host"]:
        return ""
    inside = found["path"].strip("/").removesuffix(".git").strip("/")
    return f"{found['host'].lower()}{port}/{inside}" if inside else ""


def _existing_folder(path: str) -> str:
    folder = Path(path)
    while not folder.is_dir():
        folder = folder.parent
    return str(folder)


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _git(folder: str, *words: str) -> str:
    """Return what git prints, without the line's end; empty if it fails, or is not installed."""
    try:
        ran = subprocess.run(  # noqa: S603 - constants and a folder
            [*PLAIN_GIT, "-C", folder, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(ran.stdout).removesuffix("\n") if ran.returncode == 0 else ""
