"""What runs first in the pane of a kept session: it sets the environment, and becomes the agent.

So values of variables are on no command line, and the process of the pane is the agent itself. Run with `python -I -S`,
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
    argv = plan["argv"]
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"covey: {argv[0]} cannot be started: {error.strerror}\n")
    return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
