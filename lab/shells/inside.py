"""Runs commands in shells, one after the other, inside of a sandbox. Standard library only; it is given as text."""

# ruff: noqa: S108, S105 - /tmp is the sandbox's own, and the secret is none

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
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
LIMIT_CPU_S = 1
LIMIT_S = 4
"""Longer than a shell computes, also on a busy machine: one that is stopped too early has shown nothing."""
WITHOUT_SETTINGS = {"fish": ("--no-config",), "zsh": ("-f",)}


def main() -> None:
    """Read shells and commands as JSON; write what ran for each, a line for each command."""
    given = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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
    _wait(_start([shell, *WITHOUT_SETTINGS.get(shell, ()), "-c", text], environment, output))
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


def _start(words: list[str], environment: dict[str, str], output: Path) -> subprocess.Popen[bytes] | None:
    """Start a program in a session of its own; None if it cannot be started. Without code between fork and exec."""
    with output.open("wb") as out, contextlib.suppress(ValueError, OSError):
        started = subprocess.Popen(
            words, cwd=WORK, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(started.pid, resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S))
        return started
    return None


def _wait(started: subprocess.Popen[bytes] | None) -> None:
    """Wait until a process has ended, without asking for it again and again; then end its session."""
    if started is None:
        return
    handle = os.pidfd_open(started.pid)
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.poll(LIMIT_S * 1000)
    os.close(handle)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


if __name__ == "__main__":
    main()
