"""What is known of the output of commands in substitutions."""

from __future__ import annotations

import re

GLOB = "\1"
"""In a path: what a wildcard stands for, in one name; two of them: in any number of names. Neither is `..`."""
_OUTPUTS = (
    (r"nproc|date \+(?:%[sYmdHMSjN]|[-_:.\dTZ])+|id -[ug]|sysctl -n hw\.n?cpu", "0"),
    (r"pwd(?: -P)?", "."),
    (r"mktemp(?: -d)?", "/tmp/tmp.XXXXXXXXXX"),  # noqa: S108 - where mktemp makes them
    (r"(?:which|command -v|type -p) [\w.+-]+", f"/usr/bin/{GLOB}"),
    (r"git rev-parse (?:--short )?(?:HEAD|main|master)(?:[~^]\d*)*", "0"),
)
_KNOWN = tuple((re.compile(expression), path) for expression, path in _OUTPUTS)
_WITHIN = re.compile(r"(?:\$\(|`)\s*(.*?)\s*(?:2>\s*/dev/null\s*)?[)`]")


def output_of(substitution: str) -> str:
    """Return what a substitution writes, as a path; a number is `0`. Empty if that is not known."""
    found = _WITHIN.fullmatch(substitution)
    if found is None:
        return ""
    command = " ".join(found[1].split())
    return next((path for expression, path in _KNOWN if expression.fullmatch(command)), "")
