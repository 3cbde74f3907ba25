"""The commands murli gives to every tool: `describe`, `profile …`, and `doctor` in development mode."""

from __future__ import annotations

from murli._core import layers, schema, wording
from murli._core.command import Argument, Command, Flag
from murli._core.errors import AgentError, conflict, user_error
from murli._core.metadata import Example, Metadata, ReturnSchema
from murli._core.profiles import ProfileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from murli._core.route import Invocation
    from murli._core.tool import Tool
    from murli._core.writer import Writer

    Handler = Callable[[Tool, Invocation, Writer], None]


class Builtin(Command):
    """A command that murli answers itself."""

    is_builtin = True

    def __init__(
        self,
        name: str,
        summary: str,
        handler: Handler | None = None,
        *,
        metadata: Metadata | None = None,
        flags: list[Flag] | None = None,
        arguments: list[Argument] | None = None,
        children: list[Builtin] | None = None,
    ) -> None:
        self.name = name
        self.summary = summary
        self._handler = handler
        self.metadata = metadata or Metadata(idempotent=True)
        self.is_group = bool(children)
        self.runs_alone = not children
        self._flags = flags or []
        self._arguments = arguments or []
        self._children = children or []

    def answer(self, tool: Tool, invocation: Invocation, out: Writer) -> None:
        """Do what the command is for."""
        if self._handler is not None:
            self._handler(tool, invocation, out)

    @property
    def flags(self) -> list[Flag]:
        return self._flags

    @property
    def arguments(self) -> list[Argument]:
        return self._arguments

    @property
    def children(self) -> list[Command]:
        return list(self._children)


def commands(tool: Tool, *, development: bool) -> list[Command]:
    """Return the commands that murli adds to this tool.

    `profile` is added only where a flag can be saved, `doctor` only during development.
    """
    flags = tool.profileable()
    found: list[Command] = [_describe(tool.name)]
    found += [_profile(tool.name, flags)] if flags else []
    found += [Builtin("doctor", "Check how well the tool uses murli.", _run_doctor)] if development else []
    return found


def document(tool: Tool) -> dict[str, Any]:
    """What `describe` prints."""
    return schema.describe(tool.root, [*tool.root.children, *tool.builtins()], _profiles(tool), tool.version)


def _profiles(tool: Tool) -> dict[str, Any] | None:
    flags = [flag.name for flag in tool.profileable()]
    if not flags:
        return None
    try:
        store = ProfileStore.load(tool.profile_path)
    except AgentError:
        return {"profileable_flags": flags}  # describe works on any machine; `profile list` reports the damage
    known = {"available": store.names(), "default": store.default}
    return {**{key: value for key, value in known.items() if value}, "profileable_flags": flags}


def _describe(tool: str) -> Builtin:
    return Builtin(
        "describe",
        "Describe every command of this tool as JSON.",
        _run_describe,
        metadata=Metadata(
            idempotent=True,
            when_to_use="Call it once before using the tool.",
            examples=[Example(command=f"{tool} describe", description="Everything the tool can do")],
        ),
        flags=[
            Flag(
                name="agents-md",
                type="bool",
                options=["--agents-md"],
                arity=0,
                default=False,
                description="Print an AGENTS.md page instead of JSON.",
            )
        ],
    )


def _run_describe(tool: Tool, invocation: Invocation, out: Writer) -> None:
    if invocation.leaf.is_on("agents-md"):
        out.raw(schema.agents_md(document(tool)))
    else:
        out.document(document(tool))


def _profile(tool: str, flags: list[Flag]) -> Builtin:
    name = Argument(name="name", required=True, description="Name of the profile.")
    savable = [
        Flag(**{**flag.as_dict(), "required": False, "default": None, "env": "", "prompts": False}) for flag in flags
    ]
    sample = next((f" {flag.long}={flag.enum[0]}" for flag in flags if flag.enum and not flag.sensitive), "")
    return Builtin(
        "profile",
        "Save flag values under a name and use them again.",
        children=[
            Builtin(
                "save",
                "Save the profileable flags given on this command line as a profile.",
                _save,
                metadata=Metadata(
                    mutating=True,
                    idempotent=True,
                    guard=False,
                    agent_description="An existing profile is replaced only with --yes or --force.",
                    examples=[Example(command=f"{tool} profile save example{sample}", description="Save a profile")]
                    if sample
                    else [],
                ),
                arguments=[name],
                flags=savable,
            ),
            Builtin(
                "use",
                "Make a profile the default, or none with --clear.",
                _use,
                metadata=Metadata(mutating=True, idempotent=True, guard=False),
                arguments=[Argument(name="name", description="Name of the profile.")],
                flags=[
                    Flag(
                        name="clear",
                        type="bool",
                        options=["--clear"],
                        arity=0,
                        default=False,
                        description="Have no default profile.",
                    )
                ],
            ),
            Builtin(
                "list",
                "List the profiles.",
                _list,
                metadata=Metadata(
                    idempotent=True,
                    returns=ReturnSchema(
                        type="array", description="Profiles by name", shape={"name": "string", "default": "bool"}
                    ),
                    examples=[Example(command=f"{tool} profile list")],
                ),
            ),
            Builtin("show", "Show the values of a profile, sensitive ones hidden.", _show, arguments=[name]),
            Builtin(
                "delete",
                "Delete a profile.",
                _delete,
                metadata=Metadata(mutating=True, destructive=True, dry_runnable=True),
                arguments=[name],
            ),
        ],
    )


def _save(tool: Tool, invocation: Invocation, out: Writer) -> None:
    name = _names(invocation)[0]
    flags = {flag.name: flag for flag in tool.profileable()}
    values: dict[str, str] = {}
    for level in invocation.levels:
        for given, texts in level.given.items():
            if given in flags:
                bad = next((text for text in texts if not wording.fits(flags[given], text)), None)
                if bad is not None:
                    raise wording.bad_value(flags[given], bad, invocation.path)
                values[given] = layers.to_saved(flags[given], texts)
    if not values:
        raise user_error(
            "there is nothing to save: no profileable flag was given",
            f"Give at least one of them: {', '.join(flag.long for flag in flags.values())}.",
            error="profile_error",
            valid_values=list(flags),
        )
    store = ProfileStore.load(tool.profile_path)
    if name in store.profiles and store.profiles[name] != values and not invocation.forced:
        raise conflict(
            f"profile {name!r} exists with other values",
            "Pass --yes to replace it, or choose another name.",
            field="name",
        )
    store.profiles[name] = values
    store.save()
    out.success(f"Saved profile {name}: {', '.join(values)}", {"name": name, "flags": _shown(tool, values)})


def _use(tool: Tool, invocation: Invocation, out: Writer) -> None:
    names = _names(invocation)
    store = ProfileStore.load(tool.profile_path)
    clear = invocation.leaf.is_on("clear")
    if clear == bool(names):
        raise user_error(
            "name a profile, or pass --clear",
            "Run `profile list` to see the profiles.",
            error="argument_error",
            field="name",
        )
    if names:
        store.get(names[0])
    store.default = names[0] if names else ""
    store.save()
    out.success(
        f"Profile {store.default} is now the default" if names else "There is no default profile now",
        {"default": store.default or None},
    )


def _list(tool: Tool, _: Invocation, out: Writer) -> None:
    store = ProfileStore.load(tool.profile_path)
    rows = [{"name": name, "default": name == store.default} for name in store.names()]
    lines = [f"{row['name']}{'  (default)' if row['default'] else ''}" for row in rows]
    out.success("\n".join(lines) or f"No profiles yet. Make one with: {tool.name} profile save NAME --flag value", rows)


def _show(tool: Tool, invocation: Invocation, out: Writer) -> None:
    name = _names(invocation)[0]
    store = ProfileStore.load(tool.profile_path)
    flags = _shown(tool, store.get(name))
    text = "\n".join(f"{flag} = {value}" for flag, value in flags.items())
    out.success(text, {"name": name, "default": name == store.default, "flags": flags})


def _delete(tool: Tool, invocation: Invocation, out: Writer) -> None:
    name = _names(invocation)[0]
    store = ProfileStore.load(tool.profile_path)
    store.get(name)
    if out.dry_run:
        out.plan(f"Would delete profile {name}", {"would_delete": name})
        return
    del store.profiles[name]
    if store.default == name:
        store.default = ""
    store.save()
    out.success(f"Deleted profile {name}", {"deleted": name})


def _names(invocation: Invocation) -> list[str]:
    return [*invocation.leaf.positionals, *invocation.leaf.added_positionals]


def _shown(tool: Tool, values: dict[str, str]) -> dict[str, str]:
    """Return the values of a profile as they may be printed.

    The value of a flag that is sensitive, or that the tool no longer knows, stays hidden.
    """
    open_flags = {flag.name for flag in tool.profileable() if not flag.sensitive}
    return {flag: value if flag in open_flags else "***" for flag, value in values.items()}


def _run_doctor(tool: Tool, _: Invocation, out: Writer) -> None:
    from murli._core.doctor import readable, self_check  # development only

    found = self_check(document(tool))
    (out.plan if found["failed"] else out.success)(readable(found), found)
