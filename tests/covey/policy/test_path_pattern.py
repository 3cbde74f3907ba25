"""Patterns for paths: strictly for what is allowed, loosely for what is denied."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from covey.policy import path_pattern
from covey.policy.path_pattern import LONGEST, PathPattern

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


MEANING = {"**/": "(?:[^/]+/)*", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
HOMES = "/(?:home|Users|users)/[^/]+|/root"


def expression(pattern: str) -> str:
    parts = re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|/|[^*?/]+", pattern)
    return "".join(MEANING.get(part) or re.escape(part) for part in parts)


def whole_expression(pattern: str, folder: str, home: str) -> str:
    """Return what a pattern means as a regular expression, which was its first implementation."""
    text = f"{pattern}**" if pattern.endswith("/") else pattern
    if "/" not in text:
        return f".*/{expression(text)}"
    if text.startswith("~/"):
        return home + expression(text[1:])
    above = "" if text.startswith("/") else re.escape(folder.rstrip("/")) + "/"
    return above + expression(text.removeprefix("./"))


PATTERNS = st.text("ab*?/.", min_size=1, max_size=10).map(lambda text: re.sub("//+", "/", text))


@given(pattern=PATTERNS, above=st.sampled_from(["", "/", "~/", "./"]), path=st.text("ab/.", min_size=1, max_size=14))
@example("a**/b", "", "ab")
@example("**/a**b*", "", "a/b/ab/ba")
@example("*a*b/**", "~/", "/home/b/aab")
def test_a_pattern_means_what_its_regular_expression_means(pattern: str, above: str, path: str) -> None:
    text = f"{above}{pattern.lstrip('/')}" if above else pattern
    own = PathPattern(text, HOME)
    strictly = whole_expression(text, "/ab", re.escape(HOME))
    loosely = f"(?:{whole_expression(text, '/ab', f'(?:{re.escape(HOME)}|{HOMES})')})(?:/.*)?"
    plain = path_pattern.plain_path(path, "/ab", HOME)
    assert own.covers(path, "/ab") is (plain is not None and re.fullmatch(strictly, plain, re.DOTALL) is not None)
    readings = path_pattern._readings(path, "/ab", HOME)
    assert own.touches(path, "/ab") is any(re.fullmatch(loosely, one, re.DOTALL) for one in readings)


@pytest.mark.parametrize("pattern", ["*a*b*c*d", "~/**/src/**/test/**/*.key", "**a**/**a**/**a**b", "/**/" + "?*" * 60])
@pytest.mark.parametrize("path", ["abc", "a", "a/", "src/test/", "aé", "/home/x/src/a/test/x.ke"])
def test_the_longest_hostile_path_is_compared_in_linear_time(pattern: str, path: str) -> None:
    """A path of twice the length may take twice the time, or four times with the length of the integers."""
    own = PathPattern(pattern, HOME)
    assert not own.touches("x", "/srv") or pattern.startswith("/")
    half, whole = (
        min(_seconds(own, (path * LONGEST)[:length]) for _ in range(5)) for length in (LONGEST // 2, LONGEST)
    )
    assert whole < 8 * half + 0.001


def _seconds(pattern: PathPattern, path: str) -> float:
    began = time.thread_time()
    pattern.touches(path, "/srv")
    pattern.covers(path, "/srv")
    return time.thread_time() - began
