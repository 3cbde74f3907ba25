"""`--schema`: one command's own description, on every command, whatever else is missing from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance.documents import ImpureError, only_object
from murli.conformance.registry import promise
from murli.conformance.report import Finding, failed, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.model import Command, Json
    from murli.conformance.runner import Run
    from murli.conformance.session import Session


@promise(
    "schema.parses",
    "--schema works on every command without its arguments: exit code 0, one JSON object, nothing on stderr.",
)
def parses(session: Session) -> Iterator[Finding]:
    description = session.description()
    for command in (description.root, *description.commands):
        run = _run(session, command)
        wrong = [f"exit code {run.code}"] if run.code != 0 else []
        wrong += ["stderr is not empty"] if run.stderr else []
        try:
            only_object(run.stdout)
        except ImpureError as error:
            wrong.append(str(error))
        yield judge(command.title, run, "exit code 0, one JSON object on stdout, nothing on stderr", wrong)


@promise("schema.name", "--schema describes the command it was asked about.")
def name(session: Session) -> Iterator[Finding]:
    description = session.description()
    for command, run, document in _documents(session):
        expected = command.path[-1] if command.path else description.name
        found = document.get("name")
        yield judge(
            command.title, run, f"name {expected!r}", [] if found == expected else [f"name is {found!r}"], show=False
        )


@promise("schema.agrees", "--schema and describe agree on the safety, the flags and the arguments of every command.")
def agrees(session: Session) -> Iterator[Finding]:
    for command, run, document in _documents(session):
        if not command.path:
            continue
        differing = [
            key
            for key in ("safety", "flags", "arguments")
            if (document.get(key) or []) != (command.document.get(key) or [])
        ]
        if differing:
            shown = "; ".join(f"{key} in describe: {str(command.document.get(key))[:200]}" for key in differing)
            yield failed(
                command.title,
                run,
                "what describe says about this command",
                f"other {', '.join(differing)}; {shown}",
                show=False,
            )
        else:
            yield judge(command.title, run, "", [])


def _run(session: Session, command: Command) -> Run:
    return session.probe((*command.path, "--schema")).run


def _documents(session: Session) -> Iterator[tuple[Command, Run, Json]]:
    """The commands whose schema can be read at all; `schema.parses` reports the others."""
    description = session.description()
    for command in (description.root, *description.commands):
        run = _run(session, command)
        try:
            yield command, run, only_object(run.stdout)
        except ImpureError:
            continue


CHECKS = (parses, name, agrees)
