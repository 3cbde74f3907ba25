# mypy: ignore-errors
"""--schema complains about missing arguments."""

import shelf

honest = shelf.schema


def schema(call):
    if call.path == ("delete",):
        shelf.validate(call)
    return honest(call)


shelf.schema = schema

shelf.main()
