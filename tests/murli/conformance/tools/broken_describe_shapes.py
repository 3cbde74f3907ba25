# mypy: ignore-errors
"""describe is JSON, but hardly anything in it has the shape it should have."""

import shelf

honest = shelf.describe


def describe():
    strange = {
        "name": 7,
        "summary": None,
        "safety": "none",
        "flags": {"a": 1},
        "arguments": "title",
        "examples": ["shelf"],
        "subcommands": [3],
    }
    listed = [strange, "list", None, shelf.find(("scan",))]
    return honest() | {
        "commands": listed,
        "global_flags": "none",
        "profiles": [],
        "capabilities": {"output_formats": "json"},
    }


shelf.describe = describe

shelf.main()
