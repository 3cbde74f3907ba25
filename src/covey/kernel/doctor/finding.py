"""One thing that the doctor looked at."""

from __future__ import annotations

from typing import Literal, NamedTuple

OK: Literal["ok"] = "ok"
WARN: Literal["warn"] = "warn"
FAIL: Literal["fail"] = "fail"


class Finding(NamedTuple):
    """`warn`: it works, but not as well as it could; `fail`: it does not work. `fix` is the command that mends it."""

    section: str
    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""
