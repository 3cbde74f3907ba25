"""The reference pages of the SDKs: every call in each language, beside the operation that it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdk.generate import golang, python, typescript
from sdk.generate.model import NOT_CALLED, Call, Daemon, Model

if TYPE_CHECKING:
    from collections.abc import Callable

LANGUAGES: dict[str, tuple[str, Callable[[Daemon, Call], str]]] = {
    "python": ("Python", python.signature),
    "go": ("Go", golang.signature),
    "typescript": ("TypeScript", typescript.signature),
}
HEAD = """# The SDK for {title}: every call

Generated from the contract by `./run python -m sdk.generate`; do not edit. What a call does, takes and returns is in
[covey.md](covey.md) and [mesh.md](mesh.md) under the operation; the [guide](../guide/sdk.md) begins before that.
"""


def files(found: Model) -> dict[str, str]:
    """Return the pages by their place below `sdk`."""
    return {
        f"../docs/reference/sdk-{name}.md": _page(found, title, signature)
        for name, (title, signature) in LANGUAGES.items()
    }


def _page(found: Model, title: str, signature: Callable[[Daemon, Call], str]) -> str:
    lines = [HEAD.format(title=title)]
    for daemon in found.daemons:
        lines += [f"## {daemon.name}\n", "| call | |", "|---|---|"]
        lines += [
            f"| `{signature(daemon, call)}` | `{call.operation.name}`: {call.operation.summary} |"
            for call in daemon.calls
        ]
        lines.append("")
    lines += ["## Not called\n", "Operations without a route are local to the `covey` command. Besides them:\n"]
    lines += [f"- `{name}`: {why}" for name, why in NOT_CALLED.items()]
    return "\n".join([*lines, ""])
