"""Runs commands in shells, one after the other, inside of a sandbox. Standard library only; it is given as text."""

# ruff: noqa: S108, S105 - /tmp is the sandbox's own, and the secret is none

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

RAN = Path("/tmp/ran")
HOME = Path("/home/me")
WORK = HOME / "work"
SECRET = "secret-of-the-folder"
FAKE = '#!/bin/dash\nprintf "\\036%s" "${0##*/} $*" >>/tmp/ran\n'
LIMIT_S = 1
WITHOUT_SETTINGS = {"fish": ("--no-config",), "zsh": ("-f",)}


def main() -> None:
    """Read shells and commands as JSON; write what ran for each, a line for each command."""
    given = json.load(sys.stdin)
    bare = {"HOME": str(HOME), "PATH": "/tmp/fakes:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "USER": "me"}
    fakes = Path("/tmp/fakes")
    fakes.mkdir()
    for name in ("rm", "git"):
        (fakes / name).write_text(FAKE)
        (fakes / name).chmod(0o755)
    for text in given["commands"]:
        print(json.dumps({shell: _ran(shell, text, bare) for shell in given["shells"]}), flush=True)  # noqa: T201


def _ran(shell: str, text: str, environment: dict[str, str]) -> list[str]:
    """Return what of the denied things a shell does for a text."""
    for folder in HOME.iterdir() if HOME.exists() else ():
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.name != ".config":
            shutil.rmtree(folder, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    (HOME / ".ssh").mkdir()
    (HOME / ".ssh/id").write_text(f"{SECRET}\n")
    (WORK / "g").write_text("one\n")
    RAN.write_text("")
    output = Path("/tmp/output")
    with output.open("wb") as out, contextlib.suppress(ValueError, OSError):
        started = subprocess.Popen(
            [shell, *WITHOUT_SETTINGS.get(shell, ()), "-c", text],
            cwd=WORK, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True, preexec_fn=_limits,  # noqa: PLW1509 - one thread
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(LIMIT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    lines = RAN.read_text(errors="replace").split("\x1e")
    found = {"rm" for line in lines if line.startswith("rm")}
    found |= {"push" for line in lines if _is_push(line.split())}
    if SECRET.encode() in output.read_bytes():
        found.add("secret")
    return sorted(found)


def _is_push(words: list[str]) -> bool:
    """Return whether a call of git is `git push`, with whatever options in front of it."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c") else 1
    return words[:1] == ["git"] and words[at : at + 1] == ["push"]


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
