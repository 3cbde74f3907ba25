"""What the heads of HEARTBEAT.md files say, as far as a person has agreed to it.

An agent that works in a workspace can write to it, also to the file that says with which rights the agent itself runs,
what command is its probe, and what it may spend. So these options of a head are kept as they were when the workspace
was put on the schedule; a file that says something else, or that was not there then, is not run until `covey beats add`
was called again. The instructions of a file are not kept: they are read at each run.

The options are in `beats/agreed.json` in the home: by workspace and by file, as texts, lists and tables of texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from covey.beats.run_folder import make_private
from covey.kernel.atomic_file import write_file
from covey.kernel.config.file import locked
from covey.kernel.quoting import quoted
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    Options = Mapping[str, Any]
    Heads = Mapping[str, Options]
    """The options of a workspace's files, by the name of the beat's folder; empty for the workspace's own file."""

FILE = "agreed.json"
LARGEST = 1 << 24


class Agreements:
    """The agreed options of all workspaces, by the path of a workspace as config.toml means it."""

    def __init__(self, home: str, *, read_only: bool = False) -> None:
        """With `read_only`, nothing is kept of a workspace that was never seen before."""
        self._home = home
        self._read_only = read_only
        self._path = Path(home) / "beats" / FILE
        self._stamp: tuple[int, ...] | None = None
        self._agreed: dict[str, dict[str, dict[str, Any]]] = {}
        self._problem = ""
        """Why it is not known what was agreed to, or why it cannot be kept; empty if there is nothing wrong."""

    def reload(self) -> bool:
        """Read the file again if it has changed, or there was something wrong with it; return whether it was read."""
        try:
            found = self._path.stat()
            stamp: tuple[int, ...] = (found.st_ino, found.st_mtime_ns, found.st_size)
        except OSError:
            stamp = ()
        if stamp == self._stamp and not self._problem:
            return False
        self._stamp = stamp
        self._read()
        return True

    def objection(self, workspace: str, part: str, options: Options) -> str:
        """Return why a file with these options in its head is not run; empty if they were agreed to."""
        again = f"covey beats add {quoted(workspace)}"
        if self._problem:
            return f"it is not known what you have agreed to: {self._problem}; look at the file, then agree: {again}"
        if workspace not in self._agreed:
            return ""  # the daemon has yet to see it
        agreed = self._agreed[workspace].get(part)
        if agreed is None:
            return f"it was not there when you put this folder on the schedule: look at it, then agree: {again}"
        names = changed(agreed, options)
        if not names:
            return ""
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
        are = "are" if names[1:] else "is"
        return f"{listed} {are} not what you have agreed to: look at the file, then agree: {again}"

    def agree(self, found: Mapping[str, Heads]) -> None:
        """Keep what the files of these workspaces say as agreed to, in place of what was. Raises OSError."""
        self._update(found, again=True)

    def see(self, found: Mapping[str, Heads]) -> None:
        """Keep what the files of those workspaces say that were never seen before: config.toml names them since now.

        Where that cannot be kept, their files are not run.
        """
        if self._read_only or self._problem or found.keys() <= self._agreed.keys():
            return
        try:
            self._update(found, again=False)
        except OSError as error:
            self._problem = f"{self._path} cannot be written: {error.strerror or error}"

    def _update(self, found: Mapping[str, Heads], *, again: bool) -> None:
        make_private(self._path.parent)
        with locked(self._home):
            self._read()
            for workspace, heads in found.items():
                if again or workspace not in self._agreed:
                    self._agreed[workspace] = {part: dict(options) for part, options in heads.items()}
            write_file(str(self._path), msgspec.json.encode(self._agreed), 0o600)
        self._problem = ""

    def _read(self) -> None:
        self._agreed, self._problem = {}, ""
        try:
            content = read_regular(str(self._path), LARGEST)
            self._agreed = msgspec.json.decode(content, type=dict[str, dict[str, dict[str, Any]]])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, msgspec.DecodeError) as error:
            self._problem = f"{self._path} cannot be read: {getattr(error, 'strerror', '') or error}"


def changed(agreed: Options, options: Options) -> list[str]:
    """Return the names of the options that are new, gone or different."""
    return sorted(name for name in agreed.keys() | options.keys() if agreed.get(name) != options.get(name))


def described(options: Options) -> list[str]:
    """Return the options of a head as lines for people, such as `interval: 30m`."""
    return [
        f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for name, value in options.items()
    ]
