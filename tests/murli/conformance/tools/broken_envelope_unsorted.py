# mypy: ignore-errors
"""The status comes first in the envelope."""

import shelf

honest = shelf.envelope
shelf.envelope = lambda *given: dict(sorted(honest(*given).items(), reverse=True))

shelf.main()
