"""`python -m murli.conformance -- <command …>`: the kit on the command line, for people and for agents.

It is itself a tool under murli.
"""

from __future__ import annotations

import argparse

from murli import (
    EXIT_PARTIAL,
    PROTOCOL_VERSION,
    ArgumentMetadata,
    Example,
    FlagAnnotation,
    Metadata,
    ReturnSchema,
    not_found,
    user_error,
    writer,
)
from murli.argparse import annotate, run
from murli.conformance import ToolNotFoundError, check
from murli.conformance.checks import CHECKS
from murli.conformance.examination import UnknownCheckError, select

LONGEST = 3600
ABOUT = Metadata(
    agent_description="Runs a command line tool as a black box and checks it against the murli wire contract.",
    when_to_use="Use it after changing a tool that agents call. Exit code 3: read the findings in the result.",
    arguments=[
        ArgumentMetadata(
            name="command",
            required=False,
            description="The command to check, behind --, as you would type it in this directory.",
            content="raw",
        )
    ],
    flag_annotations={"only": FlagAnnotation(content="id")},
    returns=ReturnSchema(
        description="The report, or with --list the checks",
        shape={"ok": "bool", "counts": "object", "checks": "array", "runs": "int"},
    ),
    examples=[
        Example(command="murli-conformance --list", description="Every check and what it promises"),
        Example(
            command="murli-conformance --only guard -- no-such-tool",
            description="A command that is not there",
            expected_exit_code=5,
        ),
    ],
)


def main() -> None:
    """Entry point of `murli-conformance` and `python -m murli.conformance`."""
    parser = argparse.ArgumentParser(
        prog="murli-conformance",
        description="Check a command against the murli wire contract.",
        usage="%(prog)s [options] -- COMMAND …",
    )
    version = _version()
    parser.add_argument("command", nargs="*")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version}", help="Print the version.")
    parser.add_argument(
        "--timeout", type=float, default=20.0, metavar="SECONDS", help="Limit for each single run of the tool."
    )
    parser.add_argument(
        "--only", action="append", metavar="CHECK", help="Only checks whose id begins like this; repeatable."
    )
    parser.add_argument("--list", action="store_true", help="List the checks and run nothing.")
    annotate(parser, ABOUT)
    run(parser, _examine, version=version)


def _version() -> str:
    """Return the version of the installed murli; for a bare copy of the sources, that of the protocol it checks."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("murli")
    except PackageNotFoundError:
        return f"for protocol {PROTOCOL_VERSION}"


def _examine(options: argparse.Namespace) -> int:
    """0: every check passed or was skipped; 3: some check failed; 5: there is no such command."""
    try:
        if options.list:
            return _list(options.only or [])
        if not options.command:
            raise user_error(
                "there is no command to check",
                "Put it behind --, such as: murli-conformance -- my-tool",
                field="command",
            )
        if not 0 < options.timeout <= LONGEST:
            raise user_error(
                f"--timeout must be more than 0 and at most {LONGEST} seconds",
                "Leave it out for 20 seconds.",
                field="timeout",
            )
        report = check(options.command, timeout=options.timeout, only=options.only or [])
    except UnknownCheckError as error:
        suggestion = "Run murli-conformance --list to see the checks."
        raise user_error(
            str(error), suggestion, error="flag_error", field="only", valid_values=[known.id for known in CHECKS]
        ) from error
    except ToolNotFoundError as error:
        raise not_found(
            str(error), "Give the command as you would type it in this directory.", field="command"
        ) from error
    writer().success(report.text(), report.as_dict())
    return 0 if report.ok else EXIT_PARTIAL


def _list(only: list[str]) -> int:
    checks = select(only)
    width = max(len(known.id) for known in checks)
    text = "\n".join(f"{known.id:<{width}}  {known.promise}" for known in checks)
    writer().success(text, [{"id": known.id, "promise": known.promise} for known in checks])
    return 0


if __name__ == "__main__":
    main()
