# mypy: ignore-errors
"""--output ndjson is indented like json."""

import shelf

honest = shelf.dump


def dump(value, values):
    return honest(value, {} if value.get("result") is not None and values.get("output") == "ndjson" else values)


shelf.dump = dump

shelf.main()
