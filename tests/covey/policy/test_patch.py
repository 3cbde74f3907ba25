"""A patch names its files in one way, or it is not understood."""

from __future__ import annotations

import pytest

from covey.policy.patch import Patch


def patch(*lines: str) -> Patch:
    return Patch("\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def test_the_files_of_a_patch_are_all_that_it_names() -> None:
    found = patch(
        "*** Add File: a",
        "+new",
        "+*** Update File: not this",
        "*** Update File: b",
        "*** Move to: c",
        "@@ def f",
        " same",
        "-old",
        "+new",
        "",
        "*** End of File",
        "*** Delete File: d e",
    )
    assert (found.paths, found.objection) == (["a", "b", "c", "d e"], "")


@pytest.mark.parametrize(
    "lines",
    [
        ["*** Add File: a", "+x", "  *** Update File: /etc/passwd", "+y"],
        ["*** Add File: a", "+x", "\t*** Delete File: /etc/passwd"],
        ["*** Update File: a", " *** Update File: /etc/passwd"],
        ["*** Update File:  a"],
        ["*** Update File: a\u2028"],
        ["*** Update File: a\r", "+x"],
        ["*** Update File: "],
        ["*** Update file: a"],
        ["*** Rename File: a"],
        ["*** Move to: a"],
        ["*** Delete File: a", "+x"],
        ["+x"],
        ["*** Add File: a", "x"],
        ["*** Environment: x", "*** Add File: a"],
        ["*** End Patch", "*** Add File: a"],
        [],
    ],
)
def test_a_patch_that_can_be_read_in_two_ways_is_not_understood(lines: list[str]) -> None:
    assert patch(*lines).objection


def test_what_is_around_a_patch_makes_it_not_understood_and_its_files_are_still_found() -> None:
    for text in ("", "x", "*** Begin Patch", "ls\n*** Begin Patch\n*** Add File: /etc/x\n+\n*** End Patch\nrm"):
        assert Patch(text).objection
    assert Patch("<<EOF\n*** Begin Patch\n *** Add File: /etc/x\nEOF").paths == ["/etc/x"]
