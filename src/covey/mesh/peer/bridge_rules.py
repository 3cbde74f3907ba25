"""Which member may write to which agents of this host: nobody, unless the configuration says so."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from covey.kernel.config.setting import Tables
from covey.mesh.crypto.errors import MalformedError
from covey.mesh.crypto.nkeys import decode_public

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ALLOW = "bridge.allow"
ANYBODY = ANYTHING = "*"
_LIKE_AN_ID = re.compile(r"[0-9a-f]{4,}")


def allowed(rules: Iterable[Mapping[str, Any]], member: str, agent: str) -> bool:
    """Return whether one of the rules lets a member write to an agent."""
    return any(
        rule["member"] in (member, ANYBODY) and any(_names(pattern, agent) for pattern in rule["agents"])
        for rule in rules
    )


def _names(pattern: str, agent: str) -> bool:
    """Return whether a pattern names an agent.

    What could be the beginning of a runtime's id has to be named as it is: with `fe*` a sender could guess the id of an
    agent that is not meant.
    """
    if pattern != ANYTHING and _LIKE_AN_ID.fullmatch(agent):
        return pattern == agent
    return fnmatchcase(agent, pattern)


def _is_member_key(text: str) -> bool:
    try:
        decode_public(text, "U")
    except MalformedError:
        return False
    return True


def _check(tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    for index, table in enumerate(tables):
        member, agents = table.get("member"), table.get("agents")
        if not isinstance(member, str) or not (member == ANYBODY or _is_member_key(member)):
            yield index, "member", "member is a member key (U…, see `covey mesh members`; names can change) or *"
        if not isinstance(agents, list) or not agents or not all(isinstance(one, str) for one in agents):
            yield index, "agents", 'agents is a list of names that `covey send` takes, or patterns, such as ["claude*"]'


SETTING = Tables(
    ALLOW,
    "Which members may write to agents on this host: member = a member key or *, agents = a list of names or patterns. "
    "Without a table nobody may.",
    consent=True,
    columns={"member": ("text",), "agents": ("list",)},
    required=("member", "agents"),
    check_tables=_check,
)
