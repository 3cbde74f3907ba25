"""`covey mesh keys export` and `import`. The passphrase comes from a terminal, a file or the environment."""

from __future__ import annotations

import os

from covey.cli.message_text import read_text
from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from covey.contract.mesh_shapes import KIND
from covey.kernel.lock import holder
from covey.kernel.seat_choice import chosen_seat
from murli import AgentError, conflict, user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
VARIABLE = "COVEY_MESH_PASSPHRASE"


def export(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Write the identity to a new file that only its owner can read."""
    from covey.mesh.identity_file import export_identity

    seat = chosen_seat(home, KIND, params["mesh"])
    path = params["path"]
    if os.path.lexists(path):
        raise conflict(f"{path} exists already", "Name a file that does not exist.", field="path")
    result = export_identity(seat, path, _passphrase(params, twice=True))
    show(operation, result)
    return 0


def import_(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Take an exported identity into this home."""
    from covey.mesh.identity_file import import_identity

    text = read_text(params["path"], "path")
    result = import_identity(home, text, _passphrase(params, twice=False), params["slug"] or "")
    show(operation, {**result, "running": _started(home, result["slug"])})
    return 0


def _started(home: Home, slug: str) -> bool:
    """Let the node keep the peer running, and return whether it does; say why if it does not."""
    if holder(home.node.pid_file) is None:
        writer().log("the daemon does not run: start it with `covey up`, and the peer with it", "warning")
        return False
    try:
        ask(home, BY_NAME["mesh.up"], {"slug": slug, "all": False})
    except AgentError as error:
        writer().log(f"the peer does not run: {error.message}", "warning")
        return False
    return True


def _passphrase(params: dict[str, Any], *, twice: bool) -> str:
    """Return the passphrase. Raises AgentError if there is none, or the second one differs from the first."""
    if params["passphrase_file"]:
        return _first_line(read_text(params["passphrase_file"], "passphrase_file"))
    given = os.environ.get(VARIABLE, "")
    if given:
        return given
    if not (writer().is_tty and os.isatty(0)):
        raise user_error(
            "there is no passphrase, and no terminal to ask for one",
            f"Name a file with --passphrase-file, or set {VARIABLE}.",
            error="argument_error",
            field="passphrase_file",
        )
    from getpass import getpass

    first = getpass("Passphrase: ")
    if twice and getpass("Once more: ") != first:
        raise user_error("the two passphrases differ", "Try again.", field="passphrase_file")
    return first


def _first_line(text: str) -> str:
    line = text.split("\n", 1)[0].removesuffix("\r")
    if not line:
        raise user_error("the passphrase is empty", "Put it into the first line of the file.", field="passphrase_file")
    return line
