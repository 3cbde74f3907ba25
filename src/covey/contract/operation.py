"""The parts of the contract: operations with their parameters, and JSON Schemas for what they return.

An operation is declared once and served on every surface.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    Type = Literal["string", "int", "float", "bool", "object", "json"]
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
        also: str = "",
        replaces: str = "",
        consent: bool = False,
    ) -> None:
        self.name = name
        self.help = help
        self.type = type
        """`object` is a JSON object; on the command line it is written as JSON. `json` is any JSON value; there it is
        text, unless its verb says otherwise."""
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
        """A file name; on the command line it is relative to the caller's folder."""
        self.also = also
        """Another spelling that the API takes, such as replyToId for reply_to_id."""
        self.replaces = replaces
        """Of a client parameter: the name of the parameter that it may be given instead of."""
        self.consent = consent
        """Whether a call that gives it, and not its default, is a decision that only a person may take."""

    @property
    def flag(self) -> str:
        """Return its spelling on a command line and in a query."""
        return self.name.replace("_", "-")


class Operation:
    """One thing Covey can do.

    `route` is where the daemon serves it. An operation without one is local: it concerns the calling process itself and
    works without a daemon; `local` says why. The daemon serves `offline` operations while it runs; otherwise they are
    performed in the caller's process. An operation without `cli` is for programs only. An alias is a single word that
    stands for the whole of `cli`.
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
        consent: bool = False,
        no_consent: str = "",
        aliases: Sequence[str] = (),
        examples: Sequence[tuple[str, str, int]] = (),
        served_by: str = "node",
        client_parameters: Sequence[Parameter] = (),
        seat_parameter: str = "",
        cold: bool = False,
        own_key: bool = False,
        unaudited: str = "",
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
        """Whether the command line prints the result as it is, so that it can be redirected into a file."""
        self.payload = payload
        """Whether the body is a document of the caller's own, passed on unchanged, instead of parameters."""
        self.mcp = mcp
        """Whether it can be offered as a tool over MCP."""
        self.consent = consent
        """Whether it is a decision that only a person may take: never a tool, and refused unless a person is found
        behind the caller."""
        self.no_consent = no_consent
        """Why programs and agents may call it although it changes something; empty where `consent` holds."""
        self.aliases = tuple(aliases)
        self.examples = tuple(examples)
        """Each is a command line, what it shows, and the exit code to expect."""
        self.served_by = served_by
        """The kind of daemon that serves it. Every kind serves the operations of the kernel."""
        self.client_parameters = tuple(client_parameters)
        """What the command line takes besides `parameters` and never sends to the daemon."""
        self.seat_parameter = seat_parameter
        """The client parameter that names the daemon, where there can be several of one kind.

        Over the API it may be sent too; a daemon of another name refuses the call.
        """
        self.cold = cold
        """Whether the command line can perform it without the daemon, over a short connection of its own."""
        self.own_key = own_key
        """Whether the handler keeps the idempotency key with what it stores, instead of the dispatcher."""
        self.unaudited = unaudited
        """Why calls are not recorded in the audit although they change something; empty if they are."""

    @property
    def audited(self) -> bool:
        """Return whether each call is recorded with its caller.

        Payloads are not: agents deliver many of them, and they change nothing that belongs to the user.
        """
        return self.mutating and not self.payload and not self.unaudited

    @property
    def command_parameters(self) -> tuple[Parameter, ...]:
        """Return what the command line takes: the parameters of the API, and those of clients."""
        return (*self.parameters, *self.client_parameters)

    @property
    def seat(self) -> Parameter | None:
        """Return the client parameter that names the daemon; None where there is only one of its kind."""
        return next((one for one in self.client_parameters if one.name == self.seat_parameter), None)

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name, spelt with dashes, underscores or as `also` has it; None if there is none.

        Client parameters are not among them.
        """
        wanted = name.replace("-", "_")
        return next((one for one in self.parameters if wanted == one.name or (one.also and name == one.also)), None)

    def place(self, parameter: Parameter) -> Literal["path", "query", "body"]:
        """Return where HTTP carries the parameter."""
        if f"{{{parameter.name}}}" in self.route:
            return "path"
        return "body" if self.method in ("POST", "PUT") else "query"


class Omittable:
    """A property of a shape that may be left out, unlike one that is null."""

    def __init__(self, schema: Mapping[str, Any] | str) -> None:
        self.schema = schema


def shape(name: str = "", /, **properties: Any) -> dict[str, Any]:
    """Return a JSON Schema for an object. A property is the name of a type, a schema or an `Omittable`.

    A shape that is used more than once needs a name: generated clients have a type of that name, and the reference page
    has a section for it. All properties are required, except those that are `Omittable`; others may be added later.
    """
    return {
        **({"title": name} if name else {}),
        "type": "object",
        "properties": {
            key: _schema(one.schema if isinstance(one, Omittable) else one) for key, one in properties.items()
        },
        "required": [key for key, one in properties.items() if not isinstance(one, Omittable)],
    }


def one_of(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Return a named JSON Schema for a string that is one of these values."""
    return {"title": name, "type": "string", "enum": list(values)}


def array(of: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a JSON Schema for a list."""
    return {"type": "array", "items": _schema(of)}


def mapping(of: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a JSON Schema for an object whose keys are not known in advance."""
    return {"type": "object", "additionalProperties": _schema(of)}


def optional(of: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a JSON Schema for a value that may be null."""
    return {"type": [of, "null"]} if isinstance(of, str) else {"anyOf": [dict(of), {"type": "null"}]}


def _schema(of: Mapping[str, Any] | str) -> dict[str, Any]:
    return {"type": of} if isinstance(of, str) else dict(of)
