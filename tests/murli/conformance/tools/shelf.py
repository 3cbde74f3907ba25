# mypy: ignore-errors
"""shelf: a small tool that keeps every promise of the contract, in plain Python and without murli.

It proves that the kit is a black box. `good.py` runs it as it is; each `broken_*.py` imports it and breaks one promise,
so everything is looked up in the module at run time and can be replaced from outside. The tests start it some thousand
times, so it starts in half the time that importing `json` would take: it writes JSON by itself and imports that only
to read.
"""

import os
import sys
from _json import encode_basestring

NAME = "shelf"
VERSION = "1.2.3"
ERROR_KEYS = [
    "code",
    "error",
    "message",
    "suggestion",
    "recoverable",
    "valid_values",
    "retry_after_ms",
    "doc_url",
    "field",
    "schema_version",
    "tool_version",
]


def flag(name, kind, default=None, **extra):
    return {"name": name, "type": kind, "default": default, "description": f"The {name}.", **extra}


def argument(name, **extra):
    return {"name": name, "type": "string", "required": True, "description": f"The {name}.", **extra}


def example(command, code=0):
    return {"command": f"{NAME} {command}", **({"expected_exit_code": code} if code else {})}


def command(name, summary, *, mutating=False, guarded=False, dry_run=False, **extra):
    safety = {"read_only": not mutating, "idempotent": False}
    safety |= {"dry_run_supported": True} if dry_run else {}
    safety |= {"guarded": guarded} if mutating else {}
    return {"name": name, "summary": summary, "idempotent": False, "mutating": mutating, **extra, "safety": safety}


ROOT_FLAGS = [
    flag("region", "string", "eu", enum=["eu", "us", "asia"], profileable=True),
    flag("token", "string", env="SHELF_TOKEN", sensitive=True, profileable=True),
]
BUILTINS = (
    dict.fromkeys(("agent", "schema", "debug"), "bool")
    | dict.fromkeys(("output", "input", "fields", "protocol-version", "profile"), "string")
    | {"limit": "int"}
)

COMMANDS = [
    command("add", "Put a book on the shelf", mutating=True,
            arguments=[argument("title")], flags=[flag("pages", "int", 0)],
            examples=[example("add Dune --pages 412"), example("add Emma --pages=320"), example("add Ulysses")]),
    command("list", "List the books",
            flags=[flag("top", "int", 10), flag("sort", "string", "title", enum=["title", "pages"])],
            examples=[example("list --sort pages --top 5")]),
    command("find", "Find one book", arguments=[argument("title")],
            examples=[example("find Dune"), example("find Nothing", 5)]),
    command("scan", "Scan the books one by one"),
    command("delete", "Take a book away", mutating=True, guarded=True, dry_run=True, arguments=[argument("title")],
            flags=[flag("reason", "string", "")], examples=[example("delete Dune --yes")]),
    command("remote", "The shelf elsewhere", subcommands=[
        command("status", "Where the shelf would go", examples=[example("--region us remote status")]),
        command("push", "Send the shelf", mutating=True, guarded=True, dry_run=True,
                flags=[flag("key", "int", sensitive=True)]),
    ]),
    command("describe", "Describe this tool"),
    command("profile", "Saved flags", subcommands=[
        command("save", "Save flags", mutating=True, arguments=[argument("name")]),
        command("use", "Make a profile the default", mutating=True, arguments=[argument("name")]),
        command("list", "List profiles"),
        command("show", "Show a profile", arguments=[argument("name")]),
        command("delete", "Delete a profile", mutating=True, arguments=[argument("name")]),
    ]),
]  # fmt: skip


class Failure(Exception):
    def __init__(self, code, error, message, **extra):
        super().__init__(message)
        self.fields = {"code": code, "error": error, "message": message, "recoverable": code == 1, **extra}


class Call:
    """One parsed command line."""

    def __init__(self):
        self.path, self.values, self.plain = (), {}, []

    @property
    def document(self):
        return find(self.path)

    @property
    def kinds(self):
        own = [*ROOT_FLAGS, *((self.document or {}).get("flags", []))]
        extra = ["yes", "force"] if (self.document or {}).get("mutating") else []
        extra += ["dry-run"] if (self.document or {}).get("safety", {}).get("dry_run_supported") else []
        return BUILTINS | dict.fromkeys(extra, "bool") | {entry["name"]: entry["type"] for entry in own}

    def get(self, name):
        """Explicit flag, then profile, then environment, then default."""
        entry = next(entry for entry in [*ROOT_FLAGS, *self.document.get("flags", [])] if entry["name"] == name)
        for source in precedence(self, entry):
            if source is not None:
                return source
        return entry["default"]


def precedence(call, entry):
    return call.values.get(entry["name"]), profile_values(call).get(entry["name"]), os.environ.get(entry.get("env", ""))


def find(path):
    entries, found = COMMANDS, None
    for word in path:
        found = next((entry for entry in entries if entry["name"] == word), None)
        entries = (found or {}).get("subcommands", [])
    return found


def parse(argv):
    call, words = Call(), list(argv)
    if any("\udc80" <= letter <= "\udcff" for word in words for letter in word):
        raise Failure(1, "invalid_input", "An argument is not UTF-8.", suggestion="Encode it as UTF-8.")
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            kind = call.kinds.get(name)
            if kind is None:
                raise Failure(1, "flag_error", f"There is no flag --{name}.", suggestion="See --schema.", field=name)
            if kind != "bool" and not equals:
                if not words:
                    raise Failure(1, "flag_error", f"--{name} needs a value.", field=name)
                value = words.pop(0)
            call.values[name] = True if kind == "bool" else convert(name, kind, value)
        elif not call.plain and find((*call.path, word)):
            call.path = (*call.path, word)
        else:
            call.plain.append(word)
    return call


def convert(name, kind, value):
    if kind == "int":
        try:
            return int(value)
        except ValueError:
            raise Failure(1, "flag_error", f"--{name} wants a whole number.", field=name) from None
    enum = {"output": ["json", "ndjson", "text"]}.get(name) or next(
        (f.get("enum") for f in ROOT_FLAGS if f["name"] == name), None
    )
    if enum and value not in enum:
        raise Failure(1, "flag_error", f"--{name} has no such value.", valid_values=enum, field=name)
    return value


def read_input(call):
    try:
        given = parse_json(sys.stdin) if call.values["input"] == "-" else load(call.values["input"][1:])
    except ValueError:
        raise Failure(1, "invalid_input", "The input is not JSON.", field="input") from None
    names = [entry["name"] for entry in call.document.get("arguments", [])]
    for name, value in given.items():
        if name not in names and name not in call.kinds:
            raise Failure(1, "invalid_input", f"There is no parameter {name}.", field=name)
        if name not in names:
            call.values.setdefault(name, convert(name, call.kinds[name], value))
    call.plain += [given[name] for name in names if name in given]


def validate(call):
    document = call.document
    if document is None or "subcommands" in document:
        if call.plain:
            raise Failure(1, "unknown_command", f"There is no command {call.plain[0]}.", suggestion="See describe.")
        raise Failure(1, "missing_command", "Which command?", suggestion="See describe.")
    wanted = [entry["name"] for entry in document.get("arguments", [])]
    if len(call.plain) != len(wanted):
        raise Failure(
            1, "argument_error", f"Wanted: {', '.join(wanted) or 'no arguments'}.", suggestion="See --schema."
        )


def guard(call):
    confirmed = any(call.values.get(name) for name in ("yes", "force", "dry-run"))
    if call.document["safety"].get("guarded") and agent(call.values) and not confirmed:
        raise Failure(1, "confirmation_required", "This command mutates state and requires explicit confirmation.",
                      suggestion="Pass --force or --yes to proceed without a TTY.")  # fmt: skip


# ---- output


def agent(values):
    return values.get("agent") or sys.stdout is None or not sys.stdout.isatty()


def form(values):
    return values.get("output") or ("json" if agent(values) else "text")


def render(value, depth=None):
    """JSON, minified, or indented by two spaces when it is told how deep it is."""
    if isinstance(value, dict):
        colon = ":" if depth is None else ": "
        return lines("{}", [encode_basestring(key) + colon + render(value[key], deeper(depth)) for key in value], depth)
    if isinstance(value, list):
        return lines("[]", [render(entry, deeper(depth)) for entry in value], depth)
    if isinstance(value, str):
        return encode_basestring(value)
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else repr(value)
    )


def lines(brackets, parts, depth):
    if depth is None or not parts:
        return brackets[0] + ",".join(parts) + brackets[1]
    inner = "\n" + "  " * (depth + 1)
    return brackets[0] + inner + ("," + inner).join(parts) + "\n" + "  " * depth + brackets[1]


def deeper(depth):
    return None if depth is None else depth + 1


def dump(value, values):
    return render(value, None if form(values) == "ndjson" else 0)


def write(text):
    if sys.stdout is None:
        raise Failure(2, "output_error", "Standard output is closed.")
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def envelope(call, result, status, streamed):
    found = {"result": result, "schema_version": "1.0", "status": status, "tool_version": VERSION}
    limit = call.values.get("limit")
    if limit is not None and isinstance(result, list) and len(result) > limit:
        found |= {"result": result[:limit], "total": len(result)}
    if "fields" in call.values and isinstance(found["result"], list):
        wanted = call.values["fields"].split(",")
        found["result"] = [{key: row[key] for key in wanted if key in row} for row in found["result"]]
    return found


def succeed(call, text, result, *, status="ok", streamed=False):
    if form(call.values) == "text":
        write(text)
    else:
        write(dump(envelope(call, result, status, streamed), {"output": "ndjson"} if streamed else call.values))


def log(call, message):
    sys.stderr.write((render({"level": "info", "msg": message, "ts": 0}) if agent(call.values) else message) + "\n")


def report(failure, values):
    fields = failure.fields | {"schema_version": "1.0", "tool_version": VERSION}
    ordered = {key: fields[key] for key in ERROR_KEYS if fields.get(key) not in (None, "", [])}
    text = f"Error: {fields['message']}" if form(values) == "text" else dump(ordered, values)
    sys.stderr.write(text + "\n")
    return fields["code"]


# ---- commands


def parse_json(file):
    import json

    return json.load(file)


def load(path, default=None):
    try:
        with open(path) as file:
            return parse_json(file)
    except FileNotFoundError:
        return default


def store(path, value, mode=0o666):
    with open(path, "w", opener=lambda name, how: os.open(name, how, mode)) as file:
        file.write(render(value))


def books():
    return load("shelf.json", [])


def keep(entries):
    store("shelf.json", entries)


def do_add(call):
    keep([*books(), {"title": call.plain[0], "pages": call.get("pages")}])
    succeed(call, f"Added {call.plain[0]}", {"title": call.plain[0]})


def do_list(call):
    found = sorted(books(), key=lambda book: book[call.get("sort")])[: call.get("top")]
    succeed(call, f"{len(found)} books", found)


def do_find(call):
    found = [book for book in books() if book["title"] == call.plain[0]]
    if not found:
        raise Failure(5, "not_found", f"No book is called {call.plain[0]}.")
    succeed(call, found[0]["title"], found[0])


def do_scan(call):
    log(call, "scanning")
    for number in range(3):
        if form(call.values) != "text":
            write(render({"scanned": number}))
    succeed(call, "3 scanned", None, streamed=True)


def do_delete(call):
    if call.values.get("dry-run"):
        return succeed(call, "Would delete", {"would_delete": call.plain[0]}, status="plan")
    keep([book for book in books() if book["title"] != call.plain[0]])
    return succeed(call, "Deleted", {"title": call.plain[0]})


def do_status(call):
    succeed(
        call,
        f"Region {call.get('region')}",
        {"region": call.get("region"), "authenticated": call.get("token") is not None},
    )


def do_push(call):
    dry = call.values.get("dry-run")
    succeed(call, "Pushed", {"region": call.get("region")}, status="plan" if dry else "ok")


def do_describe(call):
    write(dump(describe(), {}))


def describe():
    return {
        "name": NAME,
        "summary": "A shelf of books",
        "schema_version": "1.0",
        "tool_version": VERSION,
        "capabilities": {
            "streaming": True, "dry_run": True, "output_formats": ["json", "ndjson", "text"], "schema_version": "1.0",
            "profiles": True, "structured_input": True, "field_mask": True, "limit": True,
        },
        "profiles": {
            "available": sorted(profiles()["profiles"]),
            "profileable_flags": [f["name"] for f in ROOT_FLAGS if f.get("profileable")],
        },
        "global_flags": [*ROOT_FLAGS, *(flag(name, kind) for name, kind in BUILTINS.items())],
        "commands": COMMANDS,
    }  # fmt: skip


def schema(call):
    if not call.path:
        return {"name": NAME, "summary": "A shelf of books", "flags": ROOT_FLAGS}
    cut = [{"name": entry["name"], "summary": entry["summary"]} for entry in call.document.get("subcommands", [])]
    return call.document | ({"subcommands": cut} if cut else {})


# ---- profiles


def store_path():
    return os.path.join(os.environ["HOME"], f".{NAME}", "profiles.json")


def profiles():
    return load(store_path(), {"profiles": {}})


def keep_profiles(saved, mode=0o600):
    os.makedirs(os.path.dirname(store_path()), exist_ok=True)
    store(store_path(), saved, mode)


def profile_values(call):
    saved = profiles()
    name = call.values.get("profile")
    if name is not None and name not in saved["profiles"]:
        raise Failure(1, "profile_error", f"There is no profile {name}.", valid_values=sorted(saved["profiles"]))
    return saved["profiles"].get(name or saved.get("default"), {})


def shown(flags):
    hidden = [entry["name"] for entry in ROOT_FLAGS if entry.get("sensitive")]
    return {name: "***" if name in hidden else value for name, value in flags.items()}


def do_profile(call):
    saved, verb = profiles(), call.path[1]
    if verb == "list":
        return succeed(call, "\n".join(saved["profiles"]) or "none", sorted(saved["profiles"]))
    name = call.plain[0]
    if verb == "save":
        names = [entry["name"] for entry in ROOT_FLAGS]
        saved["profiles"][name] = {key: value for key, value in call.values.items() if key in names}
    elif name not in saved["profiles"]:
        raise Failure(5, "not_found", f"There is no profile {name}.")
    elif verb == "use":
        saved["default"] = name
    elif verb == "delete":
        del saved["profiles"][name]
    if verb == "show":
        return succeed(call, name, shown(saved["profiles"][name]))
    keep_profiles(saved)
    return succeed(call, f"{verb} {name}", {"name": name})


HANDLERS = {
    ("add",): "do_add",
    ("list",): "do_list",
    ("find",): "do_find",
    ("scan",): "do_scan",
    ("delete",): "do_delete",
    ("remote", "status"): "do_status",
    ("remote", "push"): "do_push",
    ("describe",): "do_describe",
}


def dispatch(call):
    globals()[HANDLERS.get(call.path, "do_profile")](call)


def run(argv):
    call = parse(argv)
    if call.values.get("schema"):
        write(dump(schema(call), {}))
        return
    if "input" in call.values:
        read_input(call)
    validate(call)
    guard(call)
    profile_values(call)
    dispatch(call)


def requested(argv):
    """What a broken command line still says about the form of its error."""
    wanted = argv[argv.index("--output") + 1 :][:1] if "--output" in argv else []
    return {
        "agent": "--agent" in argv,
        "output": wanted[0] if wanted and wanted[0] in ("json", "ndjson", "text") else None,
    }


def main():
    try:
        run(sys.argv[1:])
    except Failure as failure:
        sys.exit(report(failure, requested(sys.argv[1:])))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
