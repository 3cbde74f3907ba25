# mypy: ignore-errors
"""--limit cuts the list and does not say so."""

import shelf

honest = shelf.envelope


def envelope(*given):
    found = honest(*given)
    found.pop("total", None)
    return found


shelf.envelope = envelope

shelf.main()
