"""The operations of a peer that concern members: who is there, who may join, and what this one says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.clock import timestamp
from covey.kernel.moments import seconds
from covey.mesh.link.errors import LinkError
from covey.mesh.names import check_group, check_member_name
from covey.mesh.peer.presence import IDLE, OFFLINE, WORKING, WORKING_S
from murli import AgentError, conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.peer.peer import Peer


class MemberOperations:
    """The handlers that concern members."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by the name of their operation."""
        return {
            "mesh.peers": self.peers,
            "mesh.members": self.members,
            "mesh.profile": self.profile,
            "mesh.groups.join": self.join_group,
            "mesh.groups.leave": self.leave_group,
            "mesh.heartbeat": self.heartbeat,
            "mesh.invite": self.invite,
            "mesh.invites": self.invites,
            "mesh.revoke": self.revoke,
            "mesh.rename": self.rename,
            "mesh.keys.rotate": self.rotate_keys,
        }

    async def peers(self, _: Call) -> dict[str, Any]:
        """Return the members and which of them are online, as the broker knows it now, or as we heard it last."""
        peer = self._peer
        sightings = dict(peer.presence.known)
        if peer.link.session is not None:
            try:
                sightings = await peer.presence.read(peer.link.session, peer.presence_lock)
            except LinkError:
                sightings = dict(peer.presence.known)
        items = []
        for member in sorted(peer.directory.present, key=lambda one: peer.directory.name_of(one).lower()):
            sighting, profile = sightings.get(member), peer.directory.profiles.get(member)
            online = sighting is not None and sighting.online
            items.append(
                {
                    "member": member,
                    "name": peer.directory.name_of(member),
                    "role": peer.directory.members[member].role,
                    "you": member == peer.membership.member,
                    "online": online,
                    "status": sighting.state if sighting is not None and sighting.state != OFFLINE else IDLE,
                    "summary": profile.summary if profile is not None else "",
                    "avatar": profile.avatar if profile is not None else "",
                    "groups": _groups(profile.groups if profile is not None else {}),
                    "seen_at": timestamp(sighting.at) if sighting is not None else None,
                }
            )
        return {"items": items, "online": sum(1 for item in items if item["online"])}

    async def members(self, call: Call) -> dict[str, Any]:
        """Return who is a member, and if asked for, who was one."""
        directory = self._peer.directory
        items = []
        for record in sorted(directory.members.values(), key=lambda one: one.joined_at):
            if record.revoked_at is not None and not call.params["revoked"]:
                continue
            keys = directory.public_keys(record.member)
            items.append(
                {
                    "member": record.member,
                    "name": record.name,
                    "role": record.role,
                    "you": record.member == self._peer.membership.member,
                    "joined_at": timestamp(record.joined_at),
                    "revoked_at": None if record.revoked_at is None else timestamp(record.revoked_at),
                    "key": keys.key_id if keys is not None else "",
                }
            )
        epoch = directory.epoch
        return {"items": items, "mesh": directory.mesh, "epoch": epoch.epoch if epoch is not None else 0}

    async def profile(self, call: Call) -> dict[str, Any]:
        """Change what is given of the profile, and return it."""
        params, peer = call.params, self._peer
        changes = {name: params[name] for name in ("summary", "visible", "avatar") if params.get(name) is not None}
        if params.get("status") is not None:
            peer.presence.set_status(params["status"])
            changes["status"] = params["status"]
        if changes:
            await peer.own_profile.change(**changes)
            await self._announce()
        profile = peer.state.profile
        assert profile is not None
        return {
            "member": peer.membership.member,
            "name": peer.name,
            "summary": profile.summary,
            "status": peer.presence.state,
            "visible": profile.visible,
            "avatar": profile.avatar,
            "groups": _groups(profile.groups),
        }

    async def join_group(self, call: Call) -> dict[str, Any]:
        """Be in a group from now on."""
        name = check_group(call.params["name"])
        if self._peer.directory.is_member_name(name):
            raise conflict(f"a member is called @{name}", "Choose another name for the group.", field="name")
        return await self._change_groups(lambda groups: {**groups, name: call.params["role"] or "member"})

    async def leave_group(self, call: Call) -> dict[str, Any]:
        """Be in a group no more."""
        left = check_group(call.params["name"])
        return await self._change_groups(lambda groups: {name: role for name, role in groups.items() if name != left})

    async def _change_groups(self, change: Any) -> dict[str, Any]:
        await self._peer.own_profile.change(groups=lambda groups: change(dict(groups)))
        changed = self._peer.state.profile
        return {"items": _groups(changed.groups if changed is not None else {})}

    async def heartbeat(self, call: Call) -> dict[str, Any]:
        """Remember that the program at this peer is alive."""
        peer = self._peer
        peer.presence.set_status(call.params["status"] or WORKING)
        await self._announce()
        until = timestamp(peer.context.clock.time() + WORKING_S)
        return {"member": peer.membership.member, "status": peer.presence.state, "until": until}

    async def _announce(self) -> None:
        """Tell the others about the state, if they can be reached and may know."""
        peer = self._peer
        if peer.link.session is not None:
            state = "" if peer.own_profile.is_visible else OFFLINE
            try:
                await peer.presence.announce(peer.link.session, state=state)
            except LinkError:
                return  # they are told over the next connection

    async def invite(self, call: Call) -> dict[str, Any]:
        """Make an invite."""
        params = call.params
        expires_s = seconds(params["expires"], "expires", least=1.0)
        arguments = {"role": params["role"], "expires_s": expires_s, "uses": params["uses"]}
        made = await self._peer.ask_authority("invite", arguments)
        return {
            "token": made["token"],
            "id": made["invite"],
            "role": made["role"],
            "uses": made["uses"],
            "left": made["uses"],
            "made_at": timestamp(self._peer.context.clock.time()),
            "expires_at": timestamp(made["expires_at"]),
            "revoked": False,
            "joined": [],
        }

    async def invites(self, _: Call) -> dict[str, Any]:
        """Return the invites that were made."""
        answer = await self._peer.ask_authority("invites", {})
        return {
            "items": [
                {
                    "id": one["id"],
                    "role": one["role"],
                    "uses": one["uses"],
                    "left": max(0, one["uses"] - len(one["joined"])),
                    "made_at": timestamp(one["created_at"]),
                    "expires_at": timestamp(one["expires_at"]),
                    "revoked": one["cancelled_at"] is not None,
                    "joined": [self._peer.directory.name_of(member) for member in one["joined"]],
                }
                for one in answer["items"]
            ]
        }

    async def revoke(self, call: Call) -> dict[str, Any]:
        """Remove a member, or make an invite void."""
        named = call.params["member"]
        try:
            self._peer.directory.find(named)
        except AgentError as unknown:
            try:
                await self._peer.ask_authority("cancel", {"invite": named})
            except AgentError as error:
                raise (unknown if error.error == "not_found" else error) from None
            return {"member": "", "name": "", "invite": named, "epoch": None}
        removed = await self._peer.ask_authority("revoke", {"member": named})
        return {"member": removed["member"], "name": removed["name"], "invite": "", "epoch": removed["epoch"]}

    async def rename(self, call: Call) -> dict[str, Any]:
        """Give this member another name."""
        answer = await self._peer.ask_authority("rename", {"name": check_member_name(call.params["name"])})
        return {"member": answer["member"], "old": answer["before"], "name": answer["name"]}

    async def rotate_keys(self, _: Call) -> dict[str, Any]:
        """Make a new encryption key."""
        await self._peer.own_profile.rotate_keys()
        current = self._peer.own_profile.keys.current
        return {"member": self._peer.membership.member, "key": current.key_id, "number": current.number}


def _groups(groups: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "role": role} for name, role in sorted(groups.items())]
