"""The template of a HEARTBEAT.md."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from covey.beats.heartbeat_files import FILE
from covey.kernel.quoting import quoted
from murli import conflict, not_found, permission_denied, tool_error, user_error

TEMPLATE = """\
---
interval: 30m
# Or at fixed times:  cron: "0 9 * * 1-5"  and  tz: Europe/Berlin
# More:  name, timeout: 5m, maxTurns: 3, agent: claude, model, budget: {day: 2}, quiet: 22:00-07:00
---
# Heartbeat

What to do on each heartbeat. If nothing needs attention, respond with
exactly `HEARTBEAT_OK`. Otherwise, start with `ATTENTION:` and a brief summary.

## Do this

- Check for new GitHub issues on my-org/my-repo using `gh`
- For any untagged issues, add a triage label based on the content
- If there are urgent issues (security, data loss, outage), tell me
"""


def init(path: str) -> dict[str, Any]:
    """Write the template into a workspace and return `{workspace, file}`.

    An existing file is never overwritten. Raises `AgentError` if the file exists or cannot be written.
    """
    workspace = Path(path).expanduser().absolute()
    file = workspace / FILE
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        raise conflict(
            f"{file} exists already; it was not touched", f"Edit it: ${{EDITOR:-vi}} {quoted(str(file))}", field="path"
        ) from None
    except FileNotFoundError:
        if workspace.is_dir():  # such as /proc
            raise tool_error(
                f"{workspace} cannot hold a file: the system refuses to create {FILE} there", "Name another folder."
            ) from None
        raise not_found(
            f"{workspace} does not exist", f"Make it first: mkdir -p {quoted(str(workspace))}", field="path"
        ) from None
    except NotADirectoryError:
        raise user_error(
            f"{workspace} is not a folder", "Name the folder in which the agent is to work.", field="path"
        ) from None
    except PermissionError as error:
        raise permission_denied(
            f"{file} cannot be written: {error.strerror}", f"Look at the folder: ls -ld {quoted(str(workspace))}"
        ) from None
    except (OSError, ValueError) as error:
        raise tool_error(f"{file} cannot be written: {error}", "Name another folder.") from None
    try:
        with open(descriptor, "wb") as opened:  # noqa: PTH123 - a descriptor, not a path
            opened.write(TEMPLATE.encode())
    except OSError as error:
        file.unlink()
        raise tool_error(
            f"{file} could not be written: {error.strerror or error}; it was taken away again",
            "Free some space, then try again.",
        ) from None
    return {"workspace": str(workspace), "file": str(file)}
