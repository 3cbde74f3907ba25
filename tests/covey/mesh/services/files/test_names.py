"""Names that others have chosen cannot harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.services.files.names import LONGEST_NAME, safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a/b/", "b"),
        (".bashrc", "_bashrc"),
        ("..", "file"),
        ("", "file"),
        ("\x1b[2Jx\n", "_[2Jx_"),
        ("gpj.\u202etxt", "gpj._txt"),
        ("\udcff.bin", "_.bin"),
        ("größe 1.txt", "größe 1.txt"),
    ],
)
def test_a_name_is_one_for_a_file_in_a_folder(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text())
def test_no_name_leads_out_or_is_too_long(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert "/" not in safe
    assert not safe.startswith(".")
    assert safe.isprintable()
    assert len(safe.encode()) <= LONGEST_NAME


def test_a_long_name_keeps_its_ending() -> None:
    assert safe_name("ä" * 300 + ".tar").endswith("ä.tar")
