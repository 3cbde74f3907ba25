"""The environment of a hook: a few variables of our own. Nothing of the daemon's environment is inherited."""

from __future__ import annotations

import os

from covey.kernel.processes.service import executable
from murli import AgentError

SEARCH_PATH = "/usr/bin:/bin"
LANGUAGE = "C.UTF-8"
SANDBOX_HOME = "/tmp"  # noqa: S108 - a folder inside the sandbox, of one run only


def environment(*, slug: str, member: str, home: str, token: str, sandboxed: bool) -> dict[str, str]:
    """Return the variables of one run.

    HOME is the user's, since git, ssh, curl and most others look for their configuration there, and a hook without a
    sandbox can find it anyway; in a sandbox it is the private /tmp. COVEY_COMMAND is the `covey` of this installation,
    which seldom is in PATH. The names that begin with CLAUDEMESH_ are those of the claudemesh daemon.
    """
    return {
        "PATH": SEARCH_PATH,
        "HOME": SANDBOX_HOME if sandboxed else _user_directory(),
        "LANG": LANGUAGE,
        "COVEY_COMMAND": _covey(),
        "COVEY_HOME": home,
        "COVEY_MESH": slug,
        "COVEY_MEMBER": member,
        "COVEY_MESH_TOKEN": token,
        "CLAUDEMESH_HOME": home,
        "CLAUDEMESH_MESH": slug,
        "CLAUDEMESH_MEMBER": member,
        "CLAUDEMESH_TOKEN": token,
    }


def _user_directory() -> str:
    directory = os.path.expanduser("~")  # noqa: PTH111 - a user without a directory is no reason to fail
    return directory if directory.startswith("/") else "/"


def _covey() -> str:
    try:
        return executable()[0]
    except AgentError:  # it is not installed as a command
        return "covey"
