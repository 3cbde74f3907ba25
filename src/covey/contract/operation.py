"""What an operation is: declared once, served on every surface."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    Type = Literal["string", "int", "float", "bool"]
    Method = Literal["GET", "POST", "PUT", "DELETE"]


class Parameter:
    """One input of an operation: a flag or argument on the command line, a path, query or body field over HTTP."""

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002 - the word people look for
        *,
        type: Type = "string",  # noqa: A002
        required: bool = False,
        default: Any = None,
        enum: Sequence[str] = (),
        minimum: int | None = None,
        maximum: int | None = None,
        multiple: bool = False,
        positional: bool = False,
        short: str = "",
        sensitive: bool = False,
        content: Literal["", "text", "id", "raw"] = "",
        path: bool = False,
    ) -> None:
        self.name = name
        self.help = help
        self.type = type
        self.required = required
        self.default = default
        self.enum = tuple(enum)
        self.minimum = minimum
        self.maximum = maximum
        self.multiple = multiple
        self.positional = positional
        self.short = short
        self.sensitive = sensitive
        self.content = content
        self.path = path
        """A file; the command line takes it from the caller's folder."""

    @property
    def flag(self) -> str:
        """How it is spelt on a command line and in a query."""
        return self.name.replace("_", "-")


class Operation:
    """One thing Covey can do.

    `route` is where the daemon serves it. An operation without one is local: it is about the process itself and works without a daemon, and `local` says why.
    `offline` operations are served by the daemon when it runs and done in the caller's process when it does not. One without `cli` is for programs only.
    An alias is one word that stands for the whole of `cli`.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        *,
        cli: Sequence[str],
        method: Method = "GET",
        route: str = "",
        local: str = "",
        offline: bool = False,
        description: str = "",
        when_to_use: str = "",
        parameters: Sequence[Parameter] = (),
        result: Mapping[str, Any] | None = None,
        mutating: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        dry_run: bool = False,
        guard: bool = True,
        streaming: bool = False,
        media: str = "application/json",
        page: bool = False,
        payload: bool = False,
        mcp: bool = True,
        aliases: Sequence[str] = (),
        examples: Sequence[tuple[str, str, int]] = (),
        served_by: str = "node",
    ) -> None:
        self.name = name
        self.summary = summary
        self.cli = tuple(cli)
        self.method = method
        self.route = route
        self.local = local
        self.offline = offline
        self.description = description
        self.when_to_use = when_to_use
        self.parameters = tuple(parameters)
        self.result = dict(result or {})
        self.mutating = mutating
        self.destructive = destructive
        self.idempotent = idempotent
        self.dry_run = dry_run
        self.guard = guard
        self.streaming = streaming
        self.media = media
        self.page = page
        """The command line prints the answer as it is, for people who redirect it into a file."""
        self.payload = payload
        """The body is no parameters but a document of the caller's own, handed on as it came."""
        self.mcp = mcp
        self.aliases = tuple(aliases)
        self.examples = tuple(examples)
        """Each a command line, what it shows, and the exit code to expect."""
        self.served_by = served_by
        """The kind of daemon that serves it. Every kind serves the operations of the kernel."""

    @property
    def audited(self) -> bool:
        """Whether each call is recorded with its caller. What agents deliver about themselves changes nothing of the user's, and there is much of it."""
        return self.mutating and not self.payload

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, with dashes or underscores."""
        wanted = name.replace("-", "_")
        return next((parameter for parameter in self.parameters if parameter.name == wanted), None)

    def place(self, parameter: Parameter) -> Literal["path", "query", "body"]:
        """Where HTTP carries the parameter."""
        if f"{{{parameter.name}}}" in self.route:
            return "path"
        return "body" if self.method in ("POST", "PUT") else "query"


def shape(description: str = "", /, **properties: Any) -> dict[str, Any]:
    """A JSON Schema for an object whose named properties are always there. A property is a type name or a schema."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()},
        "required": list(properties),
    }


def array(of: Mapping[str, Any] | str) -> dict[str, Any]:
    """A JSON Schema for a list."""
    return {"type": "array", "items": {"type": of} if isinstance(of, str) else dict(of)}


def optional(kind: str) -> dict[str, Any]:
    """A JSON Schema for a value that may be null."""
    return {"type": [kind, "null"]}
