# mypy: ignore-errors
"""The guard refuses, but has already written a file."""

import shelf

honest = shelf.guard


def guard(call):
    try:
        honest(call)
    except shelf.Failure:
        open("audit.log", "a").close()
        raise


shelf.guard = guard

shelf.main()
