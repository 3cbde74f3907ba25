"""Patterns for paths: strictly for what is allowed, loosely for what is denied."""

from __future__ import annotations

import pytest

from covey.fleet.policy.path_pattern import PathPattern

pytestmark = pytest.mark.once  # the release of tmux makes no difference

HOME = "/home/me"


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "/srv/src/a.py", True),
        ("src/**", "./src//a.py", True),
        ("src/", "src/a/b", True),
        ("src/*", "src/a.py", True),
        ("src/*", "src/a/b.py", False),
        ("./*.py", "a.py", True),
        ("./*.py", "b/a.py", False),
        ("**/test_*.py", "a/b/test_x.py", True),
        ("**/test_*.py", "test_x.py", True),
        ("*.py", "/anywhere/a.py", True),
        ("~/notes/**", "~/notes/a", True),
        ("~/notes/**", "/home/me/notes/a", True),
        ("~/notes/**", "/home/you/notes/a", False),
        ("/etc/hosts", "/etc/hosts", True),
        ("/etc/hosts", "/etc/hosts/x", False),
        ("src/**", "src/../../etc/passwd", False),
        ("src/**", "src/a/../b", False),
        ("src/**", "../srv/src/a", False),
        ("src/**", "srcs/a", False),
        ("src/**", "/other/src/a", False),
        ("src/**", "", False),
        ("src/**", "src/a\nb", False),
        ("src/**", "src/" + "a" * 5000, False),
        ("~/**", "~other/x", False),
    ],
)
def test_strictly(pattern: str, path: str, fits: bool) -> None:  # noqa: FBT001 - one of a table
    assert PathPattern(pattern, HOME).covers(path, "/srv") is fits


@pytest.mark.parametrize("folder", ["", "work", "/srv/../etc", "~x"])
def test_without_a_plain_folder_no_relative_path_is_covered(folder: str) -> None:
    assert not PathPattern("src/**", HOME).covers("src/a", folder)


def test_a_folder_is_no_pattern() -> None:
    assert not PathPattern("src/**", HOME).covers("/srv-a/src/x", "/srv*")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("~/.ssh/", "/home/me/.ssh", True),
        ("~/.ssh/", "/home/me/.ssh/id", True),
        ("~/.ssh", "/home/me/.ssh/id", True),
        ("~/.ssh/", "/home/you/.ssh/id", True),
        ("~/.ssh/", "/root/.ssh/id", True),
        ("~/.ssh/", "~/.ssh/id", True),
        ("~/.ssh/", "../home/me/.ssh/id", True),
        ("~/.ssh/", "/home/me/x/../.ssh/id", True),
        ("~/.ssh/", "/home/me/.sshx", False),
        (".env", "a/.env", True),
        (".env", ".env", True),
        (".env", ".env/x", True),
        (".env", ".envrc", False),
        ("secrets/**", "secrets/a/../b", True),
        ("/etc/**", "/srv/x/../../etc/passwd", True),
    ],
)
def test_loosely(pattern: str, path: str, fits: bool) -> None:  # noqa: FBT001 - one of a table
    assert PathPattern(pattern, HOME).touches(path, "/srv") is fits
