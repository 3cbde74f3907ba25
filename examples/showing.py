"""Running real commands for a tour: on a pseudo-terminal, as a person would see them, or behind a pipe, as an agent would."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BOLD, DIM, PLAIN = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "", "")


def on_pipe(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What a program gets, both streams, and the exit code."""
    ended = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return f"{ended.stdout}{ended.stderr}(exit code {ended.returncode})"


def on_terminal(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[str, int]:
    """What a person sees, with overwritten lines gone, and the exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass  # Linux reports the closed terminal as an error, macOS as an empty read
        finally:
            os.close(ours)
    lines = seen.decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rsplit("\r\x1b[K", 1)[-1] for line in lines), process.returncode


def heading(text: str) -> None:
    say(f"\n{BOLD}{textwrap.fill(text, 100)}{PLAIN}")


def typed(line: str) -> None:
    say(f"{DIM}$ {line}{PLAIN}")


def shown(text: str) -> None:
    say(textwrap.indent(text.rstrip(), "  "))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
