"""Writes the generated files of the SDKs: `./run python -m sdk.generate`; with `--check` it only says what is old."""

from __future__ import annotations

import sys
from pathlib import Path

from sdk.generate import golang, python, reference, typescript
from sdk.generate.model import model

SDK = Path(__file__).resolve().parents[1]
COMMAND = "./run python -m sdk.generate"


def generated() -> dict[Path, str]:
    """Return every generated file as it must be, by its path."""
    found = model()
    made = {**python.files(found), **golang.files(found), **typescript.files(found), **reference.files(found)}
    return {(SDK / place).resolve(): text for place, text in made.items()}


def old() -> list[Path]:
    """Return the generated files that are not as they must be."""
    return [path for path, text in generated().items() if not path.exists() or path.read_text("utf-8") != text]


def main() -> int:
    """Write the files, or with `--check` return 1 if one of them is old."""
    if sys.argv[1:] == ["--check"]:
        found = old()
        for path in found:
            sys.stderr.write(f"{path.relative_to(SDK.parent)} is old: run {COMMAND}\n")
        return 1 if found else 0
    for path, text in generated().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
