"""A table that fits the terminal: the size of each column, and its lines."""

from __future__ import annotations

from covey.cli.cells import padded, width, wrapped
from covey.cli.text import DIM, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GAP = "  "
LEAST_LAST = 16
"""Cells that the last column keeps when the others are long."""
LEAST = 4
"""Cells that any column keeps where even that is too much."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    signs: Sequence[tuple[str, str]],
    paint: Paint,
    *,
    wrap: bool = False,
) -> list[str]:
    """Return the lines of a table that fits the terminal; `signs` has a sign and its colour for each row.

    With `wrap` the last column is not cut: a row that needs several lines is one text with line breaks.
    """
    return lines_of(head, rows, signs, paint, sizes_of(head, rows, paint.columns), wrap=wrap)


def sizes_of(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int,
    *,
    least: int = LEAST_LAST,
    yielding: Sequence[str] = (),
    shortest: Mapping[str, int] | None = None,
) -> list[int]:
    """Return the cells of each column: the last one takes the rest, at least `least`; others are shortened for it.

    The columns named in `yielding` are shortened before the others, of those the widest first. The first column, a
    state or a name, is shortened last. Those named in `shortest` keep so many cells as long as the table fits at all.
    """
    sizes = [max(width(row[column]) for row in [head, *rows]) for column in range(len(head))]
    room = columns - 2 - len(GAP) * (len(head) - 1) - sum(sizes[:-1])
    wanted = min(sizes[-1], least)
    widest = sorted(range(1, len(head) - 1), key=lambda column: (head[column] not in yielding, -sizes[column]))
    kept = {column: (shortest or {}).get(head[column], max(len(head[column]) + 2, LEAST + 1)) for column in widest}
    gives = [(column, kept[column], wanted) for column in widest] + [(column, LEAST, 0) for column in (*widest, 0)]
    for column, fewest, needed in gives:
        given = max(min(needed - room, sizes[column] - fewest), 0)
        sizes[column] -= given
        room += given
    sizes[-1] = max(room, 0)
    return sizes


def lines_of(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    signs: Sequence[tuple[str, str]],
    paint: Paint,
    sizes: Sequence[int],
    *,
    wrap: bool = False,
) -> list[str]:
    """Return the head and the rows of a table, aligned by the sizes of its columns; for `wrap` see `table`."""
    margin = " " * (2 + sum(sizes[:-1]) + len(GAP) * (len(head) - 1))
    lines = [paint(f"  {_cells(head, sizes)}".rstrip(), DIM)]
    for (sign, colour), row in zip(signs, rows, strict=True):
        first = f"{paint(sign, colour)} {paint(padded(row[0], sizes[0]), colour)}"
        last, *more = wrapped(row[-1], max(sizes[-1], 1)) if wrap else [row[-1]]
        rest = [*row[1:-1], last] if len(row) > 1 else []
        line = f"{first}{GAP}{_cells(rest, sizes[1:])}".rstrip()
        lines.append("\n".join([line, *(margin + text for text in more)]))
    return lines


def _cells(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return GAP.join(padded(cell, size) for cell, size in zip(cells, sizes, strict=True))
