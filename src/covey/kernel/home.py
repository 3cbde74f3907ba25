"""Covey's home directory: where it is, and the seats of the daemons in it.

On the start path of the command line, so it imports `os` and nothing heavy.
"""

from __future__ import annotations

import os

from covey.kernel.seat import Seat
from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Home:
    """The directory of one user's Covey. Making a `Home` reads nothing."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.node = Seat(path)
        """The seat of the node, the daemon that each user has one of."""

    def seat(self, kind: str, name: str = "") -> Seat:
        """Return the seat of a daemon; `name` tells several of one kind apart."""
        return Seat(self.path, kind, name)

    def __repr__(self) -> str:
        return f"Home({self.path!r})"

    @classmethod
    def locate(cls, environ: Mapping[str, str] = os.environ) -> Home:
        """Return the home that `COVEY_HOME` names, or `~/.covey`.

        A relative one is meant from the current directory; a leading `~` is the user's directory.
        """
        named = environ.get("COVEY_HOME", "")
        if not named:
            return cls(os.path.join(_user_directory(environ), ".covey"))
        if named == "~" or named.startswith("~/"):
            named = _user_directory(environ) + named[1:]
        try:
            return cls(os.path.abspath(named))
        except FileNotFoundError:
            raise user_error(
                f"COVEY_HOME is {named!r}, a relative path, and the current directory does not exist any more",
                "Change to a directory that exists (cd ~), or name an absolute one: export COVEY_HOME=$HOME/.covey",
            ) from None

    def is_default(self, environ: Mapping[str, str] = os.environ) -> bool:
        """Whether this is the home that is found when `COVEY_HOME` is not set."""
        return self.path == os.path.join(_user_directory(environ), ".covey")


def _user_directory(environ: Mapping[str, str]) -> str:
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return os.path.normpath(named)
    import pwd

    try:
        return os.path.normpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise user_error(
            "HOME is not set and this user has no home directory", "Name one: export COVEY_HOME=/a/directory/of/yours"
        ) from None
