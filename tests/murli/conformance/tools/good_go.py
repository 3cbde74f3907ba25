# mypy: ignore-errors
"""shelf as the Go original would describe it.

It has none of the additions, and every command that mutates is guarded without saying so.
"""

import copy

import shelf

honest = shelf.describe
honest_schema = shelf.schema
ADDITIONS = ("structured_input", "field_mask", "limit")


def plain(entry):
    """The description of a command without the keys that the original does not know."""
    entry = copy.deepcopy(entry)
    entry["safety"].pop("guarded", None)
    if "subcommands" in entry:
        entry["subcommands"] = [plain(nested) for nested in entry["subcommands"]]
    return entry


def describe():
    found = honest()
    found.pop("global_flags")
    found["capabilities"] = {name: value for name, value in found["capabilities"].items() if name not in ADDITIONS}
    return found | {"commands": [plain(entry) for entry in shelf.COMMANDS]}


shelf.find(("add",))["safety"]["guarded"] = True
for sample in shelf.find(("add",))["examples"]:
    sample["command"] += " --force"
for verb in shelf.find(("profile",))["subcommands"]:
    # The original mounts its profile commands without metadata: they do not even say that they mutate.
    verb |= {"mutating": False, "safety": {"read_only": True, "idempotent": False}}
shelf.BUILTINS = {name: kind for name, kind in shelf.BUILTINS.items() if name not in ("input", "fields", "limit")}
shelf.describe = describe
shelf.schema = lambda call: (
    plain(honest_schema(call)) if call.path and "subcommands" not in call.document else honest_schema(call)
)

shelf.main()
