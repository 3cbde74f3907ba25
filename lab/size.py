"""The size of a terminal in columns and rows, written as `80x24`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"(\d{2,3})x(\d{2,3})\Z")


@dataclass(frozen=True, order=True)
class Size:
    columns: int
    rows: int

    @classmethod
    def parse(cls, text: str) -> Size:
        """Return the size that a text such as `80x24` names; raise ValueError when it names none."""
        found = _FORM.match(text)
        if not found:
            raise ValueError(f"{text!r} is no size; write COLUMNSxROWS, for example 80x24")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.columns}x{self.rows}"


DEFAULT = Size(120, 40)
MEASURED = (DEFAULT, Size(80, 24), Size(58, 18), Size(240, 50))
"""The sizes for which accuracy is published: a laptop, the classic terminal, half of it, and a wide screen."""
