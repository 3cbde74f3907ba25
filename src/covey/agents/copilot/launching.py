"""GitHub Copilot CLI: options, and a folder of instructions that is named in the environment.

Learnt from running it (1.0.102). COPILOT_ALLOW_ALL=true answers the question whether the folder is trusted, but allows
every tool too, so it is not used; no option does the one without the other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from covey.agents.copilot import AGENT
from covey.agents.headless import guarding
from covey.agents.launching import Draft, given, home_folder, require_uuid, value_of
from covey.agents.signals.ids import safe_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.agents.launching import LaunchPlan, LaunchRequest

REFUSED = (
    *("--resume", "-r", "--continue", "--session-id", "--connect", "--prompt", "-p"),
    *("--acp", "--environment-host"),
)
COMMANDS = (
    "app completion config help init instruction login lsp mcp memories plugin sandbox sessions skill update version "
    "workflow"
)
MODES = ("interactive", "plan", "autopilot")
ALLOWANCES = ("allow-all-tools", "allow-all")
OWN_PERMISSIONS = (
    *("--mode", "--plan", "--autopilot", "--assisted-approval"),
    *("--allow-all-tools", "--allow-all", "--yolo"),
)
UNASKED = ("--autopilot", "--assisted-approval", "--allow-all-tools", "--allow-all", "--yolo")
DIRECTORIES = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS"
TRUST = (
    "Copilot asks whether to trust the folder if it does not know it, and starts when that is answered. Covey does not "
    "answer, because Copilot can be told so only together with leave for every tool."
)


class CopilotLaunching:
    chooses_id = True
    permission_modes = (*MODES, *ALLOWANCES)
    home_variable = "COPILOT_HOME"

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        draft = Draft(AGENT, request)
        draft.refuse(*REFUSED, commands=COMMANDS)
        if request.conversation:
            option = "--resume" if request.resume else "--session-id"
            draft.add(f"{option}={require_uuid(AGENT, request.conversation)}")
        if request.model:
            draft.add("--model", request.model, what="The model is", unless=("--model",))
        if mode := draft.mode(self.permission_modes):
            words = ("--mode", mode) if mode in MODES else (f"--{mode}",)
            draft.add(*words, what="The permission mode is", unless=OWN_PERMISSIONS)
        if request.system_prompt:
            folder = request.folder / "instructions"
            file = folder / ".github" / "instructions" / "covey.instructions.md"
            draft.files[file] = f"---\napplyTo: '**'\n---\n{request.system_prompt}\n".encode()
            draft.env[DIRECTORIES] = ",".join(filter(None, (request.environ.get(DIRECTORIES), str(folder))))
        draft.add_hooks()
        own = value_of(request.args, "--mode")
        allowed = given(request.args, UNASKED) or request.environ.get("COPILOT_ALLOW_ALL") == "true"
        asks_nobody = bool(allowed) or (own or mode) in ("autopilot", *ALLOWANCES)
        if rules := draft.guard(asks_nobody=asks_nobody, folder_lasts=True):
            plugin = request.folder / "guard"
            hook = guarding.copilot_hook(rules)
            about = {"name": "covey-guard", "version": "1.0.0", "hooks": "hooks.json"}
            draft.files[plugin / "plugin.json"] = json.dumps(about).encode()
            draft.files[plugin / "hooks.json"] = json.dumps({"version": 1, "hooks": {"PreToolUse": [hook]}}).encode()
            draft.add("--plugin-dir", str(plugin))
        if tools := request.tools:
            header = {"Authorization": f"Bearer ${{{tools.token_variable}}}"}
            server = {"type": "http", "url": tools.url, "headers": header, "tools": ["*"]}
            draft.add("--additional-mcp-config", json.dumps({"mcpServers": {tools.name: server}}))
            draft.add(*(f"--allow-tool={tools.name}({tool})" for tool in tools.names))
        draft.left_out.append(TRUST)
        return draft.plan(prompts=("--interactive", "-i"))

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether the conversation has events; the folder does not matter."""
        del cwd
        known = safe_id(conversation)
        folder = home_folder(environ, self.home_variable, ".copilot") / "session-state"
        return bool(known) and (folder / known / "events.jsonl").is_file()


LAUNCHING = CopilotLaunching()
