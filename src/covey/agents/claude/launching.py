"""Claude Code: everything is given on the command line.

Learnt from running it (2.1.325). An id can be chosen for a new conversation only, and a conversation without a prompt
is not stored; --resume with anything but a UUID opens a list to choose from. --mcp-config takes all words that follow
unless its value is joined to it. CLAUDE_CODE_SANDBOXED answers the question whether the folder is trusted, and nothing
else: Claude asks for permissions as ever, but the settings of the folder (rules, hooks) apply, as after a yes. It
answers for every folder into which the session moves, and commands that Claude runs inherit it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from covey.agents.claude import AGENT
from covey.agents.headless import guarding
from covey.agents.json_values import json_object, json_objects, parse_object
from covey.agents.launching import Draft, given, home_folder, require_uuid, value_of
from covey.agents.signals.ids import safe_id
from covey.kernel.regular_file import open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from covey.agents.launching import LaunchPlan, LaunchRequest

REFUSED = (
    *("--resume", "-r", "--continue", "-c", "--session-id", "--from-pr", "--fork-session"),
    *("--print", "-p", "--bg", "--background", "--cloud", "--desktop", "--teleport", "--tmux"),
)
COMMANDS = (
    "agents attach auth auto-mode doctor gateway import install kill logs mcp plugin plugins purge respawn rm "
    "setup-token stop ultrareview update upgrade"
)
ASKS_NOBODY = ("auto", "bypassPermissions", "dontAsk")
GUARD = "The guard, which refuses what harms where nobody is asked, and Covey's hooks are"
PROMPTS = ("--append-system-prompt", "--append-system-prompt-file", "--system-prompt", "--system-prompt-file")


class ClaudeLaunching:
    chooses_id = True
    permission_modes = ("acceptEdits", "auto", "bypassPermissions", "dontAsk", "manual", "plan")
    home_variable = "CLAUDE_CONFIG_DIR"

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        draft = Draft(AGENT, request)
        draft.refuse(*REFUSED, commands=COMMANDS)
        if request.conversation:
            option = "--resume" if request.resume else "--session-id"
            draft.add(option, require_uuid(AGENT, request.conversation))
        if request.model:
            draft.add("--model", request.model, what="The model is", unless=("--model",))
        if mode := draft.mode(self.permission_modes):
            own = ("--permission-mode", "--dangerously-skip-permissions")
            draft.add("--permission-mode", mode, what="The permission mode is", unless=own)
        if request.system_prompt:
            words = ("--append-system-prompt", request.system_prompt)
            draft.add(*words, what="Covey's system prompt is", unless=PROMPTS)
        own_mode = value_of(request.args, "--permission-mode")
        skips = bool(given(request.args, ("--dangerously-skip-permissions",)))
        if rules := draft.guard(asks_nobody=skips or (own_mode or mode) in ASKS_NOBODY):
            _add_guard(draft, request, rules)
        else:
            draft.add_hooks("--settings")
        if tools := request.tools:
            header = {"Authorization": f"Bearer ${{{tools.token_variable}}}"}
            servers = {tools.name: {"type": "http", "url": tools.url, "headers": header}}
            draft.add(f"--mcp-config={json.dumps({'mcpServers': servers})}")
            draft.add(f"--allowedTools={','.join(f'mcp__{tools.name}__{tool}' for tool in tools.names)}")
        draft.env["CLAUDE_CODE_SANDBOXED"] = "1"
        return draft.plan()

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether there is a transcript with a prompt; the folder does not matter."""
        del cwd
        known = safe_id(conversation)
        folder = home_folder(environ, self.home_variable, ".claude") / "projects"
        return bool(known) and any(_has_prompt(file) for file in folder.glob(f"*/{known}.jsonl"))


def _add_guard(draft: Draft, request: LaunchRequest, rules: str) -> None:
    """Add the guard to the hooks that Covey gives to the session: only one file of settings can be named."""
    files = request.hooks.files if request.hooks else {}
    settings = parse_object(next(iter(files.values()), b"{}").decode())
    hooks = json_object(settings.get("hooks"))
    hooks["PreToolUse"] = [*json_objects(hooks.get("PreToolUse")), guarding.hook_entry(rules)]
    file = request.folder / "settings.json"
    draft.files[file] = json.dumps({**settings, "disableAllHooks": False, "hooks": hooks}).encode()
    draft.add("--settings", str(file), what=GUARD, unless=("--settings",))


def _has_prompt(file: Path) -> bool:
    try:
        with open_regular(file) as lines:
            return any(b'"type":"user"' in line for line in lines)
    except OSError:
        return False


LAUNCHING = ClaudeLaunching()
