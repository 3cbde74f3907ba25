"""What a policy says about a request."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Effect = Literal["allow", "deny", "ask"]
ALLOW: Literal["allow"] = "allow"
DENY: Literal["deny"] = "deny"
ASK: Literal["ask"] = "ask"


class Decision(Struct, frozen=True, kw_only=True):
    """`ask` leaves the request to a person. `rule` is the name of the rule that decided, if one did."""

    effect: Effect
    rule: str = ""
    why: str = ""
