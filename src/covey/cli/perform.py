"""Doing what a verb says: ask the daemon, or do it here where the contract allows that, and show the answer."""

from __future__ import annotations

from covey.kernel.client import Client, NotRunning
from covey.kernel.home import Home
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.contract import Operation

    Verb = Callable[[Home, Operation, dict[str, Any]], int]

VERBS = {
    "up": "process",
    "down": "process",
    "logs": "logs",
    "events": "events",
    "doctor": "doctor",
    "service.install": "service",
    "service.uninstall": "service",
    "service.status": "service",
    "completion": "completion",
    "bar": "bar",
    "watch": "watch",
    "wait": "wait",
    "adapters.explain": "adapters",
    "integrate": "integrate",
    "target.connect": "target",
    "target.remove": "target",
    "replay": "replay",
    "signals": "signals",
    "init": "beats",
    "beat": "beats",
    "beats.add": "beats",
    "beats.import_murmur": "beats",
}
"""Verbs that are more than an operation: the module in `covey.cli.verbs` that has a function of the verb's last name."""


ROW_A_LINE = frozenset(("list.panes", "list.windows", "list.sessions"))
"""Lists whose ndjson has a line for each item, and the rest of the answer in the last."""


QUICK = frozenset(("list.panes", "list.windows", "list.sessions", "why", "attention.list", "status", "bar"))
"""What the daemon answers from memory: one that takes longer than `QUICK_S` is stopped or hangs."""
QUICK_S = 10.0


def perform(operation: Operation, params: dict[str, Any]) -> int:
    """Run a verb and return its exit code."""
    home = Home.locate()
    if operation.name != "doctor":  # which is there to tell what is wrong with it
        home.node.check()
    if not operation.route:
        _check(operation, params)
    if operation.name in VERBS:
        module = __import__(f"covey.cli.verbs.{VERBS[operation.name]}", fromlist=("_",))
        verb: Verb = getattr(module, operation.name.rpartition(".")[2])
        return verb(home, operation, params)
    result = ask(home, operation, params)
    out = writer()
    if out.output == "ndjson" and out.limit is None and not out.fields and operation.name in ROW_A_LINE:
        for item in result.pop("items"):
            out.event(item)
    out.success(lambda shown: _text(operation, shown, wide=bool(params.get("wide"))), result)
    return 0


def _check(operation: Operation, params: dict[str, Any]) -> None:
    """The ranges of the contract, for what never reaches the daemon that would check them."""
    if any(parameter.minimum is not None or parameter.maximum is not None for parameter in operation.parameters):
        from covey.kernel.validate import validate

        validate(operation, {name: value for name, value in params.items() if value is not None})


def _text(operation: Operation, result: Any, *, wide: bool) -> str:
    from covey.cli.render import render

    return render(operation, result, colour=writer().colour, wide=wide)


def ask(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """The result of an operation, from the daemon, or made here if it is not running and the operation works without it."""
    socket = home.seat(operation.served_by).socket
    client = Client(socket, timeout=QUICK_S) if operation.name in QUICK else Client(socket)
    try:
        result = client.call(operation, params, idempotency_key=_key() if operation.mutating else "")
    except NotRunning:
        if not operation.offline:
            raise
        return _offline(home, operation, params)
    _warn_of_other_version(client.server_version)
    return result


def _offline(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """The result of an operation that works without a daemon."""
    from covey.node.offline import perform as perform_offline

    result = perform_offline(home, operation.name, params)
    if operation.name.startswith("beats."):
        writer().log(
            "the daemon is not running: this is what was written down last, and nothing runs until `covey up`",
            "warning",
        )
    return result


def _key() -> str:
    """A key of our own, so that a call that is repeated inside one invocation is done once."""
    import os

    return os.urandom(16).hex()


def _warn_of_other_version(version: str) -> None:
    from covey import __version__

    if version != __version__:
        writer().log(
            f"the daemon is covey {version}, this command is {__version__}: run `covey down` and `covey up` to bring them together",
            "warning",
        )
