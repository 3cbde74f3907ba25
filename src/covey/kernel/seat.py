"""The seat of a daemon: its directory and the files in it, with which modes, and whether it is safe to use them.

On the start path of the command line, so it imports `os` and nothing heavy.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from covey.kernel.quoting import quoted
from murli import permission_denied, tool_error, user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli import AgentError

LONGEST_SOCKET_PATH = 104 if sys.platform == "darwin" else 108
"""Bytes of `sun_path`, the final NUL included: what the kernel takes as the address of a Unix socket."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Seat:
    """Where one daemon keeps its files. Making a `Seat` reads nothing; `prepare` creates its directory.

    `kind` is the kind of daemon (`node`), `name` tells several of one kind apart. The node's directory is
    `<home>/node` and its configuration the user's `<home>/config.toml`; another daemon's directory is
    `<home>/<kind>/<name>` and holds its own `config.toml`.

    The socket lives here and not under `XDG_RUNTIME_DIR`, so that cron, ssh and systemd, which disagree about that
    variable, all find the same daemon.
    """

    def __init__(self, home: str, kind: str = "node", name: str = "") -> None:
        self.home = home
        self.kind = kind
        self.name = name
        self.directory = os.path.join(home, kind, name) if name else os.path.join(home, kind)
        self.config_file = os.path.join(home if kind == "node" else self.directory, "config.toml")
        self.pid_file = os.path.join(self.directory, "pid")
        self.socket = os.path.join(self.directory, "sock")
        self.port_file = os.path.join(self.directory, "http.port")
        self.token_file = os.path.join(self.directory, "http.token")
        self.database = os.path.join(self.directory, f"{kind}.db")
        self.log_file = os.path.join(self.directory, "daemon.log")

    @property
    def title(self) -> str:
        """What the daemon is called in a sentence: the Covey daemon, or the mesh daemon prod."""
        return "the Covey daemon" if self.kind == "node" else f"the {self.kind} daemon {self.name}".rstrip()

    def command(self, verb: str) -> str:
        """Return the command line that does something with this daemon, such as `covey up` or `covey mesh up prod`."""
        words = ["covey", verb] if self.kind == "node" else ["covey", self.kind, verb, self.name]
        return " ".join(filter(None, words))

    def __repr__(self) -> str:
        return f"Seat({self.home!r}, {self.kind!r}, {self.name!r})"

    @property
    def modes(self) -> dict[str, int]:
        """The mode of each file the daemon keeps. `config.toml` is the user's and keeps its mode."""
        private, readable = 0o600, 0o644
        return {
            self.pid_file: private,
            self.socket: private,
            self.port_file: readable,
            self.token_file: private,
            self.database: private,
            self.log_file: private,
        }

    def prepare(self) -> None:
        """Create the directories that are missing, with mode 0700. Raises what `check` raises; may be called again."""
        self.check()
        try:
            os.makedirs(os.path.dirname(self.home), exist_ok=True)
            for directory in self._directories:
                _make_private(directory)
            if os.stat(self.directory).st_mode & 0o077:
                os.chmod(self.directory, 0o700)  # ours alone; the home itself may be readable if its owner likes it so
        except OSError as error:
            raise _cannot_use(error, str(error.filename or self.home)) from error
        self.check()

    @property
    def _directories(self) -> list[str]:
        """The home and each directory below it down to our own."""
        above = [os.path.join(self.home, self.kind)] if self.name else []
        return [self.home, *above, self.directory]

    def check(self) -> None:
        """Raise an error that says what is wrong with a directory and how to mend it; missing ones are fine."""
        for directory in self._directories:
            _check_link(directory)
            try:
                found = os.stat(directory)
            except FileNotFoundError:
                if os.path.islink(directory):
                    raise user_error(
                        f"{directory} is a link to {os.readlink(directory)}, which does not exist",
                        f"Make the directory it points to: mkdir -p {quoted(os.path.realpath(directory))}",
                        error="unsafe_home",
                    ) from None
                break
            except OSError as error:
                raise _cannot_use(error, directory) from error
            _check_directory(directory, found)
        self.check_socket()

    def check_socket(self) -> None:
        """Raise if the address of the socket is longer than the platform takes."""
        length = len(os.fsencode(self.socket)) + 1
        if length > LONGEST_SOCKET_PATH:
            raise user_error(
                f"the path of Covey's socket is {length} bytes long and this system takes {LONGEST_SOCKET_PATH}: "
                f"{self.socket}",
                f"Set a home with a path at least {length - LONGEST_SOCKET_PATH} bytes shorter, "
                "for example: export COVEY_HOME=$HOME/.covey",
                error="home_path_too_long",
            )


def _make_private(directory: str) -> None:
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    os.chmod(directory, 0o700)  # a umask may have taken bits away


def _check_link(directory: str) -> None:
    """Raise for a symbolic link of another user, who could point it elsewhere at any time. Root's are fine."""
    try:
        found = os.lstat(directory)
    except OSError:
        return  # `os.stat` says it better
    if stat.S_ISLNK(found.st_mode) and found.st_uid not in (os.geteuid(), 0):
        raise permission_denied(
            f"{directory} is a link that belongs to {_user_name(found.st_uid)}, who could lead Covey elsewhere",
            f"Name the directory itself: export COVEY_HOME={quoted(os.path.realpath(directory))}",
        )


def _check_directory(directory: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        move = (
            f"Move it away: mv {quoted(directory)} {quoted(directory)}.old   or use"
            if stat.S_ISREG(found.st_mode)
            else "Use"
        )  # a device, for example, is needed where it is
        raise user_error(
            f"{directory} is not a directory, and Covey keeps its files in it",
            f"{move} another home: export COVEY_HOME=/a/directory/of/yours",
            error="unsafe_home",
        )
    if found.st_uid != os.geteuid():
        raise _owned_by_another(directory, found.st_uid)
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise permission_denied(
            f"{directory} can be written by other users (mode {stat.S_IMODE(found.st_mode):04o}), "
            "who could take over your agents",
            f"Close it: chmod 700 {quoted(directory)}",
        )
    if os.statvfs(directory).f_flag & os.ST_RDONLY:
        raise _read_only(directory)


def _owned_by_another(directory: str, owner: int) -> AgentError:
    message = f"{directory} belongs to {_user_name(owner)} and you are {_user_name(os.geteuid())}"
    if os.geteuid() == 0:
        return permission_denied(
            message, "Run covey as its owner, without sudo, or use a home of your own: export COVEY_HOME=~root/.covey"
        )
    return permission_denied(
        message,
        f"Take it over: sudo chown -R {os.geteuid()} {quoted(directory)}   "
        "or use your own: export COVEY_HOME=$HOME/.covey",
    )


def _read_only(directory: str) -> AgentError:
    mount = directory
    while not os.path.ismount(mount):
        mount = os.path.dirname(mount)
    return tool_error(
        f"{directory} is on a read-only file system",
        "Use a home that can be written: export COVEY_HOME=/a/directory/of/yours   "
        f"or make this one writable: sudo mount -o remount,rw {quoted(mount)}",
        error="read_only_home",
    )


def _cannot_use(error: OSError, path: str) -> AgentError:
    """What it means that a directory could not be looked at or made."""
    if error.errno == errno.EROFS:
        above = path
        while not os.path.exists(above):
            above = os.path.dirname(above)
        return _read_only(above)
    if error.errno in (errno.EACCES, errno.EPERM):
        return permission_denied(
            f"{path} cannot be used: you may not go there", "Use a home of your own: export COVEY_HOME=$HOME/.covey"
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return tool_error(
            f"{path} cannot be made: no space is left on its disk",
            "Free some space, then try again.",
            error="disk_full",
        )
    return user_error(
        f"{path} cannot be Covey's home: {error.strerror or error}",
        "Use a directory of your own: export COVEY_HOME=$HOME/.covey",
        error="unsafe_home",
    )


def _user_name(uid: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
