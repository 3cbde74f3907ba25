# mypy: ignore-errors
"""--schema leaves out a flag that describe announces."""

import shelf

honest = shelf.schema
shelf.schema = lambda call: honest(call) | ({"flags": []} if call.path == ("list",) else {})

shelf.main()
