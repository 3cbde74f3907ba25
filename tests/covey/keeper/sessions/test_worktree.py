"""Worktrees of kept sessions, made and removed by a real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.keeper.sessions import worktree
from murli import AgentError

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository with one commit, and git for it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n")
    repository = tmp_path / "repository"
    (repository / "sub").mkdir(parents=True)

    def run(*words: str, folder: Path = repository) -> str:
        ended = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
        return ended.stdout.strip()

    run("init")
    (repository / "sub" / "file").write_text("one\n")
    (repository / ".gitignore").write_text("build/\n")
    run("add", ".")
    run("commit", "-m", "first")
    return run


async def test_a_worktree_has_a_branch_of_its_own_and_the_folder_that_was_meant(git: Git, tmp_path: Path) -> None:
    made = await worktree.add(str(tmp_path / "repository" / "sub"), tmp_path / "tree", "keep/api")
    assert made == (str(tmp_path / "tree"), "keep/api", str(tmp_path / "tree" / "sub"))
    assert git("branch", "--show-current", folder=tmp_path / "tree") == "keep/api"
    assert git("branch", "--show-current") == "main"
    assert (Path(made.cwd) / "file").read_text() == "one\n"
    at_top = await worktree.add(str(tmp_path / "repository"), tmp_path / "second", "keep/web")
    assert Path(at_top.cwd) == tmp_path / "second"


async def test_a_branch_that_exists_is_taken_and_one_in_use_is_refused(git: Git, tmp_path: Path) -> None:
    git("branch", "topic")
    made = await worktree.add(str(tmp_path / "repository"), tmp_path / "tree", "topic")
    assert (made.branch, git("branch", "--show-current", folder=tmp_path / "tree")) == ("topic", "topic")
    for branch in ("main", "topic", "no..such name"):
        with pytest.raises(AgentError, match="git cannot make a worktree") as caught:
            await worktree.add(str(tmp_path / "repository"), tmp_path / "other", branch)
        assert caught.value.field == "worktree"
        assert not (tmp_path / "other").exists()


async def test_a_folder_outside_of_a_repository_or_without_a_commit_is_refused(git: Git, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(AgentError, match="not a git repository"):
        await worktree.add(str(tmp_path / "plain"), tmp_path / "tree", "keep/x")
    git("init", folder=tmp_path / "plain")
    with pytest.raises(AgentError, match="git cannot make a worktree"):
        await worktree.add(str(tmp_path / "plain"), tmp_path / "tree", "keep/x")


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        (  # what git says where the folder above is on another file system
            (
                "fatal: not a git repository (or any parent up to mount point /)\n"
                "Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n"
            ),
            "fatal: not a git repository (or any parent up to mount point /)",
        ),
        ("Preparing worktree (new branch 'x')\nfatal: invalid reference: x\n", "fatal: invalid reference: x"),
        ("git: not found\nask your administrator\n", "ask your administrator"),
        ("", ""),
    ],
)
def test_of_the_errors_of_git_the_one_that_says_why_is_passed_on(errors: str, reason: str) -> None:
    assert worktree.reason_in(errors) == reason


@pytest.mark.parametrize("change", ["changed", "untracked", "staged", "ignored", "none"])
async def test_a_worktree_is_removed_only_if_it_holds_nothing(git: Git, tmp_path: Path, change: str) -> None:
    tree = tmp_path / "tree"
    await worktree.add(str(tmp_path / "repository"), tree, "keep/api")
    if change == "changed":
        (tree / "sub" / "file").write_text("two\n")
    elif change == "untracked":
        (tree / "new").write_text("new\n")
    elif change == "staged":
        (tree / "new").write_text("new\n")
        git("add", "new", folder=tree)
    elif change == "ignored":
        (tree / "build").mkdir()
        (tree / "build" / "result").write_text("hours of work\n")
    assert (await worktree.remove(str(tree)) == "") is (change == "none")
    assert tree.exists() is (change != "none")
    assert git("branch", "--list", "keep/api")


async def test_commits_stay_on_the_branch(git: Git, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    await worktree.add(str(tmp_path / "repository"), tree, "keep/api")
    (tree / "new").write_text("new\n")
    git("add", "new", folder=tree)
    git("commit", "-m", "second", folder=tree)
    assert not await worktree.remove(str(tree))
    assert git("log", "-1", "--format=%s", "keep/api") == "second"


@pytest.mark.usefixtures("git")
async def test_what_cannot_be_asked_about_is_left_alone(tmp_path: Path) -> None:
    assert await worktree.remove(str(tmp_path / "none")) == "it is not there any more"
    tree = tmp_path / "tree"
    await worktree.add(str(tmp_path / "repository"), tree, "keep/api")
    shutil.rmtree(tmp_path / "repository")
    assert "it is not known" in await worktree.remove(str(tree))
    assert (tree / "sub" / "file").exists()


async def test_what_keeps_a_worktree_and_what_is_in_the_way_of_the_next_is_said(git: Git, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    await worktree.add(str(tmp_path / "repository"), tree, "keep/api")
    (tree / "build").mkdir()
    (tree / "build" / "out").write_text("1")
    assert await worktree.remove(str(tree)) == "it holds build/ (ignored by git)"
    (tree / "sub" / "file").write_text("two")
    assert git("diff", "--name-only", folder=tree) == "sub/file"
    assert await worktree.remove(str(tree)) == "it holds sub/file (changed), build/ (ignored by git)"
    with pytest.raises(AgentError, match=f"{tree} is in the way") as caught:
        await worktree.add(str(tmp_path / "repository"), tree, "keep/api")
    assert f"worktree remove --force {tree}" in str(caught.value.suggestion)
