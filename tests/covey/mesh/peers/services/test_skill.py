"""Skills: shared by their author, installed by a person alone, and removed without a trace."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.processes.process import environment_of
from lab.at_terminal import typed
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_USER_ERROR
from tests.covey.conftest import COMMAND
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until

SKILL = "---\nname: review\ndescription: Reviews a change.\n---\nRead the change, then say what is wrong with it.\n"


def skill_folder(folder: Path, **files: str) -> Path:
    """Write a folder with a skill. `a__b` is the file `a/b`."""
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


async def has_skill(peer: MemberPeer, name: str) -> dict[str, Any]:
    """Return a skill when the peer has it."""
    found: list[dict[str, Any]] = []

    async def there() -> bool:
        found[:] = [one for one in (await peer.call("mesh.skill.list"))["items"] if one["name"] == name]
        return bool(found)

    await until(there, f"{peer.name} has the skill {name}")
    return found[0]


def everything_in(folder: Path) -> dict[str, bytes | None]:
    """Return every file and folder below a folder."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in sorted(found.items())}


async def test_a_skill_is_deployed_read_installed_and_removed_without_a_trace(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "review", tools__check_sh="#!/bin/sh\nexit 0\n")
    (folder / "tools/check.sh").chmod(0o755)
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("secret")
    project = tmp_path / "project"
    project.mkdir()
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        deployed = await anna.call("mesh.skill.deploy", path=str(folder))
        assert deployed["left_out"] == [".git"]
        entry = await has_skill(bob, "review")
        assert entry == deployed["skill"] | {"at": entry["at"]}
        assert (entry["author"], entry["description"], entry["inline"]) == (anna.member, "Reviews a change.", True)
        event = await bob.wait_for_event("skill_shared", name="review", removed=False)
        assert event["data"]["data"]["author_name"] == "anna"
        assert (await bob.call("mesh.skill.show", skill="review"))["text"] == SKILL
        assert everything_in(project) == {}, "nothing is installed by what comes"

        plan = await bob.call("mesh.skill.install", skill="review", project=str(project), check_only=True)
        assert everything_in(project) == {}
        assert plan["path"] == str(project / ".claude/skills/review")
        given = {"skill": "review", "project": str(project), "expect": plan["plan"]}
        assert (await bob.call("mesh.skill.install", **given))["installed"]
        assert everything_in(project / ".claude") == {
            "skills": None,
            "skills/review": None,
            "skills/review/SKILL.md": SKILL.encode(),
            "skills/review/tools": None,
            "skills/review/tools/check.sh": b"#!/bin/sh\nexit 0\n",
        }
        assert os.access(project / ".claude/skills/review/tools/check.sh", os.X_OK)
        listed = (await bob.call("mesh.skill.list"))["installed"]
        assert [(one["name"], one["author_name"], one["path"]) for one in listed] == [("review", "anna", plan["path"])]

        (folder / "SKILL.md").write_text(SKILL + "Be brief.\n")
        await anna.call("mesh.skill.deploy", path=str(folder))
        await until(lambda: _version(bob) != entry["version"], "bob has the new version")
        assert (await refusal(bob.call("mesh.skill.install", **given))).code == EXIT_CONFLICT
        newer = await bob.call("mesh.skill.install", skill="@anna/review", project=str(project))
        assert newer["replaces"] == entry["version"]
        assert (project / ".claude/skills/review/SKILL.md").read_text().endswith("Be brief.\n")

        removed = await bob.call("mesh.skill.uninstall", skill="review")
        assert removed["removed"] == ["SKILL.md", "tools/check.sh"]
        assert everything_in(project) == {}
        assert (await bob.call("mesh.skill.list"))["installed"] == []
        assert (await refusal(bob.call("mesh.skill.remove", skill="review"))).code == EXIT_PERMISSION
        await anna.call("mesh.skill.remove", skill="review")
        await bob.wait_for_event("skill_shared", name="review", removed=True)


def _version(peer: MemberPeer) -> str:
    found = peer.peer.services.documents.get("skill", f"{_author(peer)}/review")
    assert found is not None
    assert found.value is not None
    return str(found.value["manifest"]["version"])


def _author(peer: MemberPeer) -> str:
    return peer.peer.directory.find("@anna")


async def test_what_a_user_has_changed_or_put_there_is_kept(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".claude/skills/other").mkdir(parents=True)
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.call("mesh.skill.deploy", path=str(skill_folder(tmp_path / "review", a_md="a", b__c_md="c")))
        where = {"skill": "review", "project": str(project)}
        (project / ".claude/skills/review").mkdir()
        assert (await refusal(anna.call("mesh.skill.install", **where))).error == "not_installable"
        (project / ".claude/skills/review").rmdir()
        await anna.call("mesh.skill.install", **where)
        own = project / ".claude/skills/review"
        (own / "a.md").write_text("mine")
        (own / "b/new.md").write_text("new")
        error = await refusal(anna.call("mesh.skill.install", **where))
        assert error.error == "not_installable"
        assert "a.md, b/new.md" in error.message
        removed = await anna.call("mesh.skill.uninstall", skill="review")
        assert (removed["removed"], removed["kept"]) == (["SKILL.md", "b/c.md"], ["a.md", "b/new.md"])
        assert everything_in(own) == {"a.md": b"mine", "b": None, "b/new.md": b"new"}
        assert (await refusal(anna.call("mesh.skill.uninstall", skill="review"))).code == EXIT_NOT_FOUND


async def test_an_installed_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    project, folder = tmp_path / "project", skill_folder(tmp_path / "review")
    project.mkdir()
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.call("mesh.skill.deploy", path=str(folder))
        plan = await anna.call("mesh.skill.install", skill="review", agent="codex", project=str(project))
        own = Path(plan["path"])
        own.rename(tmp_path / "elsewhere")
        own.symlink_to(tmp_path / "elsewhere")
        assert (await refusal(anna.call("mesh.skill.uninstall", skill="review"))).error == "not_installable"
        assert (tmp_path / "elsewhere/SKILL.md").exists()


async def test_an_agent_installs_nothing(tmp_path: Path) -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.call("mesh.skill.deploy", path=str(skill_folder(tmp_path / "review")))
        install = [COMMAND, "mesh", "skill", "install", "review", "--yes", "--output", "json"]
        command = typed(install)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "COVEY"))}
        environ |= {"HOME": str(tmp_path), "COVEY_HOME": anna.home.path}
        marked = {**environ, "CLAUDECODE": "1"}
        if not environment_of(os.getpid()):
            pytest.skip("the system does not tell with what a process was started")
        found = await _run([*command, "--user"], marked)
        assert (found.returncode, "agents_cannot_approve" in found.stdout + found.stderr) == (EXIT_CONFLICT, True)
        assert not (tmp_path / ".claude").exists()
        found = await _run([*typed(["env", "-u", "CLAUDECODE", *install]), "--user"], marked)
        assert found.returncode == EXIT_CONFLICT, "its parent has the mark"
        found = await _run([*command, "--user"], {**environ, "CLAUDE_CONFIG_DIR": str(tmp_path / "own")})
        assert found.returncode == 0, found.stderr
        assert (tmp_path / "own/skills/review/SKILL.md").read_text() == SKILL


async def _run(command: list[str], environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run, command, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


async def test_a_manifest_alone_is_shared_and_cannot_be_installed(tmp_path: Path) -> None:
    file = {"path": "SKILL.md", "sha256": "0" * 64, "size": 5, "mode": "0644"}
    manifest = {
        "version": "1",
        "description": "to come",
        "files": [file],
    }
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await anna.call("mesh.skill.share", name="later", manifest=manifest)
        assert not (await has_skill(bob, "later"))["inline"]
        assert (await bob.call("mesh.skill.show", skill="later"))["text"] is None
        error = await refusal(bob.call("mesh.skill.install", skill="later", project=str(tmp_path)))
        assert error.code == EXIT_NOT_FOUND
        await bob.call("mesh.skill.share", name="later", manifest={**manifest, "version": "2"})
        await until(lambda: anna.peer.services.documents.get("skill", f"{bob.member}/later"), "anna has both")
        assert "@anna/later, @bob/later" in (await refusal(anna.call("mesh.skill.show", skill="later"))).suggestion
        changed = {**manifest, "files": [file, {**file, "path": "b.md"}]}
        error = await refusal(anna.call("mesh.skill.share", name="later", manifest=changed))
        assert (error.code, "new version" in error.suggestion) == (EXIT_CONFLICT, True)


async def test_a_skill_that_was_made_to_do_harm_is_refused_by_those_who_would_install_it(tmp_path: Path) -> None:
    """A member writes whatever it wants into a document: past its own checks."""
    async with a_mesh("anna", "mallory") as mesh:
        anna, mallory = mesh.peers.values()
        documents = mallory.peer.services.documents
        file = {"path": "SKILL.md", "sha256": "0" * 64, "size": 1, "mode": "0644"}
        contents = {"SKILL.md": base64.b64encode(b"x").decode()}
        manifest: dict[str, Any] = {"name": "evil", "version": "1", "description": "", "files": [file]}
        wrong_hash: dict[str, Any] = {"manifest": manifest, "contents": contents}
        spoilt: list[dict[str, Any]] = [
            wrong_hash,
            {"manifest": {**manifest, "files": [file, {**file, "path": "../x"}]}, "contents": contents},
            {"manifest": {**manifest, "name": "good"}, "contents": None},
            {"manifest": 3},
            {"contents": contents},
            {"manifest": manifest, "contents": 3},
        ]
        for value in spoilt:
            written = await documents.put("skill", f"{mallory.member}/evil", value)
            await until(partial(_has_revision, anna, mallory, written.revision), "anna has it")
            error = await refusal(anna.call("mesh.skill.install", skill="evil", project=str(tmp_path)))
            assert error.error == "bad_skill", value
            assert (await anna.call("mesh.skill.list"))["items"] == []
        assert everything_in(tmp_path) == {}
        in_annas_name = await documents.put("skill", f"{anna.member}/hers", wrong_hash)
        await mallory.call("mesh.state.set", key="after", value=in_annas_name.revision)
        await until(lambda: anna.peer.services.documents.get("state", "after"), "what came after it is there")
        assert anna.peer.services.documents.get("skill", f"{anna.member}/hers") is None


def _has_revision(peer: MemberPeer, author: MemberPeer, revision: int) -> bool:
    found = peer.peer.services.documents.get("skill", f"{author.member}/evil")
    return found is not None and found.revision == revision


@pytest.mark.parametrize("spoil", ["link", "hidden", "large", "many", "no skill", "name"])
async def test_a_folder_that_cannot_be_a_skill_is_refused(tmp_path: Path, spoil: str) -> None:
    folder = skill_folder(tmp_path / "review")
    expected = EXIT_USER_ERROR
    if spoil == "link":
        (folder / "passwd").symlink_to("/etc/passwd")
    elif spoil == "hidden":
        (folder / ".env").write_text("TOKEN=1")
    elif spoil == "large":
        (folder / "data").write_bytes(b"x" * (256 * 1024))
    elif spoil == "many":
        for number in range(200):
            (folder / f"{number}.md").touch()
    elif spoil == "no skill":
        (folder / "SKILL.md").unlink()
        expected = EXIT_NOT_FOUND
    else:
        (folder / "con.txt").touch()
    async with a_mesh("anna") as mesh:
        error = await refusal(mesh.authority.call("mesh.skill.deploy", path=str(folder)))
        assert error.code == expected
        assert error.suggestion
        assert (await mesh.authority.call("mesh.skill.list"))["items"] == []
