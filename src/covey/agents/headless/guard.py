"""Refuses what an agent may not do while it asks nobody: a program that the agent's hooks run for each call of a tool.

`guard.py RULES` reads the call from standard input. RULES is a file as `guarding` writes it. Exit code 0 lets the call
pass; 2 refuses it, with the reason on standard error for the model, and so does everything that goes wrong here.

With `--for-copilot` it answers in the JSON that Copilot reads, and ends with 0; with `--for-copilot-grants` it grants
what may pass, too.

`guard.py RULES --as-bash ARGUMENTS` is for an agent without hooks that starts its commands by `bash -c`: it stands
before bash on the agent's PATH, and becomes the real one if the command may run.

It judges by the rules and the readers of `covey.policy`. A program may still do what is forbidden by itself: a script
that the agent wrote, a makefile.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if __name__ == "__main__":
    # It is started by its path, where Covey may not be installed.
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    # An agent waits for each start, and msgspec does without this.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]

from covey.agents.headless.guarding import BASH, COPILOT, COPILOT_GRANTS, LIMIT_S, REFUSED
from covey.policy.decision import ALLOW, DENY
from covey.policy.destructive.judge import objection
from covey.policy.destructive.targets import TEMPORARY, Place
from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall

if TYPE_CHECKING:
    from covey.policy.tools import Tools

CHARACTERS = 200
REFUSES, CANNOT_RUN = 2, 126
_COMMANDS = ("command", "cmd", "script", "code", "input", "chars")
"""Keys in the input of a tool that is not declared whose value may be a command."""
_GEMINI = re.compile(
    r"(?:shopt -u [a-z ]+; )?_bgpids_file=\S+\n\(\n  trap 'jobs -p > \"\$_bgpids_file\"' EXIT\n"
    r"(.*)\n\)\n__code=\$\?\nexit \$__code",
    re.DOTALL,
)
"""What Gemini CLI (0.61.0) puts around each command."""


class Refusal(NamedTuple):
    """What is refused, such as `Bash(sudo ls)`, and why, for the model."""

    what: str
    why: str


class Guard:
    """Judges calls of tools by one file of rules."""

    def __init__(self, rules: dict[str, Any], home: str) -> None:
        self._agent = rules["agent"]
        self._tools: Tools = import_module(f"covey.agents.{self._agent}.tools").TOOLS
        self._workspace = rules["workspace"]
        self._folder_lasts = rules["folder_lasts"]
        self._home = home
        denies = [
            {"name": str(at), "effect": "deny", "tool": tool, **({} if pattern is None else {"command": pattern})}
            for at, (tool, pattern) in enumerate(rules["rules"])
        ]
        self._named = [tool if pattern is None else f"{tool}({pattern})" for tool, pattern in rules["rules"]]
        self._policy = Policy([{"name": "other", "effect": "allow", "tool": "*"}, *denies], home=home)
        if self._policy.unreadable:
            raise ValueError(self._policy.unreadable)

    def refusal(self, asked: dict[str, Any]) -> Refusal | None:
        """Return why a call is refused; None if it may pass. Raises if it is not a call at all.

        What is not a shell is refused by its name only: of a tool that is not declared, and not of an MCP server, each
        text that may be a command is judged as one.
        """
        tool, given = asked["tool_name"], asked["tool_input"]
        call = self._tools.read(tool, given)
        folder = posixpath.join(str(asked.get("cwd") or self._workspace), call.folder)
        if call.kind == SHELL:
            unread = Refusal(_shown(tool, json.dumps(given)), f"it is not understood: {call.unread}")
            return unread if call.unread else self.of_command(call.command, folder, tool)
        texts = [given.get(key) for key in _COMMANDS] if isinstance(given, dict) and not self._tools.knows(tool) else []
        for text in texts:
            if text is not None and (found := self.of_command(str(text), folder, tool)):
                return found
        shown = given.get("command") if isinstance(given, dict) else None
        return self._by_rules(tool, ToolCall(kind=call.kind), shown if isinstance(shown, str) else json.dumps(given))

    def of_command(self, command: str, folder: str, tool: str = "Bash") -> Refusal | None:
        """Return why a command is refused in a folder; None if it may run."""
        place = Place(
            folder=folder,
            workspace=self._workspace,
            home=self._home,
            temporary=(*TEMPORARY, *filter(None, [os.environ.get("TMPDIR", "").rstrip("/")])),
            resolve=os.path.realpath,
            folder_lasts=self._folder_lasts,
        )
        why = objection(command, place)
        return (
            Refusal(_shown(tool, command), why)
            if why
            else self._by_rules(tool, ToolCall(kind=SHELL, command=command), command, folder)
        )

    def _by_rules(self, tool: str, call: ToolCall, shown: str, folder: str = "") -> Refusal | None:
        decision = self._policy.decide(PolicyRequest(agent=self._agent, tool=tool, call=call, folder=folder))
        if decision.effect == ALLOW or (call.kind != SHELL and decision.effect != DENY):
            return None
        pattern = self._named[int(decision.rule)] if decision.rule.isdecimal() else ""
        why = f"the deny list forbids {pattern}" if pattern else f"the deny list may forbid it ({decision.why})"
        return Refusal(_shown(tool, shown), why)


def _shown(tool: str, text: str) -> str:
    return f"{tool}({' '.join(text.split())[:CHARACTERS]})"


def main() -> int:
    """Judge the call on standard input, or run the command of the arguments as bash would."""
    signal.alarm(LIMIT_S)  # its end is not exit code 0: the agent takes that for a refusal
    option = "".join(sys.argv[2:3])
    try:
        guard = Guard(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), str(Path.home()))
        if option == BASH:
            found = _of_arguments(guard, sys.argv[3:])
        else:
            found = guard.refusal(json.loads(sys.stdin.buffer.read()))
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing may pass because of it
        found = Refusal(f"a tool, for what was asked cannot be judged ({type(error).__name__})", "")
    if found:
        return _refuse("\n".join(filter(None, (f"{REFUSED}{found.what}", found.why))), option)
    if option == COPILOT_GRANTS:
        sys.stdout.write(json.dumps({"permissionDecision": "allow"}))
    if option == BASH:
        signal.alarm(0)
        _become_bash(sys.argv[3:])
    return 0


def _refuse(text: str, option: str) -> int:
    if option in {COPILOT, COPILOT_GRANTS}:
        sys.stdout.write(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": text}))
        return 0
    sys.stderr.write(text)
    return CANNOT_RUN if option == BASH else REFUSES


def _of_arguments(guard: Guard, arguments: list[str]) -> Refusal | None:
    if "-c" not in arguments[:-1]:
        return None
    text = arguments[arguments.index("-c") + 1]
    whole = _GEMINI.fullmatch(text)
    return guard.of_command(whole[1] if whole else text, str(Path.cwd()))


def _become_bash(arguments: list[str]) -> None:
    """Run the real bash, with a PATH on which no guard is before it."""
    own = Path(sys.argv[1]).resolve().parent
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).resolve().parent != own)
    environment = {**os.environ, "PATH": path}
    os.execvpe("bash", ["bash", *arguments], environment)  # noqa: S606, S607 - bash, as the agent meant it


if __name__ == "__main__":
    sys.exit(main())
