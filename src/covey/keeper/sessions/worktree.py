"""Git worktrees for kept sessions. One that holds changes is never removed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import NamedTuple

from covey.hosts.executor import Local, run
from covey.kernel.quoting import quoted
from murli import AgentError, conflict, user_error

LIMIT_S = 60.0
_MOST_NAMED = 5
"""Files that are named when a worktree stays."""


class Worktree(NamedTuple):
    """A worktree that was made, and the folder in it that corresponds to the one that was asked for."""

    path: str
    branch: str
    cwd: str


async def add(cwd: str, folder: Path, branch: str) -> Worktree:
    """Make a worktree of the repository around `cwd` in `folder`, on a branch that is made if it is missing.

    Raises AgentError if there is no repository, something is in the way, or git refuses.
    """
    top = await _git(cwd, "rev-parse", "--show-toplevel")
    if await asyncio.to_thread(os.path.lexists, folder):
        raise conflict(
            f"{folder} is in the way: a worktree that a forgotten session has left, or a folder of somebody's",
            f"Go on in it: --cwd {quoted(str(folder))} without --worktree   or save what is needed and remove it: "
            f"git -C {quoted(top)} worktree remove --force {quoted(str(folder))}",
            field="worktree",
        )
    known = await _succeeds(top, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}")
    # HEAD is named: without it, git since 2.42 makes a worktree without history where there is no commit.
    await _git(top, "worktree", "add", *(() if known else ("-b", branch)), str(folder), branch if known else "HEAD")
    inside = folder / await _git(cwd, "rev-parse", "--show-prefix")
    return Worktree(str(folder), branch, str(inside if await _is_folder(inside) else folder))


async def remove(path: str) -> str:
    """Remove a worktree if it is known to hold no changes. Its branch stays.

    Returns why it was not removed; empty if it was.
    """
    if not await _is_folder(Path(path)):
        return "it is not there any more"
    try:
        changes = await _git(path, "status", "--porcelain", "--ignored")
        common = await _git(path, "rev-parse", "--path-format=absolute", "--git-common-dir")
    except AgentError as error:  # e.g. its repository is gone
        return f"it is not known whether it holds changes: {error}"
    if changes:
        return _holds(changes.splitlines())
    removed = await _succeeds(common, "worktree", "remove", path)  # git itself refuses one that holds changes
    return "" if removed else "git refuses to remove it"


def _holds(changes: list[str]) -> str:
    """Return what is in a worktree, by the lines of `git status --porcelain`."""
    marks = {"??": "not in git", "!!": "ignored by git"}
    parts = [line.strip().partition(" ") for line in changes[:_MOST_NAMED]]
    named = [f"{name.strip()} ({marks.get(mark, 'changed')})" for mark, _, name in parts]
    more = f" and {len(changes) - _MOST_NAMED} more" if len(changes) > _MOST_NAMED else ""
    return f"it holds {', '.join(named)}{more}"


async def _is_folder(path: Path) -> bool:
    return await asyncio.to_thread(path.is_dir)


async def _git(folder: str, *words: str) -> str:
    code, out, errors = await run(Local(), ["git", "-C", folder, *words], deadline_s=LIMIT_S)
    if code:
        raise user_error(
            f"git cannot make a worktree of {folder}: {reason_in(errors) or f'exit code {code}'}",
            "Choose a folder in a git repository with a commit, or another --branch.",
            field="worktree",
        )
    return out.strip()


def reason_in(errors: str) -> str:
    """Return the line of git's errors that says why it refused: before it comes progress, after it come hints."""
    lines = errors.strip().splitlines()
    fatal = [line for line in lines if line.startswith("fatal: ")]
    return (fatal or lines[-1:] or [""])[0][:300]


async def _succeeds(folder: str, *words: str) -> bool:
    return not (await run(Local(), ["git", "-C", folder, *words], deadline_s=LIMIT_S))[0]
