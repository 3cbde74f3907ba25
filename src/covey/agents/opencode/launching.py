"""opencode: settings come in an environment variable, which goes before the user's files.

Learnt from running it (1.18.33). It chooses the id itself and tells it at the first prompt. It asks for no trust.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from covey.agents.json_values import json_list, json_object
from covey.agents.launching import Draft, given, home_folder
from covey.agents.opencode import AGENT
from covey.agents.opencode.guard_plugin import plugin_text
from covey.agents.opencode.integration import CONTENT
from covey.agents.signals.ids import safe_id
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.agents.launching import LaunchPlan, LaunchRequest

REFUSED = ("--session", "-s", "--continue", "-c", "--fork")
COMMANDS = (
    "acp agent attach auth completion db debug export github import mcp models plug plugin pr providers run serve "
    "session stats uninstall upgrade web"
)
UNREADABLE = (
    f"Covey's hooks, tools and system prompt are left out, because {CONTENT} is set and is not a JSON object that "
    "Covey could add them to."
)


class OpenCodeLaunching:
    chooses_id = False
    permission_modes = ("auto",)
    """Grants what the user's settings do not deny. A `permission` of ours would replace their rules."""
    home_variable = "XDG_DATA_HOME"

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        draft = Draft(AGENT, request)
        draft.refuse(*REFUSED, commands=COMMANDS)
        if request.resume:
            draft.add("--session", _checked(request.conversation))
        if request.model:
            draft.add("--model", request.model, what="The model is", unless=("--model", "-m"))
        if mode := draft.mode(self.permission_modes):
            draft.add(f"--{mode}", what="The permission mode is", unless=("--auto",))
        settings = _settings(request.environ.get(CONTENT, ""))
        if settings is None:
            draft.left_out.append(UNREADABLE)
            return draft.plan(prompts=("--prompt",))
        draft.add_hooks()
        ours = json_object(_settings(draft.env.pop(CONTENT, "") or ""))
        if rules := draft.guard(asks_nobody=bool(mode or given(request.args, ("--auto",)))):
            guard = request.folder / "guard.js"
            draft.files[guard] = plugin_text(rules).encode()
            ours["plugin"] = [*json_list(ours.get("plugin")), guard.as_uri()]
            draft.env["OPENCODE_PURE"] = None
        if request.system_prompt:
            file = request.folder / "opencode.md"
            draft.files[file] = f"{request.system_prompt}\n".encode()
            ours["instructions"] = [str(file)]
        if tools := request.tools:
            header = {"Authorization": f"Bearer {{env:{tools.token_variable}}}"}
            ours["mcp"] = {tools.name: {"type": "remote", "url": tools.url, "headers": header, "oauth": False}}
        if ours:
            draft.env[CONTENT] = json.dumps(_merged(settings, ours))
        return draft.plan(prompts=("--prompt",))

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether the conversation is in opencode's database; the folder does not matter."""
        del cwd
        file = home_folder(environ, self.home_variable, ".local", "share") / "opencode" / "opencode.db"
        try:
            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
                return bool(database.execute("SELECT 1 FROM session WHERE id = ?", (conversation,)).fetchone())
        except sqlite3.Error:
            return False


def _checked(conversation: str) -> str:
    if not safe_id(conversation).startswith("ses_"):
        raise user_error(
            f"{AGENT.title} cannot have a conversation {conversation!r}: its ids begin with ses_",
            "Start a new conversation.",
            field="conversation",
        )
    return conversation


def _settings(text: str) -> dict[str, Any] | None:
    """Return settings that are in the environment; None if they are not a JSON object."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _merged(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return the user's settings with ours: lists one after the other, objects key by key, else ours."""
    merged = dict(theirs)
    for key, value in ours.items():
        if isinstance(value, list):
            merged[key] = [*json_list(theirs.get(key)), *value]
        elif isinstance(value, dict):
            merged[key] = _merged(json_object(theirs.get(key)), value)
        else:
            merged[key] = value
    return merged


LAUNCHING = OpenCodeLaunching()
