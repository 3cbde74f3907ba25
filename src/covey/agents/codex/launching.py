"""Codex: settings are given as `-c key=value`, and a conversation is resumed by a command of its own.

Learnt from running it (0.166.0). It chooses the id itself and tells it at the first prompt. Trust in the folder is
given as a whole table; a dotted key is not taken. Hooks that nobody has reviewed are asked about at the start, once;
the option that waives the review would run hooks of others too, and is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.agents.codex import AGENT
from covey.agents.headless import guarding
from covey.agents.launching import Draft, given, home_folder, require_uuid, value_of
from covey.agents.signals.ids import safe_id
from covey.kernel.config.toml_text import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from covey.agents.launching import LaunchPlan, LaunchRequest, Tools

COMMANDS = (
    "agents a app-server apply archive cloud completion debug delete doctor e exec exec-server features fork help "
    "login logout mcp migrate-nfs-db migrate-rollouts plugin queue remote-control resume review sandbox unarchive "
    "update"
)
SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
APPROVALS = ("on-request", "never")
OWN_PERMISSIONS = (
    *("--sandbox", "-s", "--ask-for-approval", "-a"),
    *("--approve-for-me", "--dangerously-bypass-approvals-and-sandbox"),
)
FULL = "danger-full-access"
UNASKED = ("--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me", "--full-auto")
REVIEW = (
    'Codex asks once whether to trust Covey\'s hooks ("Hooks need review"), and starts when that is answered: choose '
    "to trust them."
)


class CodexLaunching:
    chooses_id = False
    permission_modes = (*SANDBOXES, *APPROVALS)
    home_variable = "CODEX_HOME"

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        draft = Draft(AGENT, request)
        draft.refuse("--last", commands=COMMANDS)
        if request.resume:
            draft.add("resume")
        draft.add("-c", f"projects={written({request.cwd: {'trust_level': 'trusted'}})}")
        if request.model:
            draft.add("--model", request.model, what="The model is", unless=("--model", "-m"))
        if mode := draft.mode(self.permission_modes):
            option = "--sandbox" if mode in SANDBOXES else "--ask-for-approval"
            draft.add(option, mode, what="The permission mode is", unless=OWN_PERMISSIONS)
        if request.system_prompt:
            if any("developer_instructions" in word for word in request.args):
                draft.left_out.append(
                    "Covey's system prompt is left out, because the arguments of this session have "
                    "developer_instructions."
                )
            else:
                draft.add("-c", f"developer_instructions={written(request.system_prompt)}")
        if request.tools:
            draft.add(*_server(request.tools))
        own = value_of(request.args, "--ask-for-approval", "-a")
        asks_nobody = "never" in (own or mode, *_settings(request.args, "approval_policy"))
        full = FULL in (value_of(request.args, "--sandbox", "-s") or mode, *_settings(request.args, "sandbox_mode"))
        if rules := draft.guard(asks_nobody=asks_nobody or full or bool(given(request.args, UNASKED))):
            draft.add(*_with_guard(request, rules))
        else:
            draft.add_hooks()
        if rules or (request.hooks and request.hooks.argv):
            draft.left_out.append(REVIEW)
        return draft.plan(*([require_uuid(AGENT, request.conversation)] if request.resume else []))

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether there is a transcript; the folder does not matter."""
        del cwd
        known = safe_id(conversation)
        folder = home_folder(environ, self.home_variable, ".codex") / "sessions"
        return bool(known) and any(file.is_file() for file in folder.glob(f"*/*/*/rollout-*-{known}.jsonl"))


def _settings(args: tuple[str, ...], key: str) -> list[str]:
    """Return the values that arguments give to a setting by `-c key=value`."""
    return [word.partition("=")[2].strip().strip("\"'") for word in args if word.partition("=")[0].strip() == key]


def _with_guard(request: LaunchRequest, rules: str) -> Iterator[str]:
    """Yield Covey's hooks and the guard: of two settings with the same key, Codex takes the last."""
    guard = f"hooks.PreToolUse={written([guarding.hook_entry(rules)])}"
    hooks = request.hooks.argv if request.hooks else []
    ours = next((word for word in hooks if word.startswith("hooks.PreToolUse=")), "")
    yield from _without(hooks, ours)
    yield "-c"
    yield f"{ours.removesuffix(']')}, {guard.partition('[')[2]}" if ours else guard


def _without(hooks: list[str], ours: str) -> Iterator[str]:
    """Yield settings, each `-c` and its value, without one."""
    for option, value in zip(hooks[::2], hooks[1::2], strict=True):
        if value != ours:
            yield from (option, value)


def _server(tools: Tools) -> Iterator[str]:
    approved = ("default_tools_approval_mode", "approve")
    for key, value in (("url", tools.url), ("bearer_token_env_var", tools.token_variable), approved):
        yield from ("-c", f"mcp_servers.{tools.name}.{key}={written(value)}")


LAUNCHING = CodexLaunching()
