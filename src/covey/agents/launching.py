"""What the `launching.py` of an agent defines: how it is started in a terminal, and started again.

It is given hooks, tools and a system prompt for one launch, and no file of the user's is touched.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from covey.agents.headless import guarding
from covey.agents.registry import known_agents
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.agents.agent import Agent
    from covey.agents.integration.user_environment import Launch
    from murli import AgentError

MARKS = (
    *("CLAUDE_CODE_EXECPATH", "CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"),
    *("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "COPILOT_LOADER_PID"),
    *("GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH", "OPENCODE", "OPENCODE_PID"),
)
"""Variables that agents set for the programs they start, beside the `session_variables` of the agents."""
_CHANGED = {
    "CLAUDECODE": re.compile("GIT_EDITOR"),
    "CODEX_THREAD_ID": re.compile("NO_COLOR|PAGER|GIT_PAGER"),
    "GEMINI_CLI": re.compile(r"GIT_CONFIG_\w+|GIT_ASKPASS|SSH_ASKPASS|DISPLAY"),
    "OPENCODE": re.compile("AGENT"),
}
"""Variables that may be the user's own, but not where the mark beside them is set: then that agent has changed them."""
LOOPBACK = ("127.0.0.1", "localhost")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Tools(Struct, frozen=True, kw_only=True):
    """An MCP server for one session."""

    name: str
    url: str
    """Where it speaks streamable HTTP."""
    sse_url: str
    """Where it speaks HTTP with server-sent events, for an agent that knows nothing newer."""
    names: tuple[str, ...]
    """The tools that it has. The agent may use them without asking: they write to the session's own channels."""
    token_variable: str
    """The environment variable that holds the bearer token. The token itself is on no command line and in no file."""


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """A session to start."""

    cwd: str
    args: tuple[str, ...] = ()
    """The user's own arguments. A first prompt among them is the first word, or comes after `--`."""
    conversation: str = ""
    """The id of the conversation; empty if it is not known yet.

    A conversation that is not stored is begun under a new id: Gemini CLI neither resumes nor begins one that it has
    begun before and that has no prompt. An agent that chooses ids itself ignores this unless it is resumed.
    """
    resume: bool = False
    """Whether the conversation is stored (`Launching.is_stored`), and is to go on."""
    model: str = ""
    permission_mode: str = ""
    system_prompt: str = ""
    """What is added to the agent's own system prompt."""
    tools: Tools | None = None
    hooks: Launch | None = None
    """What `integration.launch` returned: empty if the hooks are in the agent's settings; None if it knows no way."""
    folder: Path
    """A private folder of the session, for files."""
    guarded: bool = True
    """Whether `guard` refuses what harms, where the agent asks nobody."""
    environ: Mapping[str, str] = {}
    """What the agent will inherit."""


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """A process to start."""

    argv: tuple[str, ...]
    env: Mapping[str, str | None]
    """Variables to set in what the agent inherits; None removes one."""
    files: Mapping[Path, bytes]
    """Files to write first."""
    programs: Mapping[Path, bytes] = {}
    """Programs to write first."""
    left_out: tuple[str, ...]
    """What the agent was not given of what was requested, each as a sentence."""


class Launching(Protocol):
    """How one agent is started in a terminal."""

    chooses_id: bool
    """Whether a new conversation can be given an id: a UUID."""
    permission_modes: tuple[str, ...]
    """The permission modes that can be requested, in the agent's own words."""
    home_variable: str
    """The variable that says where the agent keeps its conversations, instead of a place in the home."""

    def plan(self, request: LaunchRequest) -> LaunchPlan:
        """Return how to start or resume the session. Without IO.

        Raises AgentError for arguments of the user's with which the session could not be kept, and for a permission
        mode that the agent does not know.
        """
        ...

    def is_stored(self, conversation: str, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether the agent can resume a conversation in a folder, by what it has stored on disk."""
        ...


class Draft:
    """A plan in the making: words that go before the user's own, unless the user has said the same differently."""

    def __init__(self, agent: Agent, request: LaunchRequest) -> None:
        self._agent = agent
        self._request = request
        self.words = [agent.program]
        self.env: dict[str, str | None] = {**inherited(request.environ)}
        self.files: dict[Path, bytes] = {}
        self.programs: dict[Path, bytes] = {}
        self.left_out: list[str] = []
        if request.resume and not request.conversation:
            raise ValueError("a conversation without an id cannot be resumed")

    def add(self, *words: str, what: str = "", unless: tuple[str, ...] = ()) -> bool:
        """Add words and return True, or if the user's arguments have one of these options, say so and return False."""
        if own := given(self._request.args, unless):
            self.left_out.append(f"{what} left out, because the arguments of this session have {own}.")
            return False
        self.words += words
        return True

    def add_hooks(self, *unless: str) -> None:
        """Add the hooks as the integration gives them."""
        hooks = self._request.hooks
        if hooks and self.add(*hooks.argv, what="Covey's hooks are", unless=unless):
            self.env.update(hooks.env)
            self.files.update(hooks.files)

    def guard(self, *, asks_nobody: bool, folder_lasts: bool = False) -> str:
        """Return the file of rules for `guard`; empty if there is a person whom the agent asks, or none is wanted.

        `folder_lasts` says that a `cd` counts for the agent's later commands.
        """
        if not asks_nobody or not self._request.guarded:
            return ""
        file = self._request.folder / guarding.RULES
        self.files[file] = guarding.rules_text(self._agent.name, self._request.cwd, folder_lasts=folder_lasts).encode()
        return str(file)

    def refuse(self, *options: str, commands: str) -> None:
        """Raise AgentError for arguments of the user's with which there is no session, or not the one we know.

        These are options, and `commands` (words with spaces between them) at the beginning.
        """
        first = self._request.args[0] if self._request.args else ""
        if first in commands.split():
            raise _refused(
                f"`{self._agent.program} {first}` is not a session in which you could type",
                "Leave it out: Covey starts the agent at its prompt.",
            )
        if own := given(self._request.args, options):
            raise _refused(
                f"{own} does not go with a session that Covey keeps: its arguments are used at every start, and with "
                f"{own} the agent would end at once, or go on with a different conversation",
                f"Leave {own} out: Covey keeps the conversation by its id. Choose an earlier one inside the session, "
                "and give prompts with `covey send` or a channel.",
            )

    def mode(self, modes: tuple[str, ...]) -> str:
        """Return the permission mode that is requested; empty for the agent's default. Raises AgentError."""
        mode = self._request.permission_mode
        if mode and mode not in modes:
            raise user_error(
                f"{self._agent.title} has no permission mode {mode!r}",
                f"Choose one of: {', '.join(modes)}.",
                field="permission_mode",
                valid_values=modes,
            )
        return mode

    def plan(self, *last: str, prompts: tuple[str, ...] = ("",)) -> LaunchPlan:
        """Return the plan, with `last` just before the user's arguments.

        A session that is resumed does not get its first prompt again. `prompts` are the options that give it; an empty
        one stands for a word at the beginning.
        """
        args = self._request.args
        if self._request.resume:
            args = _without_prompt(args, prompts)
            if args != self._request.args:
                self.left_out.append("The first prompt is left out, because the conversation has it already.")
        return LaunchPlan(
            argv=(*self.words, *last, *args),
            env=self.env,
            files=self.files,
            programs=self.programs,
            left_out=tuple(self.left_out),
        )


def session_marks() -> set[str]:
    """Return the environment variables that agents set for the programs they start."""
    return {*MARKS, *(name for agent in known_agents().values() for name in agent.session_variables)}


def inherited(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return what to change in an environment that an agent is to inherit; None removes a variable.

    What an agent around it has set is removed, and the proxies are not used for this machine.
    """
    marks = session_marks()
    changed = [name for mark, names in _CHANGED.items() if mark in environ for name in environ if names.fullmatch(name)]
    # A program prefers one of the two names: it must not miss what is said under the other.
    spellings = ("NO_PROXY", "no_proxy")
    known = [environ.get(name, "") for name in spellings]
    proxies = [_with_loopback(own or other) for own, other in zip(known, reversed(known), strict=True)]
    return {**dict.fromkeys(sorted((*marks, *changed))), **dict(zip(spellings, proxies, strict=True))}


def given(args: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the first of these options that is among arguments, with a value of its own or not; else empty."""
    for word in _options(args):
        for option in options:
            if word == option or (option.startswith("--") and word.startswith(f"{option}=")):
                return option
    return ""


def value_of(args: tuple[str, ...], *options: str) -> str:
    """Return the value of the last of these options that is among arguments, joined to it or not; else empty."""
    found = ""
    words = _options(args)
    for at, word in enumerate(words):
        name, joined, value = word.partition("=")
        if name in options:
            found = value if joined else "".join(words[at + 1 : at + 2])
    return found


def require_uuid(agent: Agent, conversation: str) -> str:
    """Return the id of a conversation. Raises AgentError if it is not a UUID: some agents would ask what is meant."""
    if not _UUID.fullmatch(conversation):
        raise user_error(
            f"{agent.title} cannot have a conversation {conversation!r}: its ids are UUIDs",
            "Start a new conversation.",
            field="conversation",
        )
    return conversation


def home_folder(environ: Mapping[str, str], variable: str, *usual: str) -> Path:
    """Return the folder that a variable names, or else the usual one in the home directory."""
    return Path(environ.get(variable) or Path(environ.get("HOME") or Path.home(), *usual))


def _with_loopback(hosts: str) -> str:
    known = [host.strip() for host in hosts.split(",") if host.strip()]
    return ",".join([*known, *(host for host in LOOPBACK if host not in known)])


def _options(args: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments that may be options."""
    return args[: args.index("--")] if "--" in args else args


def _without_prompt(args: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    """Return arguments without the prompts that can be told from the value of an option."""
    kept: list[str] = []
    words = iter(_options(args))
    for word in words:
        if word in options:
            next(words, None)
        elif not given((word,), options) and (kept or word.startswith("-") or "" not in options):
            kept.append(word)
    return tuple(kept)


def _refused(message: str, suggestion: str) -> AgentError:
    return user_error(message, suggestion, field="args")
