"""The current folder belongs to the same mesh for the `covey` command and for each SDK, whatever the files hold."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.sdk.probes import Probes, said

COMMAND = """
import os, sys
from covey.kernel.home import Home
from covey.kernel.seat_choice import chosen_seat
from murli import AgentError
if "mesh-removed" in sys.argv:
    os.rmdir(os.getcwd())
try:
    print(chosen_seat(Home(os.environ["COVEY_HOME"]), "mesh", None).command("up"))
except AgentError as error:
    print(error.error)
"""
LISTS = {
    "a folder": b"{home}/work\n",
    "a folder above it": b"{home}\n",
    "the root": b"/",
    "a folder without an end of line": b"/nowhere\n{home}/work",
    "the ends of lines of Windows": b"\xef\xbb\xbf{home}/work\r\n/nowhere\r\n",
    "spaces and tabs around it": b"\n \t{home}/work \t\n\n",
    "a folder below the home": b"~/work\n",
    "a link, and up from where it leads": b"{home}/link/../work\n",
    "a byte that is not UTF-8 in another line": b"/\xff\n{home}/work\n",
    "a NUL in another line": b"/a\x00b\n{home}/work\n",
}
"""What a file holds that lists the folder {home}/work."""
DOES_NOT_LIST = {
    "another end of line that Unicode knows": "{home}/other\u2028{home}/work\n".encode(),
    "a form feed": b"{home}/other\x0c{home}/work\n",
    "a carriage return in the middle": b"{home}/other\r{home}/work\n",
    "a relative path": b"work\n.\n~\n",
    "another user's home": b"~root/\n",
    "the beginning of its name": b"{home}/wor\n",
    "a path through what is not there": b"{home}/missing/../work\n",
    "nothing": b"",
}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The home of a user who has joined the meshes `prod` and `team`, neither of which runs."""
    for slug in ("prod", "team", ".left"):
        seat = tmp_path / ".covey" / "mesh" / slug
        seat.mkdir(parents=True)
        (seat / "membership.json").touch()
    for name in ("work", "other", "elsewhere/inner"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "other")
    return tmp_path


def meshes(probes: Probes, user: Path, call: str = "mesh", folder: str = "work") -> set[str]:
    """Return what the command and each SDK say of a folder: the mesh, or `none`."""
    found = set()
    for command in ([sys.executable, "-c", COMMAND], *probes.values()):
        (user / folder).mkdir(exist_ok=True)
        text = "\n".join(said(command, call, home=user / ".covey", folder=user / folder))
        slug = re.fullmatch(r"(?:daemon_not_running|covey mesh up) (\w+)", text)
        found.add(slug[1] if slug else re.sub("^(not_found|argument_error).*", "none", text))
    return found


@pytest.mark.parametrize("name", [*LISTS, *DOES_NOT_LIST])
def test_a_file_of_folders_gives_the_same_mesh_everywhere(probes: Probes, user: Path, name: str) -> None:
    content = {**LISTS, **DOES_NOT_LIST}[name].replace(b"{home}", bytes(user))
    (user / ".covey/mesh/team/folders").write_bytes(content)
    assert meshes(probes, user) == {"team" if name in LISTS else "none"}


def test_the_closest_folder_counts_and_of_two_meshes_with_the_same_one_the_first(probes: Probes, user: Path) -> None:
    (user / ".covey/mesh/prod/folders").write_text(f"{user}\n{user}/other/\n")
    (user / ".covey/mesh/team/folders").write_text(f"{user}/work\n{user}/other\n")
    (user / ".covey/mesh/.left/folders").write_text(f"{user}/work/.\n{user}/other\n")
    assert meshes(probes, user) == {"team"}
    assert meshes(probes, user, folder="other") == {"prod"}


@pytest.mark.parametrize("kind", ["a directory", "a pipe", "a broken link"])
def test_what_is_not_a_file_is_not_waited_for_and_counts_as_empty(probes: Probes, user: Path, kind: str) -> None:
    place = user / ".covey/mesh/prod/folders"
    if kind == "a directory":
        place.mkdir()
    elif kind == "a pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("nowhere")
    (user / ".covey/mesh/team/folders").write_text(f"{user}/work\n")
    assert meshes(probes, user) == {"team"}


def test_a_current_folder_that_was_removed_is_in_no_mesh(probes: Probes, user: Path) -> None:
    (user / ".covey/mesh/team/folders").write_text("/\n~/work\n")
    assert meshes(probes, user, "mesh-removed") == {"none"}
