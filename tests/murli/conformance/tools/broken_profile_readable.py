# mypy: ignore-errors
"""Everybody may read the profiles, secrets included."""

import shelf

honest = shelf.keep_profiles
shelf.keep_profiles = lambda saved: honest(saved, mode=0o644)

shelf.main()
