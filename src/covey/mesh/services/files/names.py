"""Names of files that others have chosen, made safe for this machine."""

from __future__ import annotations

from typing import Final

LONGEST_NAME: Final = 200
"""Bytes; file systems allow 255, and the partial file has a longer name."""


def safe_name(name: str, otherwise: str = "file") -> str:
    """Return a name for one file in a folder: without folders, characters that do not print, and a leading dot.

    `otherwise` is used if nothing is left.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown = "".join(letter if letter.isprintable() else "_" for letter in last).strip()
    if shown.startswith("."):  # a file that a shell or another program would obey
        shown = f"_{shown.lstrip('.')}"
    while len(shown.encode()) > LONGEST_NAME:
        stem, dot, ending = shown.rpartition(".")
        shown = f"{stem[:-1]}{dot}{ending}" if stem and len(ending) < LONGEST_NAME // 2 else shown[:-1]
    return shown if shown.strip("._ ") else otherwise
