# mypy: ignore-errors
"""NO_COLOR is ignored on the terminal."""

import sys

import shelf

honest = shelf.write
shelf.write = lambda text: honest(
    f"\x1b[1;32m{text}\x1b[0m" if sys.stdout and sys.stdout.isatty() and text[:1] not in "{[" else text
)

shelf.main()
