"""The folder of Covey itself: what members share is neither read out of it nor written into it."""

from __future__ import annotations

from pathlib import Path

from murli import permission_denied


def check_outside(path: str, home: str, advice: str, field: str) -> None:
    """Raise AgentError if a path leads into the home of Covey, which holds keys and configuration. Blocks."""
    real, own = Path(path).parent.resolve() / Path(path).name, Path(home).resolve()
    if own in (real, *real.parents, *real.resolve().parents):
        error = permission_denied(f"{path} is in the folder of Covey, with its keys and settings", advice)
        error.field = field
        raise error
