"""Skills of members: documents with a manifest and files, signed by their author; installed when a person says so."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from covey.agents.integration.user_environment import UserEnvironment
from covey.agents.registry import known_agents
from covey.contract.mesh_services.skill import SHARED
from covey.kernel.clock import timestamp
from covey.mesh.services.owned import OwnedDocuments
from covey.mesh.services.service import Service
from covey.mesh.services.skill.folder import pack
from covey.mesh.services.skill.installation import (
    Installed,
    InstallRecord,
    check_free,
    install,
    target_of,
    uninstall,
)
from covey.mesh.services.skill.manifest import BadSkill, check_contents, check_manifest, check_name
from murli import conflict, not_found, permission_denied, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings
    from covey.mesh.services.skill.manifest import Manifest

RECORD_FILE = "skills.json"
LONGEST_TEXT = 64 * 1024


class Skill(NamedTuple):
    """A skill as it was shared."""

    document: Document
    manifest: Manifest
    contents: dict[str, bytes] | None
    """None: its manifest only."""


class Skills(Service):
    """The service `skill`. A document has the key `<author>/<name>` and is `{"manifest": …, "contents": …}`."""

    name = "skill"
    exported = False
    """A skill is worth what its author's signature is worth: whoever imported it would sign it."""

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._owned = OwnedDocuments(documents, surroundings.directory, self.name, "skill")
        self._record = InstallRecord(str(Path(surroundings.context.seat.directory) / RECORD_FILE))
        self._installing = asyncio.Lock()

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.skill.deploy": self.deploy,
            "mesh.skill.share": self.share,
            "mesh.skill.list": self.list,
            "mesh.skill.show": self.show,
            "mesh.skill.install": self.install,
            "mesh.skill.uninstall": self.uninstall,
            "mesh.skill.remove": self.remove,
        }

    def allows(self, key: str, author: str) -> bool:
        """Return whether it is the author's own skill."""
        return self._owned.allows(key, author)

    async def deploy(self, call: Call) -> dict[str, Any]:
        """Share a folder."""
        params = call.params
        packed = await asyncio.to_thread(
            pack,
            params["path"],
            name=params["name"],
            version=params["skill_version"],
            description=params["description"],
        )
        contents = {path: base64.b64encode(data).decode() for path, data in packed.contents.items()}
        entry = self._entry(await self._put(packed.manifest, contents))
        call.note(about=entry["name"])
        return {"skill": entry, "left_out": packed.left_out}

    async def share(self, call: Call) -> dict[str, Any]:
        """Share a manifest."""
        given, name = call.params["manifest"], call.params["name"]
        if given.get("name", name) != name:
            raise user_error(f"the manifest is of {given['name']!r}, not of {name!r}", "Give one name.", field="name")
        return self._entry(await self._put(check_manifest({**given, "name": name}), None))

    async def _put(self, manifest: Manifest, contents: dict[str, str] | None) -> Document:
        """Share a skill. The same version cannot have other files: whoever has read it must find what they read."""
        value = {"manifest": msgspec.to_builtins(manifest), "contents": contents}

        def changed(found: Document | None) -> dict[str, Any]:
            before = found.value["manifest"] if found is not None and found.value is not None else None
            if before is not None and before.get("version") == manifest.version:
                if before.get("files") != value["manifest"]["files"]:
                    raise conflict(
                        f"version {manifest.version} of {manifest.name} was shared with other files",
                        "Give it a new version.",
                    )
                if contents is None and found is not None and found.value is not None:
                    return {**value, "contents": found.value.get("contents")}
            return value

        return await self.documents.change(self.name, self._owned.key(manifest.name), changed)

    async def list(self, _: Call) -> dict[str, Any]:
        """Return all skills, and what is installed."""
        items = [entry for document in await self._owned.all() if (entry := self._readable(document)) is not None]
        installed = await asyncio.to_thread(self._record.load)
        return {"items": items, "installed": [self._installed(one) for one in installed]}

    def _readable(self, document: Document) -> dict[str, Any] | None:
        try:
            return self._entry(document)
        except BadSkill:
            return None

    async def show(self, call: Call) -> dict[str, Any]:
        """Return a skill with the text of a file."""
        skill, path = self._open(call.params["skill"]), call.params["part"]
        if all(file.path != path for file in skill.manifest.files):
            raise not_found(f"{skill.manifest.name} has no file {path!r}", "See its list of files.")
        data = None if skill.contents is None else skill.contents[path]
        text = None if data is None else data[:LONGEST_TEXT].decode("utf-8", "replace")
        return {"skill": self._entry(skill.document), "file": path, "text": text}

    async def remove(self, call: Call) -> dict[str, Any]:
        """Delete a skill of this member."""
        found = self._owned.own(call.params["skill"])
        deleted = await self.documents.put(self.name, found.key, None)
        return {"name": self._owned.name_in(found.key), "revision": deleted.revision}

    async def install(self, call: Call) -> dict[str, Any]:
        """Write a skill into an agent's folder, or say what would be written."""
        params = call.params
        skill = self._open(params["skill"])
        if skill.contents is None:
            raise not_found(
                f"only the manifest of {skill.manifest.name} was shared",
                f"Ask @{self.name_of(skill.document.author)} to deploy it: covey mesh skill deploy <folder>",
            )
        if not self.surroundings.directory.is_member(skill.document.author):
            raise permission_denied(
                f"{self.name_of(skill.document.author)} has signed {skill.manifest.name}, and is not a member any more",
                "Ask a member whom you trust to share it.",
            )
        agent = params["agent"]
        path = target_of(self._folder(params), skill.manifest.name)
        plan = hashlib.sha256(
            msgspec.json.encode([str(path), agent, skill.document.author, msgspec.to_builtins(skill.manifest)])
        ).hexdigest()[:16]
        if params["expect"] not in (None, plan):
            raise conflict(f"{skill.manifest.name} is not what was shown any more", "Look at it again, then decide.")
        async with self._installing:
            installed = await asyncio.to_thread(self._record.load)
            known = next((one for one in installed if one.path == str(path)), None)
            await asyncio.to_thread(check_free, path, known)
            if not call.is_dry_run:
                origin = {"author": skill.document.author, "agent": agent, "at": self.surroundings.context.clock.time()}
                call.note(about=f"{skill.manifest.name} by {self.name_of(skill.document.author)}", outcome=str(path))
                await asyncio.shield(
                    asyncio.to_thread(install, self._record, path, skill.manifest, skill.contents, origin)
                )
        return {
            "skill": self._entry(skill.document),
            "agent": agent,
            "path": str(path),
            "plan": plan,
            "replaces": known.version if known is not None else None,
            "installed": not call.is_dry_run,
        }

    async def uninstall(self, call: Call) -> dict[str, Any]:
        """Remove what an installation has written."""
        name, path = call.params["skill"].rpartition("/")[2], call.params["path"]
        async with self._installing:
            every = await asyncio.to_thread(self._record.load)
            found = [one for one in every if one.name == name and path in (None, one.path)]
            if not found:
                raise not_found(f"{name} is not installed there", "See `covey mesh skill list`.", field="skill")
            if len(found) > 1:
                places = ", ".join(one.path for one in found)
                raise user_error(f"{name} is installed several times: {places}", "Say which with --path.", field="path")
            done = await asyncio.shield(asyncio.to_thread(uninstall, self._record, found[0]))
        return {"name": name, "path": found[0].path, "removed": done.removed, "kept": done.kept}

    async def changed(self, change: Change) -> None:
        """Tell of a skill that was shared or removed. Nothing is installed."""
        document, removed = change.document, change.document.value is None
        shown = change.before if removed else document
        entry = self._readable(shown) if shown is not None and shown.value is not None else None
        if entry is None:
            return
        data = {name: entry[name] for name in ("name", "version", "description", "author", "author_name", "inline")}
        await self.surroundings.context.events.append(
            SHARED, entry["name"], {**data, "removed": removed}, source="mesh"
        )

    def _folder(self, params: Mapping[str, Any]) -> Path:
        """Return the folder of skills that is meant. Raises AgentError."""
        given = [name for name in ("project", "folder") if params[name]] + (["user"] if params["user"] else [])
        if len(given) != 1:
            raise user_error(
                "say once where it is to go: project, user or folder", "For all your projects: --user", field="project"
            )
        if params["folder"]:
            return Path(params["folder"])
        folders = known_agents()[params["agent"]].skills
        assert folders is not None, "the contract names agents with skills only"
        if params["project"]:
            if not Path(params["project"]).is_dir():
                raise not_found(
                    f"there is no folder {params['project']}", "Name the project's folder.", field="project"
                )
            return Path(params["project"], folders.project)
        return UserEnvironment(Path.home(), os.environ).folder(folders.variable, folders.usual) / folders.below

    def _open(self, reference: str) -> Skill:
        """Return a skill after checking all of it. Raises AgentError."""
        return _opened(self._owned.find(reference))

    def _entry(self, document: Document) -> dict[str, Any]:
        skill = _opened(document)
        return {
            **msgspec.to_builtins(skill.manifest),
            "bytes": skill.manifest.bytes,
            "inline": skill.contents is not None,
            "author": document.author,
            "author_name": self.name_of(document.author),
            "revision": document.revision,
            "at": timestamp(document.at),
        }

    def _installed(self, installed: Installed) -> dict[str, Any]:
        shown = msgspec.to_builtins(installed)
        named = {name: shown[name] for name in ("name", "version", "author", "agent", "path")}
        return {**named, "author_name": self.name_of(installed.author), "at": timestamp(installed.at)}


def _opened(document: Document) -> Skill:
    """Return the skill that a document holds. Raises `BadSkill` if any part of it cannot be accepted."""
    value = document.value or {}
    manifest = check_manifest(value.get("manifest"))
    if f"{document.author}/{check_name(manifest.name)}" != document.key:
        raise BadSkill("it was shared under another name than its manifest says")
    given = value.get("contents")
    if given is None:
        return Skill(document, manifest, None)
    try:
        contents = {path: base64.b64decode(text, validate=True) for path, text in given.items()}
    except (AttributeError, TypeError, ValueError, binascii.Error):
        raise BadSkill("its files cannot be read") from None
    check_contents(manifest, contents)
    return Skill(document, manifest, contents)
