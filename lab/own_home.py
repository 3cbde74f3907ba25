"""A home folder of their own for the tests and the lab: no program that they start reads or changes a person's files.

Shells, git, tmux, agents and language tools read files from the home of whoever starts them. What those hold decides
then how a test ends, and a test that goes wrong can damage them. Caches stay where they are, and so do the settings
that say where packages come from: each is named by a variable of its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.install import lab_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "COVEY_OWN_HOME"
"""Names the folder that this process, or one above it, has made."""
CACHES = {
    "COVEY_SDK_CACHE": "covey-sdk",
    "GOCACHE": "go-build",
    "PIP_CACHE_DIR": "pip",
    "STATICCHECK_CACHE": "staticcheck",
}
"""Variables, and the folders that they mean below the user's cache folder."""
KEPT = {
    "ASDF_DATA_DIR": ".asdf",
    "GOENV": ".config/go/env",
    "GOPATH": "go",
    "NPM_CONFIG_CACHE": ".npm",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",
    "PYENV_ROOT": ".pyenv",
    "VOLTA_HOME": ".volta",
}
"""Variables, and the files or folders that they mean below the home: where packages and interpreters come from."""
BASES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def enter() -> Path:
    """Make a home for this process and all that it starts, which is removed at its end; return the folder.

    Inside of such a process the home is that of the outer one.
    """
    if made := os.environ.get(MARK):
        return Path(made)
    # Sockets lie below homes, and a socket's path may have about a hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="cv-home-")).resolve()
    settings = environment(os.environ, Path.home())
    trusted = _trusted_repositories()
    for base in BASES:
        os.environ.pop(base, None)
    os.environ.update(settings, HOME=str(folder), **{MARK: str(folder)})
    (folder / ".gitconfig").write_text("".join(f"[safe]\n\tdirectory = {one}\n" for one in trusted))
    atexit.register(_remove, folder, os.getpid())
    return folder


def environment(before: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the variables that keep caches and package sources where they are, for somebody with this home.

    What is set already stays as it is.
    """
    cache = Path(before.get("XDG_CACHE_HOME") or home / ".cache")
    meant = {name: cache / folder for name, folder in CACHES.items()}
    meant |= {name: home / path for name, path in KEPT.items() if (home / path).exists()}
    meant["COVEY_LAB_DIR"] = lab_folder()
    known = {name.upper() for name in before}  # npm takes its variables in lower case too
    return {name: str(path) for name, path in meant.items() if name not in known}


def _trusted_repositories() -> list[str]:
    """Return the repositories of other users that git may be used in, as a person has said: a clone may be one."""
    ended = subprocess.run(
        ["git", "config", "--global", "--get-all", "safe.directory"], capture_output=True, text=True, check=False
    )
    return ended.stdout.splitlines()


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
