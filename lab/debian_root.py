"""The demo and the suite in a fresh root of a suite of Debian: what `./run` does on a machine that has only Python.

    ./run test --root trixie [--as-user] [pytest arguments]

The root is made by debootstrap from the archive that this machine's apt uses, holds a clone of HEAD, and is removed at
the end. Its mounts and its processes exist in namespaces of their own, which end with the command. It is entered with
chroot, so no program can make a namespace in it: that is how a container behaves, too.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn

from lab.install import lab_folder
from lab.tmux_versions import KEYRING, SUITES, UnavailableError, archive_uri
from lab.tmux_versions import run as output_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

USAGE = f"usage: ./run test --root SUITE [--as-user] [pytest arguments], SUITE being one of {', '.join(SUITES)}"
REPOSITORY = Path(__file__).parent.parent
FRESH = "python3"
"""What the root holds beside Debian's essential packages and apt; `./run` installs everything else that it needs."""
USER = "dev"
PLACES = re.compile(
    r"(?i:(http|https|all|no)_proxy|pip_.*|npm_config_.*)|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE"
    r"|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO|GO(PROXY|SUMDB|NOSUMDB|PRIVATE)"
)
"""Variables that say where packages come from and whom to trust; the root gets no others of this machine."""
OWN = {"PIP_CACHE_DIR": "pip", "NPM_CONFIG_CACHE": "npm", "COVEY_LAB_DIR": "lab"}
DEVICES = {"null": "1 3", "zero": "1 5", "full": "1 7", "random": "1 8", "urandom": "1 9", "tty": "5 0"}
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
APT_SETTINGS = re.compile(r"Acquire::(https?::|Check-Valid-Until )")


class Order(NamedTuple):
    """What the command line asks for."""

    suite: str
    as_user: bool
    arguments: tuple[str, ...]


class Bind(NamedTuple):
    """A file or folder of this machine that the root sees at another path."""

    source: Path
    target: str
    writable: bool = False


class RefusedError(RuntimeError):
    """The root cannot be made; the message says why and what to do."""


def main(arguments: Sequence[str]) -> int:
    """Run the demo and the suite in a fresh root, and return 0 if both succeeded."""
    try:
        order = parse(arguments)
        check_machine()
        archive = archive_uri()
    except (RefusedError, UnavailableError) as error:
        sys.stderr.write(f"run: {error}\n")
        return 2
    # Also where they are ignored, as in the background: the demo and the suite would inherit that.
    for number in INTERRUPTS:
        signal.signal(number, interrupted)
    cache = cache_folder()
    try:
        with a_root(order.suite, archive, cache) as root:
            return try_out(root, order, cache)
    except (RefusedError, UnavailableError) as error:
        sys.stderr.write(f"run: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("run: interrupted\n")
        return 130


def parse(arguments: Sequence[str]) -> Order:
    """Return what `--root` was followed by. Raises `RefusedError` for a suite that is not known."""
    suite, *others = arguments or [""]
    if suite not in SUITES:
        raise RefusedError(f"{suite!r} is not a suite of Debian that is known here\n{USAGE}" if suite else USAGE)
    as_user = others[:1] == ["--as-user"]
    return Order(suite, as_user, tuple(others[as_user:]))


def check_machine() -> None:
    """Raise `RefusedError` if this machine or this user cannot make a root."""
    if os.geteuid() != 0:
        raise RefusedError("only root can make a root of Debian: try again with sudo, or in a container")
    for program in ("debootstrap", "unshare", "git"):
        if shutil.which(program) is None:
            raise RefusedError(f"a root is made with {program}: install it (apt-get install {program}) and try again")


def interrupted(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise KeyboardInterrupt


def cache_folder() -> Path:
    """Return the folder that keeps downloads from one root to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "covey-roots"


@contextlib.contextmanager
def a_root(suite: str, archive: str, cache: Path) -> Iterator[Path]:
    """Make a root below `cache`, and remove it in the end, whatever happens."""
    (cache / "roots").mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(dir=cache / "roots", prefix=f"{suite}-"))
    try:
        root.chmod(0o755)
        bootstrap(suite, archive, root, cache / "debs" / suite)
        yield root
    finally:
        remove(root)


def bootstrap(suite: str, archive: str, root: Path, debs: Path) -> None:
    """Install Debian's smallest system with Python into `root`. Raises `RefusedError` with debootstrap's own words."""
    debs.mkdir(parents=True, exist_ok=True)
    proxy = dict(setting.split("=", 1) for setting in proxies())
    scripts = Path("/usr/share/debootstrap/scripts")
    log = root.with_suffix(".log")
    command = [
        "debootstrap",
        "--variant=minbase",
        f"--include={FRESH}",
        f"--keyring={KEYRING}",
        f"--cache-dir={debs}",
        *(suite, str(root), archive),
        # An older debootstrap knows a newer suite by the script of all.
        *([] if (scripts / suite).exists() else [str(scripts / "sid")]),
    ]
    try:
        with log.open("wb") as written:
            ended = in_namespaces(command, {**os.environ, **proxy, "DEBIAN_FRONTEND": "noninteractive"}, written)
        said = log.read_text(errors="replace").splitlines()
    finally:
        log.unlink()
    if ended:
        raise RefusedError("\n".join([f"debootstrap could not make a root of {suite}:", *said[-5:]]))
    settings = [line for line in output_of(["apt-config", "dump"]).splitlines() if APT_SETTINGS.match(line)]
    (root / "etc/apt/apt.conf.d/00machine").write_text("".join(f"{line}\n" for line in settings))
    (root / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")  # the root does not survive a crash anyway
    for name in ("hosts", "resolv.conf"):
        if Path("/etc", name).exists():
            shutil.copy(Path("/etc", name), root / "etc" / name)


def proxies() -> list[str]:
    """Return the settings of apt's proxies as debootstrap's downloader reads them, such as `http_proxy=…`."""
    said = output_of(
        ["apt-config", "shell", "http_proxy", "Acquire::http::Proxy", "https_proxy", "Acquire::https::Proxy"]
    )
    return shlex.split(said)


def remove(root: Path) -> None:
    """Remove the root that `a_root` made; if something is mounted below it, leave it and say so."""
    mounted = mounts_below(root, Path("/proc/self/mountinfo").read_text())
    if mounted:
        sys.stderr.write(f"run: {root} was not removed: {mounted[0]} is mounted; unmount it and remove the folder\n")
        return
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(root)], check=False)


def mounts_below(folder: Path, mountinfo: str) -> list[str]:
    """Return the mount points at or below a folder, from the text of /proc/self/mountinfo."""
    points = [
        re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split()[4]) for line in mountinfo.splitlines()
    ]
    return [point for point in points if Path(point).is_relative_to(folder)]


def try_out(root: Path, order: Order, cache: Path) -> int:
    """Run `./run demo` and `./run test` in the root, say how long each took, and return 0 if both succeeded."""
    home = "/root"
    binds, environment = from_machine(os.environ, pip_settings() | npm_settings(), cache)
    binds.append(Bind(cache / "debs" / order.suite, "/var/cache/apt/archives", writable=True))
    if order.as_user:
        home = f"/home/{USER}"
        output_of(["chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", USER])
    clone = f"{home}/covey"
    output_of(["git", "clone", "--quiet", "--no-hardlinks", f"file://{REPOSITORY}", f"{root}{clone}"])
    output_of(["git", "-C", f"{root}{clone}", "remote", "remove", "origin"])
    commands: list[list[str]] = [["./run", "demo"], ["./run", "test", *order.arguments]]
    if order.as_user:  # who has no sudo cannot install packages: root does it, as an administrator would
        enter(root, clone, ["./run", "test", "--version"], binds, environment | {"HOME": "/root"})
        enter(root, clone, ["chown", "-R", f"{USER}:", home], binds, environment)
        become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups"]
        commands = [[*become, *command] for command in commands]
    worst = 0
    for command in commands:
        began = time.monotonic()
        said = shlex.join(command)
        sys.stderr.write(f"run: {order.suite}: {said}\n")
        ended = enter(root, clone, command, binds, environment | {"HOME": home})
        sys.stderr.write(f"run: {order.suite}: {said} ended with {ended} after {time.monotonic() - began:.0f} s\n")
        worst = worst or ended
    return worst


def pip_settings() -> dict[str, str]:
    """Return this machine's settings of pip as environment variables; those of other commands than install are left."""
    said = output_of([sys.executable, "-m", "pip", "config", "list"])
    found = re.findall(r"^(?:global|install)\.([a-z-]+)='(.*)'$", said, re.MULTILINE)
    return {f"PIP_{name.replace('-', '_').upper()}": value for name, value in found}


def npm_settings() -> dict[str, str]:
    """Return where this machine's npm finds packages, as environment variables; empty if there is no npm."""
    if shutil.which("npm") is None:
        return {}
    names = ("registry", "proxy", "https-proxy", "noproxy", "cafile")
    values = {name: output_of(["npm", "--loglevel=silent", "config", "get", name]).strip() for name in names}
    return {
        f"NPM_CONFIG_{name.replace('-', '_').upper()}": value
        for name, value in values.items()
        if value not in {"", "null", "undefined"}
    }


def from_machine(
    environment: Mapping[str, str], settings: Mapping[str, str], cache: Path
) -> tuple[list[Bind], dict[str, str]]:
    """Return what the root sees of this machine: its package sources and certificates, and the caches of downloads.

    A path among the values is a path below /machine in the root, where it cannot be written to.
    """
    binds = {}
    handed = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PIP_ROOT_USER_ACTION": "ignore",
    }
    for name, value in (dict(settings) | dict(environment)).items():
        if not PLACES.fullmatch(name) or name.upper() in OWN:
            continue
        words = []
        for word in value.split(" "):
            here = Path(word)
            there = here.is_absolute() and here.exists()
            if there:
                binds[word] = Bind(here, f"/machine{word}")
            words.append(f"/machine{word}" if there else word)
        handed[name] = " ".join(words)
    for name, folder in OWN.items():
        source = lab_folder() if folder == "lab" else cache / folder
        binds[name] = Bind(source, f"/var/cache/{folder}", writable=True)
        handed[name] = f"/var/cache/{folder}"
    return list(binds.values()), handed


def enter(root: Path, folder: str, command: list[str], binds: Sequence[Bind], environment: Mapping[str, str]) -> int:
    """Run a command in the root, and return its exit code once every process that it started has ended."""
    for bind in binds:
        if bind.writable:
            bind.source.mkdir(parents=True, exist_ok=True)
        target = Path(f"{root}{bind.target}")
        if bind.source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
    return in_namespaces(["bash", "-c", first_process(root, folder, command, binds, environment)], os.environ)


def in_namespaces(command: list[str], environment: Mapping[str, str], output: IO[bytes] | None = None) -> int:
    """Run a command whose mounts and descendants end with it, and return its exit code."""
    child = None
    try:
        with interrupts_later():  # else one could come when the child runs and nobody knows of it yet
            # A session of its own: an interrupt of the terminal reaches only this program, which ends the namespaces.
            child = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output and subprocess.STDOUT,
                start_new_session=True,
            )
        return child.wait()
    finally:
        if child is not None and child.poll() is None:
            with interrupts_later():
                end_namespaces(child)


@contextlib.contextmanager
def interrupts_later() -> Iterator[None]:
    """Within it, signals that ask this program to end wait until it is left; then their handlers run."""
    arrived: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        arrived.append(number)

    before = {number: signal.signal(number, note) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)


def end_namespaces(child: subprocess.Popen[bytes]) -> None:
    """Kill `unshare`, and return when everything in its namespaces has ended."""
    # A process that is stopped starts no other: what it has started by then is all that there will be.
    os.kill(child.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    first = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    handles = [os.pidfd_open(int(pid)) for pid in first]
    child.kill()
    child.wait()
    for handle in handles:  # the namespace's process 1: it ends when the kernel has ended all others
        with contextlib.suppress(ProcessLookupError):  # it ended with its parent, and was collected
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [])
        os.close(handle)


def first_process(
    root: Path, folder: str, command: list[str], binds: Sequence[Bind], environment: Mapping[str, str]
) -> str:
    """Return the program of the namespace's first process: it mounts, enters the root, and collects orphans."""
    at = shlex.quote(str(root))
    lines = [
        "set -eu",
        f"mount -t proc proc {at}/proc",
        f"mount -t tmpfs -o mode=755,nosuid tmpfs {at}/dev",
        f"cd {at}/dev",
        "mkdir pts shm",
        "mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts pts",
        "mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs shm",
        *(f"mknod -m 666 {name} c {numbers}" for name, numbers in DEVICES.items()),
        "ln -s pts/ptmx ptmx",
        "ln -s /proc/self/fd fd",
        *(f"ln -s fd/{number} {name}" for number, name in enumerate(("stdin", "stdout", "stderr"))),
    ]
    for bind in binds:
        target = shlex.quote(f"{root}{bind.target}")
        lines.append(f"mount --bind {shlex.quote(str(bind.source))} {target}")
        if not bind.writable:
            lines.append(f"mount -o remount,bind,ro {target}")
    settings = [f"{name}={value}" for name, value in environment.items()]
    lines.append(
        shlex.join(
            ["chroot", str(root), "env", "-i", *settings, "bash", "-c", 'cd "$0" && exec "$@"', folder, *command]
        )
        + " || exit $?"
    )
    return "\n".join([*lines, "exit 0"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
