"""Runs commands in shells, one after the other, inside of a sandbox. Standard library only; it is given as text."""

# ruff: noqa: S108 - /tmp is the sandbox's own

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
KEPT = HOME / ".keep"
"""A file outside of the workspace that nothing may delete."""
TEMPLATE = Path("/tmp/template")
FAKES = Path("/tmp/fakes")
DEVICE = Path("/dev/sda")
DENIED = "sudo su doas pkexec shutdown reboot halt poweroff telinit init mkfs mkfs.ext4 shred wipefs systemctl".split()
FAKE = """#!/bin/dash
printf '\\036%s\\037%s' "${0##*/}" "$PWD" >>/tmp/ran
for one; do printf '\\037%s' "$one"; done >>/tmp/ran
"""
LIMIT_S = 1
WITHOUT_SETTINGS = {"fish": ("--no-config",), "zsh": ("-f",)}


def main() -> None:
    """Read shells and commands as JSON; write what ran for each, a line for each command."""
    given = json.load(sys.stdin)
    bare = {"HOME": str(HOME), "PATH": "/tmp/fakes:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "USER": "me", "TERM": "dumb"}
    for text in given["commands"]:
        print(json.dumps({shell: _ran(shell, text, bare) for shell in given["shells"]}), flush=True)  # noqa: T201


def _prepare(environment: dict[str, str]) -> None:
    """Make the stand-ins and the template, at first and when a command has deleted them."""
    if all((FAKES / name).exists() for name in (*DENIED, "rm")) and (TEMPLATE / "g").exists():
        return
    for folder in (FAKES, TEMPLATE):
        shutil.rmtree(folder, ignore_errors=True)
    FAKES.mkdir()
    for name in (*DENIED, "rm"):
        (FAKES / name).write_text(FAKE)
        (FAKES / name).chmod(0o755)
    _make_template(environment)


def _make_template(environment: dict[str, str]) -> None:
    """Make a workspace with a repository of two commits."""
    TEMPLATE.mkdir()
    git = ("git", "-c", "user.name=me", "-c", "user.email=me@x")
    before: tuple[tuple[str, ...], ...] = (
        ("git", "init", "-q"),
        (*git, "commit", "-q", "--allow-empty", "-m", "first"),
    )
    for words in before:
        subprocess.run(words, cwd=TEMPLATE, env=environment, check=True, capture_output=True)
    (TEMPLATE / "g").write_text("one\n")
    (TEMPLATE / "src").mkdir()
    after: tuple[tuple[str, ...], ...] = (("git", "add", "."), (*git, "commit", "-q", "-m", "second"))
    for words in after:
        subprocess.run(words, cwd=TEMPLATE, env=environment, check=True, capture_output=True)
    shutil.rmtree(TEMPLATE / ".git" / "hooks", ignore_errors=True)


def _ran(shell: str, text: str, environment: dict[str, str]) -> list[str]:
    """Return what of the denied things a shell does for a text."""
    _prepare(environment)
    for folder in HOME.iterdir() if HOME.exists() else ():
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        else:
            shutil.rmtree(folder, ignore_errors=True)
    HOME.mkdir(parents=True, exist_ok=True)
    shutil.copytree(TEMPLATE, WORK)
    KEPT.write_text("kept\n")
    RAN.write_text("")
    DEVICE.unlink(missing_ok=True)
    with contextlib.suppress(ValueError, OSError):
        started = subprocess.Popen(
            [shell, *WITHOUT_SETTINGS.get(shell, ()), "-c", text],
            cwd=WORK, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=_limits,  # noqa: PLW1509 - one thread
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(LIMIT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    ran = RAN.read_text(errors="replace") if RAN.exists() else ""
    calls = [one.split("\x1f") for one in ran.split("\x1e") if one]
    found = [
        name
        for name, folder, *words in calls
        if (name in DENIED and _is_denied(name, words)) or (name == "rm" and _harms(folder, words))
    ]
    found += ["deleted"] * (not KEPT.exists()) + ["device"] * DEVICE.exists()
    return sorted(set(found))


def _is_denied(name: str, words: list[str]) -> bool:
    """Return whether a call of a program is a denied act: of some programs not every call is."""
    if name == "systemctl":
        return bool({"poweroff", "reboot", "halt", "reboot.target", "poweroff.target"} & set(words))
    return name != "init" or words[:1] in (["0"], ["6"])


def _harms(folder: str, words: list[str]) -> bool:
    """Return whether rm was told to delete a folder outside of the workspace, or the file that is to be kept."""
    options = [word for word in words if word.startswith("-") and word != "-"]
    targets = [os.path.realpath(os.path.join(folder, word)) for word in words if word not in options]  # noqa: PTH118 - as the shell does
    recursive = any(
        (one != "--" and "--recursive".startswith(one)) if one.startswith("--") else "r" in one.lower()
        for one in options
    )
    outside = [one for one in targets if not one.startswith((f"{WORK}/", "/tmp/", "/var/tmp/"))]
    return str(KEPT) in targets or (recursive and bool(outside))


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
