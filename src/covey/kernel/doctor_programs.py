"""The doctor's look at other programs: tmux, ssh, and the agents that are installed.

Agents are asked for their version and nothing else, and with a home of their own that is thrown away: `--version` alone makes Copilot unpack 235 MB into the
user's cache, Gemini leave files in ~/.gemini and opencode make its directories (seen with 1.0.102, 0.61.0 and 1.18.33). Where npm's package.json lies beside
the program it is read instead, and nothing is run at all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING

from covey.kernel.finding import FAIL, OK, WARN, Finding
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.probe import Ran, Run

AGENTS = {
    "claude": ("@anthropic-ai/claude-code", "npm install -g @anthropic-ai/claude-code"),
    "codex": ("@openai/codex", "npm install -g @openai/codex"),
    "gemini": ("@google/gemini-cli", "npm install -g @google/gemini-cli"),
    "copilot": ("@github/copilot", "npm install -g @github/copilot"),
    "cursor-agent": ("", "curl https://cursor.com/install -fsS | bash"),
    "opencode": ("opencode-ai", "npm install -g opencode-ai"),
}
"""Agent programs: the npm package, and what installs it anew. (The npm package called cursor-agent is something else.)"""
_OLDEST_TMUX = (3, 2)
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_LONGEST_QUOTE = 60
_LONGEST_PACKAGE_FILE = 1 << 20
_MANAGERS = {
    "apt-get": "sudo apt-get install {}",
    "dnf": "sudo dnf install {}",
    "pacman": "sudo pacman -S {}",
    "zypper": "sudo zypper install {}",
    "apk": "sudo apk add {}",
    "brew": "brew install {}",
}
_SSH_PACKAGES = {"dnf": "openssh-clients", "zypper": "openssh-clients", "pacman": "openssh", "brew": "openssh"}


class Programs:
    """The programs on one PATH."""

    def __init__(self, environ: Mapping[str, str], run: Run, deadline: float, scratch: str) -> None:
        self._environ = environ
        self._run = run
        self._deadline = deadline
        self._scratch = scratch

    def tmux(self) -> Finding:
        """Whether tmux is here and new enough for what we ask of its control mode."""
        path = self._which("tmux")
        if path is None:
            return Finding("tools", "tmux", FAIL, "not found; Covey sees agents through it", self._install("tmux"))
        ran = self._run([path, "-V"], self._environ, self._deadline)
        version = _first_line(ran.out).removeprefix("tmux ")
        number = re.search(r"(\d+)\.(\d+)", version)
        if ran.code != 0 or not version:
            return Finding("tools", "tmux", FAIL, _complaint(ran), self._install("tmux"))
        if number is None:  # "master": built from the newest source
            return Finding("tools", "tmux", OK, version)
        if (int(number[1]), int(number[2])) < _OLDEST_TMUX:
            oldest = ".".join(map(str, _OLDEST_TMUX))
            lacks = f"{version} is older than {oldest}: no client flags and no subscriptions in control mode, so that Covey has to poll"
            return Finding("tools", "tmux", WARN, lacks, self._install("tmux").replace("brew install", "brew upgrade"))
        return Finding("tools", "tmux", OK, version)

    def ssh(self) -> Finding:
        """Whether other hosts can be reached."""
        path = self._which("ssh")
        manager = self._manager()
        if path is None:
            return Finding(
                "tools", "ssh", WARN, "not found; other hosts cannot be reached", self._install(_SSH_PACKAGES.get(manager, "openssh-client"))
            )
        ran = self._run([path, "-V"], self._environ, self._deadline)
        version = _first_line(ran.err) or _first_line(ran.out)
        if ran.code != 0 or not version:
            return Finding("tools", "ssh", WARN, _complaint(ran), self._install(_SSH_PACKAGES.get(manager, "openssh-client")))
        return Finding("tools", "ssh", OK, version.partition(",")[0])

    def notifier(self, command: Sequence[str] | None) -> list[Finding]:
        """Whether the command that tells a person exists; nothing to find if there is to be none."""
        if not command:
            return []
        path = self._which(os.path.expanduser(command[0]))
        if path is None:
            lacks = f"attention.notify names {command[0]}, which is not there or cannot be run, so that nobody is told when something needs them"
            return [Finding("tools", "notify", WARN, lacks, "covey config unset attention.notify")]
        return [Finding("tools", "notify", OK, path)]

    def agent(self, name: str) -> Finding:
        """Whether an agent is installed, and which version."""
        package, install = AGENTS[name]
        path = self._which(name)
        if path is None:
            return Finding("agents", name, OK, "not installed")
        version = _version_of_package(path, package) if package else ""
        if version:
            return Finding("agents", name, OK, version)
        if "shim" in os.path.realpath(path):  # asdf, mise, volta, nodenv: without the user's own home these find nothing
            return Finding("agents", name, OK, f"{path} (a version manager's; not asked)")
        home = os.path.join(self._scratch, name)
        os.makedirs(home, mode=0o700)
        ran = self._run([path, "--version"], _with_home(self._environ, home), self._deadline)
        if ran.code != 0:
            return Finding("agents", name, WARN, f"{path} {_complaint(ran)}", install)
        said = next((found[0] for text in (ran.out, ran.err) for line in text.splitlines() if (found := _VERSION.search(_plain(line)))), "")
        if not said:
            return Finding("agents", name, WARN, f"{path} tells no version: {_quote(_first_line(ran.out) or _first_line(ran.err))}", install)
        return Finding("agents", name, OK, said[:_LONGEST_QUOTE].rstrip(".+-"))

    def _which(self, name: str) -> str | None:
        return shutil.which(name, path=self._environ.get("PATH", os.defpath))

    def _manager(self) -> str:
        return next((name for name in _MANAGERS if self._which(name)), "")

    def _install(self, package: str) -> str:
        """The command that installs a package here."""
        return _MANAGERS.get(self._manager(), "install {} with your package manager").format(package)


def _with_home(environ: Mapping[str, str], home: str) -> dict[str, str]:
    """An environment in which a program finds and leaves nothing of the user's."""
    kept = {
        name: value for name, value in environ.items() if not name.startswith(("XDG_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE"))
    }
    return {**kept, "HOME": home, "NO_COLOR": "1", "DISABLE_AUTOUPDATER": "1"}


def _version_of_package(program: str, package: str) -> str:
    """The version in the package.json of an npm installation."""
    directory = os.path.dirname(os.path.realpath(program))
    for _ in range(3):
        try:
            described = json.loads(read_regular(os.path.join(directory, "package.json"), _LONGEST_PACKAGE_FILE))
            if isinstance(described, dict) and described.get("name") == package:
                return _plain(str(described.get("version", "")))[:_LONGEST_QUOTE]
        except (OSError, ValueError, RecursionError):
            pass
        directory = os.path.dirname(directory)
    return ""


def _complaint(ran: Ran) -> str:
    """Why a program was of no use, in a few words."""
    said = _first_line(ran.err) or _first_line(ran.out)
    return ran.problem or f"ended with code {ran.code}" + (f": {_quote(said)}" if said else "")


def _first_line(text: str) -> str:
    return next((_plain(line) for line in text.splitlines() if line.strip()), "")


def _plain(text: str) -> str:
    """Without escape sequences and whatever else does not print."""
    return "".join(letter for letter in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text) if letter.isprintable()).strip()


def _quote(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…")
