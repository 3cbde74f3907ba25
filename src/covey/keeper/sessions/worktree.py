"""Git worktrees for kept sessions. One that holds changes is never removed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from covey.hosts.executor import Local, run
from murli import AgentError, user_error

LIMIT_S = 60.0


class Worktree(NamedTuple):
    """A worktree that was made, and the folder in it that corresponds to the one that was asked for."""

    path: str
    branch: str
    cwd: str


async def add(cwd: str, folder: Path, branch: str) -> Worktree:
    """Make a worktree of the repository around `cwd` in `folder`, on a branch that is made if it is missing.

    Raises AgentError if there is no repository, or git refuses.
    """
    top = await _git(cwd, "rev-parse", "--show-toplevel")
    known = await _succeeds(top, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}")
    await _git(top, "worktree", "add", *(() if known else ("-b", branch)), str(folder), *((branch,) if known else ()))
    inside = folder / await _git(cwd, "rev-parse", "--show-prefix")
    return Worktree(str(folder), branch, str(inside if await _is_folder(inside) else folder))


async def remove(path: str) -> bool:
    """Remove a worktree if it is known to hold no changes. Returns whether it was removed. Its branch stays."""
    if not await _is_folder(Path(path)):
        return False
    try:
        changes = await _git(path, "status", "--porcelain", "--ignored")
        common = await _git(path, "rev-parse", "--path-format=absolute", "--git-common-dir")
    except AgentError:  # e.g. its repository is gone
        return False
    if changes:
        return False
    return await _succeeds(common, "worktree", "remove", path)  # git itself refuses one that holds changes


async def _is_folder(path: Path) -> bool:
    return await asyncio.to_thread(path.is_dir)


async def _git(folder: str, *words: str) -> str:
    code, out, errors = await run(Local(), ["git", "-C", folder, *words], deadline_s=LIMIT_S)
    if code:
        reason = errors.strip().splitlines()[-1:] or [f"exit code {code}"]
        raise user_error(
            f"git cannot make a worktree of {folder}: {reason[0][:300]}",
            "Choose a folder in a git repository with a commit, or another --branch.",
            field="worktree",
        )
    return out.strip()


async def _succeeds(folder: str, *words: str) -> bool:
    return not (await run(Local(), ["git", "-C", folder, *words], deadline_s=LIMIT_S))[0]
