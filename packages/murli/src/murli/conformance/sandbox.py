"""Scratch directories for the tool: what they hold, how they change, and how to go back to an earlier state.

A `State` is a saved copy of a scratch directory and a home. A `Stage` is the one place where stateful runs happen,
always at the same path, because tools store absolute paths in their homes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

IGNORED = ("home/.cache", "home/Library/Caches")
"""Caches are not state: deleting them loses nothing, so filling them changes nothing."""

Snapshot = Mapping[str, tuple[int, int, str]]
"""Path below the sandbox -> mode, size and sha256 (the target, for a link)."""


@dataclass(frozen=True, slots=True)
class State:
    """What a sandbox held at one moment. `root` is None for the empty sandbox every tool starts with."""

    serial: int
    root: Path | None
    snapshot: Snapshot = field(repr=False)

    def read(self, path: str) -> bytes:
        if self.root is None:
            raise FileNotFoundError(path)
        return (self.root / path).read_bytes()


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A directory with `work` (the tool's current directory) and `home` (its HOME)."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> Sandbox:
        for part in ("work", "home"):
            (root / part).mkdir(parents=True, exist_ok=True)
        return cls(root)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def snapshot(self) -> Snapshot:
        return dict(self._entries())

    def _entries(self) -> Iterator[tuple[str, tuple[int, int, str]]]:
        for directory, folders, files in os.walk(self.root):
            folders[:] = sorted(folder for folder in folders if self._name(directory, folder) not in IGNORED)
            for name in sorted([*folders, *files]):
                # Something that the tool left running may remove a file while we look at it.
                with contextlib.suppress(FileNotFoundError):
                    yield self._name(directory, name), _entry(Path(directory, name))

    def _name(self, directory: str, name: str) -> str:
        return os.path.relpath(os.path.join(directory, name), self.root)

    def empty(self) -> None:
        """Remove everything, even what the tool made unwritable, and start again with the two empty directories."""
        remove_tree(self.root)
        Sandbox.create(self.root)

    def fill(self, source: Path) -> None:
        self.empty()
        shutil.copytree(source, self.root, symlinks=True, dirs_exist_ok=True, ignore=_uncopyable)


class Stage:
    """One sandbox that can be put into any earlier state. Not safe for threads: its owner holds a lock."""

    def __init__(self, root: Path) -> None:
        self.sandbox = Sandbox.create(root / "stage")
        self._states = root / "states"
        self._states.mkdir()
        self.empty = State(serial=0, root=None, snapshot=self.sandbox.snapshot())
        self._current = self.empty
        self._baseline = self.empty.snapshot
        self._serial = 0

    def load(self, state: State) -> Snapshot:
        """Put the sandbox into the state, and say what it holds now: all of the state but what could not be copied."""
        if state.serial != self._current.serial:
            if state.root is None:
                self.sandbox.empty()
            else:
                self.sandbox.fill(state.root)
            self._current = state
            self._baseline = self.sandbox.snapshot()
        return self._baseline

    def capture(self) -> State:
        """The state the sandbox is in now; the one that was loaded, if nothing changed."""
        snapshot = self.sandbox.snapshot()
        if snapshot != self._baseline:
            self._serial += 1
            copy = self._states / str(self._serial)
            shutil.copytree(self.sandbox.root, copy, symlinks=True, ignore=_uncopyable)
            self._current = State(self._serial, copy, snapshot)
            self._baseline = snapshot
        return self._current


def changes(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Every path that appeared, vanished or changed, with a word for which of the three it was."""
    found = []
    for path in sorted({*before, *after}):
        if path not in before:
            found.append(f"created {path}")
        elif path not in after:
            found.append(f"removed {path}")
        elif before[path] != after[path]:
            found.append(f"changed {path}")
    return tuple(found)


def remove_tree(root: Path) -> None:
    """Remove a tree whose directories may not be writable or readable any more.

    It succeeds as far as nothing writes into the tree meanwhile.
    """

    def open_up(directory: Path) -> None:
        with contextlib.suppress(OSError):
            directory.chmod(0o700)
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        open_up(Path(entry.path))

    open_up(root)
    shutil.rmtree(root, ignore_errors=True)


def _entry(path: Path) -> tuple[int, int, str]:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return 0, 0, os.readlink(path)
    if stat.S_ISREG(status.st_mode):
        return status.st_mode, status.st_size, _digest(path)
    return status.st_mode, 0, ""


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _uncopyable(directory: str, names: list[str]) -> list[str]:
    """Return the names that cannot be copied: sockets, pipes and what the tool has locked.

    A state is made of readable files, directories and links.
    """
    return [name for name in names if not _copyable(os.path.join(directory, name))]


def _copyable(path: str) -> bool:
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        return os.access(path, os.R_OK | os.X_OK)
    return stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and os.access(path, os.R_OK))
