"""Gemini CLI: takes a conversation, a model and an approval mode per launch, and nothing else.

Learnt from running it (0.61.0). Hooks and MCP servers are read from settings files only: the user's, the workspace's,
or one that belongs to root. GEMINI_SYSTEM_MD replaces the whole system prompt, with the rules for its tools in it;
GEMINI_CLI_HOME replaces the user's settings, login and conversations. Files of another folder that is included in the
workspace would be read as context, but Gemini asks whether to trust that folder, and its tools may write there. A
conversation belongs to its folder, and can be resumed once it has a prompt.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from covey.agents.gemini import AGENT
from covey.agents.headless import guarding
from covey.agents.json_values import content_text, json_object, json_objects, parse_object
from covey.agents.launching import Draft, given, home_folder, require_uuid, value_of
from covey.agents.signals.ids import safe_id
from covey.kernel.regular_file import open_regular, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from covey.agents.launching import LaunchPlan, LaunchRequest

CONTEXT = "<session_context>"
"""The beginning of a message that Gemini itself puts before the first prompt."""
LONGEST_PATH = 4096
REFUSED = (
    *("--resume", "-r", "--session-id", "--session-file", "--list-sessions", "--delete-session"),
    *("--prompt", "-p", "--acp", "--experimental-acp", "--list-extensions", "-l"),
)
COMMANDS = "mcp extensions extension skills skill hooks hook gemma"
NO_HOOKS = "Gemini CLI takes no hooks for one launch: `covey integrate gemini` puts them into its settings."
NO_TOOLS = (
    "Gemini CLI takes no MCP server for one launch: put `covey mcp` into the mcpServers of its settings if it is to "
    "use Covey's tools."
)
NO_PROMPT = (
    "Gemini CLI takes no addition to its system prompt for one launch: write what it must know into a GEMINI.md, or "
    "send it as a message."
)


class GeminiLaunching:
    chooses_id = True
    permission_modes = ("default", "auto_edit", "plan", "yolo")
    home_variable = "GEMINI_CLI_HOME"

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        draft = Draft(AGENT, request)
        draft.refuse(*REFUSED, commands=COMMANDS)
        if request.conversation:
            option = "--resume" if request.resume else "--session-id"
            draft.add(option, require_uuid(AGENT, request.conversation))
        draft.add("--skip-trust")
        if request.model:
            draft.add("--model", request.model, what="The model is", unless=("--model", "-m"))
        if mode := draft.mode(self.permission_modes):
            own = ("--approval-mode", "--yolo", "-y")
            draft.add("--approval-mode", mode, what="The permission mode is", unless=own)
        own_mode = value_of(request.args, "--approval-mode")
        skips = bool(given(request.args, ("--yolo", "-y")))
        if rules := draft.guard(asks_nobody=skips or (own_mode or mode) == "yolo"):
            programs = request.folder / "bin"
            draft.programs[programs / "bash"] = guarding.shell_program(rules).encode()
            draft.env["PATH"] = os.pathsep.join([str(programs), request.environ.get("PATH", os.defpath)])
        if request.hooks is None:
            draft.left_out.append(NO_HOOKS)
        if request.tools:
            draft.left_out.append(NO_TOOLS)
        if request.system_prompt:
            draft.left_out.append(NO_PROMPT)
        return draft.plan(prompts=("", "--prompt-interactive", "-i"))

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether there is a transcript with a prompt among those of the folder."""
        known = safe_id(conversation)
        folder = home_folder(environ, self.home_variable) / ".gemini" / "tmp"
        files = folder.glob(f"*/chats/session-*-{known[:8]}.jsonl") if known else ()
        return any(_is_of(file, cwd) and _has_prompt(file, known) for file in files)


def _is_of(file: Path, cwd: str) -> bool:
    try:
        return read_regular(file.parents[1] / ".project_root", LONGEST_PATH).decode(errors="replace").strip() == cwd
    except OSError:
        return False


def _has_prompt(file: Path, conversation: str) -> bool:
    try:
        with open_regular(file) as lines:
            head = parse_object(lines.readline().decode(errors="replace"))
            return head.get("sessionId") == conversation and any(map(_is_prompt, _messages(lines)))
    except OSError:
        return False


def _messages(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for text in lines:
        line = parse_object(text.decode(errors="replace"))
        yield line
        yield from json_objects(json_object(line.get("$set")).get("messages"))


def _is_prompt(message: dict[str, Any]) -> bool:
    return message.get("type") == "user" and not content_text(message.get("content")).startswith(CONTEXT)


LAUNCHING = GeminiLaunching()
