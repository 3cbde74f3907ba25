"""Paths in commands that our messages suggest."""

from __future__ import annotations


def quoted(path: str) -> str:
    """Return a path as a shell takes it."""
    from shlex import quote

    return quote(path)
