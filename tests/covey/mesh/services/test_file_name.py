"""The names of files in repositories: equal for all clones, and without secrets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from covey.mesh.services.leases.file_name import file_name, repository_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@GitHub.com:acme/app.git", "github.com/acme/app"),
        ("ssh://git@github.com:22/acme/app.git/", "github.com/acme/app"),
        ("https://user:secret@github.com:443/acme/app", "github.com/acme/app"),
        ("git+ssh://github.com/acme/app.git", "github.com/acme/app"),
        ("https://example.org:8443/~me/app.git", "example.org:8443/~me/app"),
        ("ssh://[::1]:2222/app", "[::1]:2222/app"),
        ("host.lan:app", "host.lan/app"),
        ("/srv/git/app.git", ""),
        ("../app", ""),
        ("file:///srv/git/app.git", ""),
        ("C:\\repos\\app", ""),
        ("", ""),
    ],
)
def test_repositories_are_named_by_host_and_path(url: str, name: str) -> None:
    assert repository_name(url) == name


def test_without_a_remote_a_repository_is_named_by_its_first_commit(tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> str:
        words = ("-c", "user.name=a", "-c", "user.email=a@example.org", *words)
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        ran = subprocess.run(
            ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env=environment
        )
        return ran.stdout.strip()

    first, copy = tmp_path / "first", tmp_path / "copy"
    first.mkdir()
    git(first, "init", "-q")
    assert file_name(str(first / "a"), "anna") == f"@anna:{first / 'a'}", "nothing tells it from others yet"
    git(first, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", str(first), str(copy))
    root = git(first, "rev-list", "--max-parents=0", "HEAD")
    for clone in (first, copy):
        assert file_name(str(clone / "no" / "such" / "file"), "anna") == f"git-{root[:12]}:no/such/file"
    assert file_name(str(first), "anna") == f"git-{root[:12]}:."
