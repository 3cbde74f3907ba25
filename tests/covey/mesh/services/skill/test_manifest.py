"""A manifest with anything that could harm is refused whole."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.services.skill.folder import read_head
from covey.mesh.services.skill.manifest import BadSkill, check_contents, check_manifest, check_path


def file(path: str = "SKILL.md", **changed: Any) -> dict[str, Any]:
    """Return an entry of a manifest."""
    return {"path": path, "sha256": hashlib.sha256(b"x").hexdigest(), "size": 1, "mode": "0644", **changed}


def manifest(*files: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return a manifest with a SKILL.md and more files."""
    return {"name": "review", "version": "1.0", "description": "", "files": [file(), *files], **changed}


def test_a_manifest_with_folders_and_programs_is_accepted() -> None:
    found = check_manifest(manifest(file("a/b/c.py"), file("a/run", mode="0755"), file("übung.md")))
    assert found.bytes == 4
    check_contents(found, {one.path: b"x" for one in found.files})


BAD_PATHS = [
    *("", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "a/", "~/../x\0", "a\\..\\b", "C:\\x", "c:x"),
    *("a\nb", "a\x1b[31m", "a\u202eb", "a\u200bb", "\ud800", "con", "a/NUL.txt", "aux.md", "com1", "lpt9.x"),
    *(".hidden", "a/.git/config", " a", "a ", "a.", "a?", 'a"b', "a|b", "a*", "x" * 201, "/".join("abcdefghi")),
    "u\u0308bung.md",
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_could_leave_or_mean_something_else_is_refused(path: str) -> None:
    with pytest.raises(BadSkill):
        check_manifest(manifest(file(path)))


@pytest.mark.parametrize(
    "files",
    [
        [file("skill.md")],
        [file("a/b"), file("A/c")],
        [file("a"), file("a/b")],
        [file("ﬁx.md"), file("fix.md")],
        [file("a.md"), file("a.md")],
    ],
    ids=["case", "case of a folder", "file and folder", "folded", "twice"],
)
def test_files_that_collide_on_some_systems_are_refused(files: list[dict[str, Any]]) -> None:
    with pytest.raises(BadSkill):
        check_manifest(manifest(*files))


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        manifest(name="../x"),
        manifest(name="Review"),
        manifest(name="con"),
        manifest(name="-a"),
        manifest(version=""),
        manifest(version="1/2"),
        manifest(description="x" * 3000),
        manifest(description="\ud800"),
        manifest(files=[]),
        manifest(files=[file("other.md")]),
        manifest(*(file(f"{number}.md") for number in range(200))),
        manifest(file("a", mode="4755")),
        manifest(file("a", mode="0777")),
        manifest(file("a", size=-1)),
        manifest(file("a", sha256="x")),
        manifest(file("a", link="/etc/passwd")),
        manifest(hooks={}),
    ],
)
def test_a_manifest_that_is_not_in_its_form_is_refused(document: Any) -> None:
    with pytest.raises(BadSkill):
        check_manifest(document)


@pytest.mark.parametrize("contents", [{}, {"SKILL.md": b"y"}, {"SKILL.md": b"xx"}, {"SKILL.md": b"x", "more": b""}])
def test_contents_that_are_not_those_of_the_manifest_are_refused(contents: dict[str, bytes]) -> None:
    with pytest.raises(BadSkill):
        check_contents(check_manifest(manifest()), contents)


@given(st.text("aA./\\:~ \0\n\u202e", max_size=12))
def test_whatever_path_is_accepted_stays_below_the_folder(path: str) -> None:
    try:
        check_path(path)
    except BadSkill:
        return
    assert not path.startswith("/")
    assert all(part not in ("", ".", "..") and "\\" not in part and ":" not in part for part in path.split("/"))
    assert path.isprintable()


def test_the_head_of_a_skill_is_read_and_nothing_else() -> None:
    assert read_head("---\nname: a\ndescription: 'b: c'\nother: x\n---\nversion: 9\n") == {
        "name": "a",
        "description": "b: c",
    }
    for text in ("", "name: a\n", "---\nname: a\n", "---\ndescription: |\n  b\n---\n"):
        assert read_head(text) == {}
