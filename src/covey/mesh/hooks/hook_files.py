"""The hooks folder: which files in it are hooks, and which are refused.

The folder is the user's code that messages from others start. So nothing in it is run unless the folder and the file
belong to the user and nobody else can write to them; links are refused, since they lead to where that was not checked.
A run happens in the directory that was checked, also if another one is put into its place meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from covey.kernel.durations import parse_duration
from covey.kernel.quoting import quoted
from covey.mesh.hooks.settings import LONGEST_S

if TYPE_CHECKING:
    from collections.abc import Iterator

GATE = "pre-send"
TOPIC = "on-topic-"
REPLYING = frozenset({"on-message", "on-dm", "on-mention"})
"""With the hooks of topics, those whose `{"reply": …}` is sent."""
NAMES = REPLYING | {"on-file-share", "on-task-assigned", "on-disconnect", "on-reconnect", "on-startup", GATE}
PREFERRED = (".sh", "")
"""Of several files for one hook, the one that ends so is run."""
MOST_FILES = 1000
HEADER_LINES, HEADER_BYTES = 20, 8192
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ENDING = re.compile(r"(?P<name>.+)\.[A-Za-z0-9]{1,16}", re.ASCII)
_TIMEOUT = re.compile(rb"[ \t]*(?:#|//|--|;)[^\n]*?\b(?:covey|claudemesh):timeout=(\S+)")


class HookFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is run as a hook."""

    hook: str
    file: str
    timeout_s: float | None = None
    """The time limit that a comment in it asks for; None if there is none."""


class HooksFound(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the folder."""

    hooks: dict[str, HookFile] = {}
    """The hooks that can run, by name."""
    refused: dict[str, str] = {}
    """The reason, by name, for each hook of which there are files but none that may run."""
    problems: tuple[str, ...] = ()
    """All that is wrong, each a sentence with what to do."""

    @property
    def names_gate(self) -> bool:
        """Whether the user has put a gate there, be it one that can run or not."""
        return GATE in self.hooks or GATE in self.refused


class RefusedError(Exception):
    """The folder, or a file in it, may not be used; the message is a sentence with what to do."""


class OpenedHook(msgspec.Struct, frozen=True, kw_only=True):
    """A hook whose folder is open: `directory` is valid as a working directory until the folder is closed."""

    file: HookFile
    directory: str


def replies(hook: str) -> bool:
    """Return whether a hook of this name can answer a message."""
    return hook in REPLYING or hook.startswith(TOPIC)


def hook_name(file: str) -> str:
    """Return the name of the hook that a file is for: without the ending; empty if it is for none.

    The file of a topic with a dot in its name needs an ending: `on-topic-v1.2` is for the topic `v1`.
    """
    parts = _ENDING.fullmatch(file)
    name = parts["name"] if parts else file
    is_hook = name in NAMES or (name.startswith(TOPIC) and len(name) > len(TOPIC))
    return name if is_hook and name.isprintable() else ""


def scan(folder: str) -> HooksFound:
    """Return the hooks of a folder. One that does not exist has none. Never raises `OSError`."""
    try:
        with _opened(folder) as descriptor:
            return _scan(folder, descriptor)
    except FileNotFoundError:
        return HooksFound()
    except RefusedError as error:
        return HooksFound(refused=_gate_in(folder, str(error)), problems=(str(error),))
    except OSError as error:
        reason = f"the hooks folder {folder} cannot be read, and no hook runs: {error.strerror}"
        return HooksFound(refused=_gate_in(folder, reason), problems=(reason,))


@contextlib.contextmanager
def opened_hook(folder: str, hook: str) -> Iterator[OpenedHook]:
    """Open the folder, check it and the hook's file again, and yield where to run it.

    Raises `RefusedError` if it may not run, and `OSError` if the folder cannot be read.
    """
    with _opened(folder) as descriptor:
        found = _scan(folder, descriptor, hook)
        if hook not in found.hooks:
            raise RefusedError(found.refused.get(hook, f"{hook} is not there any more"))
        # The working directory of the process is then the directory that was checked, and not what has its name now.
        directory = f"/proc/self/fd/{descriptor}" if sys.platform == "linux" else folder
        yield OpenedHook(file=found.hooks[hook], directory=directory)


@contextlib.contextmanager
def _opened(folder: str) -> Iterator[int]:
    try:
        descriptor = os.open(folder, FOLDER_FLAGS)
    except OSError:
        if stat.S_ISDIR(os.lstat(folder).st_mode):
            raise
        msg = f"{folder} is a link or a file, and no hook runs: put a directory there, with mode 700"
        raise RefusedError(msg) from None
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            msg = f"the hooks folder {folder} belongs to another user, and no hook runs: make one of your own"
            raise RefusedError(msg)
        if stat.S_IMODE(found.st_mode) & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            msg = (
                f"others have access to the hooks folder (mode {mode:o}), and no hook runs: chmod 700 {quoted(folder)}"
            )
            raise RefusedError(msg)
        yield descriptor
    finally:
        os.close(descriptor)


def _scan(folder: str, descriptor: int, only: str = "") -> HooksFound:
    with os.scandir(descriptor) as entries:
        files = sorted(entry.name for entry in islice(entries, MOST_FILES + 1))
    problems: list[str] = []
    if len(files) > MOST_FILES:
        problems.append(f"there are more than {MOST_FILES} files in {folder}: some are not looked at")
    by_hook: dict[str, list[str]] = {}
    for file in files:
        if name := hook_name(file):
            by_hook.setdefault(name, []).append(file)
        elif file.startswith(("on-", "pre-")):
            problems.append(f"{_shown(file)} is not run: no hook has that name")
    hooks: dict[str, HookFile] = {}
    refused: dict[str, str] = {}
    for name, candidates in by_hook.items():
        if only in ("", name):
            hook, reasons = _chosen(descriptor, folder, name, candidates)
            problems += reasons
            if hook is None:
                refused[name] = reasons[0]
            else:
                hooks[name] = hook
    return HooksFound(hooks=hooks, refused=refused, problems=tuple(problems))


def _chosen(descriptor: int, folder: str, name: str, files: list[str]) -> tuple[HookFile | None, list[str]]:
    """Return the file that is run for a hook, if there is one, and what is wrong. Without one, something is."""
    if name == GATE and len(files) > 1:  # the user may count on each of them, so that running one is not enough
        return None, [f"there are several files for {GATE} ({', '.join(map(_shown, files))}): keep one"]
    usable: list[str] = []
    reasons = []
    for file in sorted(files, key=lambda file: _rank(name, file)):
        if reason := _objection(descriptor, folder, file):
            reasons.append(f"{_shown(file)} is not run: {reason}")
        else:
            usable.append(file)
    if not usable:
        return None, reasons
    timeout_s, objection = _timeout(descriptor, usable[0])
    reasons += [f"{usable[0]}: {objection}"] if objection else []
    reasons += [f"{file} is not run: {usable[0]} is" for file in usable[1:]]
    return HookFile(hook=name, file=usable[0], timeout_s=timeout_s), reasons


def _rank(name: str, file: str) -> tuple[int, str]:
    ending = file.removeprefix(name)
    return (PREFERRED.index(ending) if ending in PREFERRED else len(PREFERRED)), file


def _objection(descriptor: int, folder: str, file: str) -> str:  # noqa: PLR0911 - one return per rule
    """Return why a file may not run, with what to do; empty if it may."""
    try:
        found = os.stat(file, dir_fd=descriptor, follow_symlinks=False)
    except OSError as error:
        return f"it cannot be examined: {error.strerror}"
    path = quoted(f"{folder}/{file}")
    if stat.S_ISLNK(found.st_mode):
        return "it is a link: copy the program into the folder"
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & 0o022:
        return f"others can write to it: chmod go-w {path}"
    if not found.st_mode & stat.S_IXUSR:
        return f"it is not executable: chmod u+x {path}"
    return ""


def _timeout(descriptor: int, file: str) -> tuple[float | None, str]:
    """Return the time limit in the first lines of a file, if there is one, and what is wrong with it."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor)
    except OSError:  # executable, but not readable
        return None, ""
    try:
        header = os.read(opened, HEADER_BYTES)
    except OSError:
        return None, ""
    finally:
        os.close(opened)
    for line in header.split(b"\n")[:HEADER_LINES]:
        if match := _TIMEOUT.match(line):
            text = match[1].decode(errors="replace")
            asked = parse_duration(text)
            if not asked:
                return None, f"{text!r} is not a time limit: write it as 120s or 5m"
            if asked > LONGEST_S:
                return LONGEST_S, f"it asks for {text}, and has the longest time limit, 1h"
            return asked, ""
    return None, ""


def _gate_in(folder: str, reason: str) -> dict[str, str]:
    """Return the refusal of `pre-send` if there is such a file in a folder that may not be used, or may be one.

    The user has asked for a gate, so that no message may pass for the reason that the gate cannot be run.
    """
    try:
        with os.scandir(folder) as entries:
            is_gated = any(hook_name(entry.name) == GATE for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        is_gated = False
    except OSError:
        is_gated = True
    return {GATE: reason} if is_gated else {}


def _shown(file: str) -> str:
    return file if file.isprintable() else ascii(file)
