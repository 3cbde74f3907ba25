"""Performs an operation: asks the daemon, or does it here if the contract allows that, and shows the result."""

from __future__ import annotations

from covey.cli.handlers import verb_of
from covey.cli.person import check_person
from covey.kernel.client import Client, NotRunning
from covey.kernel.home import Home
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation

ROW_A_LINE = frozenset(("list.panes", "list.windows", "list.sessions"))
"""Lists whose ndjson has a line for each item, and the rest of the answer in the last line."""


QUICK = frozenset(("list.panes", "list.windows", "list.sessions", "why", "attention.list", "status", "bar"))
"""Operations that the daemon answers from memory: if it takes longer than `QUICK_S`, it is stopped or hangs."""
QUICK_S = 10.0


def perform(operation: Operation, params: dict[str, Any]) -> int:
    """Perform an operation and return the exit code."""
    home = Home.locate()
    if operation.name != "doctor":  # it reports what is wrong with the home
        home.node.check()
    if not operation.route:
        _check(operation, params)
        check_person(home, operation, params)
    verb = verb_of(operation)
    if verb is not None:
        try:
            return verb(home, operation, params)
        except KeyboardInterrupt:
            if writer().is_tty and (operation.streaming or params.get("follow")):
                return _left()
            raise
    result = ask(home, operation, params)
    out = writer()
    if out.output == "ndjson" and operation.name in ROW_A_LINE:
        result = out.events_of(result)
    show(operation, result, wide=bool(params.get("wide")))
    return 0


def _left() -> int:
    """Return the exit code of a stream that a person has left with Ctrl-C: nothing went wrong that had to be said."""
    import sys

    from murli import EXIT_CANCELLED

    sys.stderr.write("\n")  # the terminal has shown ^C
    return EXIT_CANCELLED


def _check(operation: Operation, params: dict[str, Any]) -> None:
    """Check the ranges of the contract, for operations that never reach the daemon, which would check them."""
    if any(parameter.minimum is not None or parameter.maximum is not None for parameter in operation.parameters):
        from covey.kernel.operations.validate import validate

        validate(operation, {name: value for name, value in params.items() if value is not None})


def show(operation: Operation, result: Any, *, wide: bool = False) -> None:
    """Write the result of an operation, as text for a person or as JSON for a program."""
    out = writer()

    def text(shown: Any) -> str:
        from covey.cli.render import render  # only a person needs it

        return render(operation, shown, colour=out.colour, wide=wide)

    out.success(text, result)


def agreed(question: str) -> bool:
    """Ask a person on the terminal, and return whether the answer was yes."""
    import sys

    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def confirm(question: str, unchanged: str) -> None:
    """On a terminal, ask a person, unless --yes was given. Raises AgentError with `unchanged` if the answer is no."""
    from murli import cancelled

    out = writer()
    if out.is_tty and not out.forced and not agreed(f"{question} [y/N] "):
        raise cancelled(unchanged)


def ask(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """Return the result of an operation: from the daemon, or made here if it is not running and need not be.

    Raises the `AgentError` of the operation or of the connection.
    """
    if operation.seat_parameter:
        from covey.cli.peer import ask_peer

        return ask_peer(home, operation, params)
    socket = home.seat(operation.served_by).socket
    client = Client(socket, timeout=QUICK_S) if operation.name in QUICK else Client(socket)
    try:
        result = client.call(operation, params, idempotency_key=new_key() if operation.mutating else "")
    except NotRunning:
        if not operation.offline:
            raise
        return _offline(home, operation, params)
    warn_of_other_version(client.server_version)
    return result


def _offline(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """Return the result of an operation that works without a daemon."""
    from covey.node.offline import perform as perform_offline

    check_person(home, operation, params)
    result = perform_offline(home, operation.name, params)
    if operation.name.startswith("beats."):
        writer().log(
            "the daemon is not running: this is what it recorded last, and no beat runs until `covey up`",
            "warning",
        )
    return result


def new_key() -> str:
    """Return a new key, so that a call that is sent twice in one invocation is done once."""
    import os

    return os.urandom(16).hex()


def warn_of_other_version(version: str, down: str = "covey down", up: str = "covey up") -> None:
    """Warn of a daemon of another version than this command's; `down` and `up` are the commands that restart it."""
    from covey import __version__

    if version != __version__:
        writer().log(
            f"the daemon is covey {version}, this command is {__version__}: "
            f"run `{down}` and `{up}`, so that both have the same version",
            "warning",
        )
