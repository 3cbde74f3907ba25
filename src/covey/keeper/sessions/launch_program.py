"""What runs first in the pane of a kept session: it sets the environment, and becomes the agent.

So values of variables are on no command line, and the process of the pane is the agent itself. It records the variables
that say where the agent keeps its conversations: they may be those of the tmux server. Run with `python -I -S`,
standard library only.
"""

from __future__ import annotations

import json
import os
import sys

NOT_STARTED = 127


def main(path: str) -> int:
    """Become the program that a file describes. Returns an exit code if that cannot be done."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
        plan = json.load(file)
    for name, value in plan["env"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    record({name: os.environ.get(name) for name in plan["places"]}, plan["places_file"])
    argv = plan["argv"]
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"covey: {argv[0]} cannot be started: {error.strerror}\n")
    return NOT_STARTED


def record(variables: dict[str, str | None], path: str) -> None:
    """Write variables to a private file, as a whole or not at all: the agent is started also on a full disk."""
    draft = f"{path}.{os.getpid()}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - as above
            json.dump(variables, file)
        os.replace(draft, path)  # noqa: PTH105 - as above
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
