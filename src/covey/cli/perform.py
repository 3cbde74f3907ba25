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
    "target.remove": "target",
    "replay": "replay",
    "signals": "signals",
    "init": "beats",
    "beat": "beats",
    "beats.add": "beats",
    "beats.import_murmur": "beats",
}
"""Verbs that are more than an operation: the module in `covey.cli.verbs` that has a function of the verb's last name."""


def perform(operation: Operation, params: dict[str, Any]) -> int:
    """Run a verb and return its exit code."""
    home = Home.locate()
    if operation.name != "doctor":  # which is there to tell what is wrong with it
        home.check()
    if not operation.route:
        _check(operation, params)
    if operation.name in VERBS:
        module = __import__(f"covey.cli.verbs.{VERBS[operation.name]}", fromlist=("_",))
        verb: Verb = getattr(module, operation.name.rpartition(".")[2])
        return verb(home, operation, params)
    result = ask(home, operation, params)
    out = writer()
    out.success(lambda shown: _text(operation, shown), result)
    return 0


def _check(operation: Operation, params: dict[str, Any]) -> None:
    """The ranges of the contract, for what never reaches the daemon that would check them."""
    if any(parameter.minimum is not None or parameter.maximum is not None for parameter in operation.parameters):
        from covey.kernel.validate import validate

        validate(operation, {name: value for name, value in params.items() if value is not None})


def _text(operation: Operation, result: Any) -> str:
    from covey.cli.render import render

    return render(operation, result, colour=writer().colour)


def ask(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """The result of an operation, from the daemon, or made here if it is not running and the operation works without it."""
    client = Client(home.socket)
    try:
        result = client.call(operation, params, idempotency_key=_key() if operation.mutating else "")
    except NotRunning:
        if not operation.offline:
            raise
        from covey.kernel.offline import OFFLINE

        return OFFLINE[operation.name](home, params)
    _warn_of_other_version(client.server_version)
    return result


def _key() -> str:
    """A key of our own, so that a call that is repeated inside one invocation is done once."""
    import os

    return os.urandom(16).hex()


def _warn_of_other_version(version: str) -> None:
    from covey import __version__

    if version != __version__:
        writer().log(
            f"the daemon is covey {version}, this command is {__version__}: run `covey down` and `covey up` to bring them together", "warning"
        )
