"""What a tool can tell about its commands beyond what the framework knows."""

from __future__ import annotations

from murli._core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeVar

    Content = Literal["", "text", "id", "raw"]
    Target = TypeVar("Target")

ATTRIBUTE = "__murli__"


class FlagAnnotation(Record):
    """What the framework cannot know about a flag. Everything declared here is enforced, not only described.

    `content` says what the value may hold: `id` (a name: no control characters, no path traversal, at most 256
    characters), `text` (no control characters but tabs and line breaks), `raw` (anything). If it is empty, flags
    called `id`, `name`, `slug` or ending in `-id`, `-name`, `-slug` are ids and all others are text.
    """

    env: str = ""
    sensitive: bool = False
    persistent: bool = False
    mutually_exclusive_with: list[str] = []  # Record copies mutable defaults
    enum: list[str] = []
    pattern: str = ""
    profileable: bool = False
    content: Content = ""


class ArgumentMetadata(Record):
    """A positional argument, described by hand where the framework's own description is not enough.

    A field that is left empty keeps what the framework says.
    """

    name: str
    type: str = ""
    required: bool | None = None
    description: str = ""
    content: Content = ""


class ReturnSchema(Record):
    """The shape of a successful result.

    `type` is `json`, `array`, `ndjson` for a stream, or `text` for a page that is printed as it is, into a pipe too.
    """

    type: str = "json"
    description: str = ""
    shape: dict[str, Any] = {}
    output_schema: dict[str, Any] = {}


class Example(Record):
    """A command line that works as it stands, starting with the tool's name."""

    command: str
    description: str = ""
    expected_exit_code: int = 0


class Metadata(Record):
    """What an agent should know of a command before it calls it.

    `mutating` commands refuse to run for an agent without `--yes` or `--force`; `guard=False` lifts that for a
    command that is trivially undone or protects itself, and its schema still says that it changes something. With a
    switch of `unguarded_with` the command changes nothing, so that it needs no `--yes` either.
    """

    agent_description: str = ""
    when_to_use: str = ""
    idempotent: bool = False
    mutating: bool = False
    destructive: bool = False
    dry_runnable: bool = False
    guard: bool = True
    unguarded_with: list[str] = []
    arguments: list[ArgumentMetadata] = []
    returns: ReturnSchema | None = None
    examples: list[Example] = []
    flag_annotations: dict[str, FlagAnnotation] = {}


NOTHING = Metadata()


def annotate(target: Target, metadata: Metadata) -> Target:
    """Attach metadata to a parser, a click command or the function behind a command, and return that target."""
    setattr(target, ATTRIBUTE, metadata)
    return target


def annotated(metadata: Metadata) -> Callable[[Target], Target]:
    """`annotate` as a decorator, for the function behind a click or typer command."""
    return lambda target: annotate(target, metadata)


def metadata_of(*targets: object) -> Metadata:
    """The metadata of the first target that has any."""
    for target in targets:
        found = getattr(target, ATTRIBUTE, None)
        if found is not None:
            return found  # type: ignore[no-any-return]  # only annotate() sets it
    return NOTHING
