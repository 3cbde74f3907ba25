"""`describe`: the one document from which an agent learns the whole tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance.documents import ImpureError, only_object
from murli.conformance.envelopes import SCHEMA_VERSION
from murli.conformance.model import Json, mapping, objects, text, texts, walk
from murli.conformance.registry import TOOL, promise
from murli.conformance.report import Finding, failed, judge, passed
from murli.conformance.session import UnusableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.session import Session

FORMATS = ("json", "ndjson", "text")
TYPES = ("string", "int", "float", "bool", "count", "path", "object")


@promise("describe.exit_code", "describe exits with 0.", needs_describe=False)
def exit_code(session: Session) -> Iterator[Finding]:
    run = session.describe()
    yield judge(TOOL, run, "exit code 0", [] if run.code == 0 else [f"exit code {run.code}"])


@promise("describe.json", "describe prints exactly one JSON object.", needs_describe=False)
def one_object(session: Session) -> Iterator[Finding]:
    run = session.describe()
    try:
        only_object(run.stdout)
    except ImpureError as error:
        yield failed(TOOL, run, "one JSON object on stdout and nothing else", str(error))
    else:
        yield passed(TOOL)


@promise("describe.schema_version", "describe and its capabilities say schema_version 1.0.", needs_describe=False)
def schema_version(session: Session) -> Iterator[Finding]:
    document = _document(session)
    said = {
        "schema_version": document.get("schema_version"),
        "capabilities.schema_version": _capabilities(document).get("schema_version"),
    }
    wrong = [f"{where} is {value!r}" for where, value in said.items() if value != SCHEMA_VERSION]
    yield judge(TOOL, session.describe(), f"schema_version {SCHEMA_VERSION!r} in both places", wrong, show=False)


@promise("describe.name", "describe names the tool.", needs_describe=False)
def name(session: Session) -> Iterator[Finding]:
    found = _document(session).get("name")
    yield judge(
        TOOL, session.describe(), "a non-empty name", [] if text(found).strip() else [f"name is {found!r}"], show=False
    )


@promise("describe.capabilities", "describe states the tool's capabilities as an object.", needs_describe=False)
def capabilities(session: Session) -> Iterator[Finding]:
    found = _document(session).get("capabilities")
    yield judge(
        TOOL,
        session.describe(),
        "an object",
        [] if isinstance(found, dict) else [f"capabilities is {found!r}"],
        show=False,
    )


@promise("describe.output_formats", "describe offers json, ndjson and text.", needs_describe=False)
def output_formats(session: Session) -> Iterator[Finding]:
    found = _capabilities(_document(session)).get("output_formats")
    missing = [f"{form} is missing from {found!r}" for form in FORMATS if form not in texts(found)]
    yield judge(TOOL, session.describe(), f"capabilities.output_formats with {', '.join(FORMATS)}", missing, show=False)


@promise("describe.commands", "describe lists the commands, each with a name of its own.", needs_describe=False)
def commands(session: Session) -> Iterator[Finding]:
    document = _document(session)
    listed = document.get("commands")
    wrong = [] if isinstance(listed, list) else [f"commands is {listed!r}"]
    paths = [path for path, _ in walk(document)]
    wrong += [
        f"{entry!r} is not a command"
        for entry in (listed if isinstance(listed, list) else ())
        if not isinstance(entry, dict)
    ]
    wrong += [
        f"a command below {' '.join(path[:-1]) or 'the root'} has no name" for path in paths if not path[-1].strip()
    ]
    wrong += [f"{' '.join(path)} is listed twice" for path in sorted({path for path in paths if paths.count(path) > 1})]
    yield judge(TOOL, session.describe(), "an array of commands with names", wrong, show=False)


@promise("describe.summary", "Every command at every depth has a summary.")
def summary(session: Session) -> Iterator[Finding]:
    for command in session.description().commands:
        found = command.document.get("summary")
        yield judge(
            command.title,
            session.describe(),
            "a non-empty summary",
            [] if text(found).strip() else [f"summary is {found!r}"],
            show=False,
        )


@promise("describe.safety", "Every command has a safety block whose read_only tells the truth about mutating.")
def safety(session: Session) -> Iterator[Finding]:
    for command in session.description().commands:
        block = command.document.get("safety")
        read_only = mapping(block).get("read_only")
        mutating = command.document.get("mutating", False)
        wrong = []
        if not isinstance(block, dict):
            wrong.append(f"safety is {block!r}")
        elif not isinstance(read_only, bool):
            wrong.append(f"safety.read_only is {read_only!r}")
        elif read_only is not (mutating is not True):
            wrong.append(f"read_only is {read_only}, mutating is {mutating!r}")
        yield judge(
            command.title,
            session.describe(),
            "safety.read_only true or false, and the opposite of mutating",
            wrong,
            show=False,
        )


@promise("describe.types", "Flags and arguments have a name and one of the contract's types.")
def types(session: Session) -> Iterator[Finding]:
    for command in session.description().commands:
        entries = [entry for key in ("flags", "arguments") for entry in objects(command.document.get(key))]
        wrong = [
            f"{entry.get('name')!r} has type {entry.get('type')!r}"
            for entry in entries
            if entry.get("type") not in TYPES or not text(entry.get("name"))
        ]
        yield judge(
            command.title, session.describe(), f"a name, and a type out of {', '.join(TYPES)}", wrong, show=False
        )


@promise("describe.stable", "describe says the same thing twice.", needs_describe=False)
def stable(session: Session) -> Iterator[Finding]:
    again = session.probe(("describe",), repeat=1).run
    same = again.stdout == session.describe().stdout
    yield judge(
        TOOL, again, "the same bytes as the first time", [] if same else ["the second answer differs"], show=False
    )


@promise("describe.terminal", "describe prints the same document on a terminal.")
def terminal(session: Session) -> Iterator[Finding]:
    run = session.probe(("describe",), channel="terminal").run
    try:
        same = only_object(run.stdout) == _document(session)
    except ImpureError as error:
        yield failed(TOOL, run, "the JSON document that a pipe gets", str(error))
    else:
        yield judge(
            TOOL,
            run,
            "exit code 0 and the JSON document that a pipe gets",
            [] if same and run.code == 0 else ["it differs"],
            show=False,
        )


def _document(session: Session) -> Json:
    """What describe printed; without one JSON object there is nothing to look at, which `describe.json` reports."""
    try:
        return only_object(session.describe().stdout)
    except ImpureError as error:
        raise UnusableError(f"describe is unusable: {error}") from error


def _capabilities(document: Json) -> Json:
    return mapping(document.get("capabilities"))


CHECKS = (
    exit_code,
    one_object,
    schema_version,
    name,
    capabilities,
    output_formats,
    commands,
    summary,
    safety,
    types,
    stable,
    terminal,
)
