"""The operations of a peer that concern members: who is there, who may join, and what this one says of itself."""

from __future__ import annotations

from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_shapes import GROUP, INVITE, MADE_INVITE, MEMBER, PEER, PROFILE, STATUSES
from covey.contract.operation import Parameter, array, optional, shape

STATUS = Parameter("status", "What this member is doing.", enum=STATUSES)
GROUP_NAME = Parameter("name", "The name of the group.", required=True, positional=True)

MEMBERS = (
    peer_operation(
        "mesh.peers",
        "List the peers and which of them are online.",
        cli=["mesh", "peers"],
        route="/v1/peers",
        when_to_use="Call it to find out whom you can write to.",
        result=shape("MeshPeers", items=array(PEER), online="integer"),
        idempotent=True,
        mcp=True,
        cold=True,
    ),
    peer_operation(
        "mesh.members",
        "List the members of the mesh, and with --revoked those that were removed.",
        cli=["mesh", "members"],
        route="/v1/members",
        parameters=[Parameter("revoked", "Also those that were removed or have left.", type="bool", default=False)],
        result=shape("MeshMembers", items=array(MEMBER), mesh="string", epoch="integer"),
        idempotent=True,
        cold=True,
    ),
    peer_operation(
        "mesh.profile",
        "Show or change what this member says of itself.",
        cli=["mesh", "profile"],
        method="POST",
        route="/v1/profile",
        description="What is not given stays as it is.",
        parameters=[
            Parameter("summary", "What it is there for, in a line."),
            STATUS,
            Parameter("visible", "Let others see that it is online.", type="bool"),
            Parameter("avatar", "An emoji or the address of a picture."),
        ],
        client_parameters=[Parameter("hidden", "Be offline to others.", type="bool", default=False)],
        result=PROFILE,
        mutating=True,
        idempotent=True,
    ),
    peer_operation(
        "mesh.groups.join",
        "Join a group: messages to @group come here too.",
        cli=["mesh", "groups", "join"],
        method="POST",
        route="/v1/groups/join",
        parameters=[GROUP_NAME, Parameter("role", "The role in the group, such as lead.")],
        result=shape("MeshGroups", items=array(GROUP)),
        mutating=True,
        idempotent=True,
    ),
    peer_operation(
        "mesh.groups.leave",
        "Leave a group.",
        cli=["mesh", "groups", "leave"],
        method="POST",
        route="/v1/groups/leave",
        parameters=[GROUP_NAME],
        result=shape("MeshGroups", items=array(GROUP)),
        mutating=True,
        idempotent=True,
    ),
    peer_operation(
        "mesh.heartbeat",
        "Say that the program at this peer is alive, and what it is doing.",
        cli=["mesh", "heartbeat"],
        method="POST",
        route="/v1/heartbeat",
        description="Without a status it is working. Two minutes after the last one the status is idle again.",
        parameters=[STATUS],
        result=shape("MeshHeartbeat", member="string", status="string", until="string"),
        mutating=True,
        idempotent=True,
        unaudited="programs call it all the time, and it changes nothing that lasts",
    ),
    peer_operation(
        "mesh.invite",
        "Make an invite: a text that somebody pastes into `covey mesh join`.",
        cli=["mesh", "invite"],
        method="POST",
        route="/v1/invite",
        description="Whoever has the text can join until it expires or is used up: give it away as you would a "
        "password. It is shown once.",
        parameters=[
            Parameter("role", "What whoever joins may do.", enum=["member", "reader", "admin"], default="member"),
            Parameter("expires", "How long it is good for, such as 24h.", default="24h"),
            Parameter("uses", "How many may join with it.", type="int", default=1, minimum=1, maximum=1000),
        ],
        result=MADE_INVITE,
        mutating=True,
        consent=True,
    ),
    peer_operation(
        "mesh.invites",
        "List the invites that were made.",
        cli=["mesh", "invites"],
        route="/v1/invites",
        result=shape("MeshInvites", items=array(INVITE)),
        idempotent=True,
    ),
    peer_operation(
        "mesh.revoke",
        "Remove a member, or take back an invite. The member is disconnected at once and topic keys are made anew.",
        cli=["mesh", "revoke"],
        method="POST",
        route="/v1/revoke",
        parameters=[
            Parameter(
                "member",
                "Name or member key of a member, or the id of an invite.",
                required=True,
                positional=True,
            )
        ],
        result=shape("MeshRevoked", member="string", name="string", invite="string", epoch=optional("integer")),
        mutating=True,
        destructive=True,
        idempotent=True,
        consent=True,
    ),
    peer_operation(
        "mesh.rename",
        "Give this member another name. All others see it.",
        cli=["mesh", "rename"],
        method="POST",
        route="/v1/rename",
        parameters=[Parameter("name", "The new name.", required=True, positional=True)],
        result=shape("MeshRenamed", member="string", old="string", name="string"),
        mutating=True,
        idempotent=True,
    ),
    peer_operation(
        "mesh.keys.rotate",
        "Make a new key with which messages to this member are sealed. Messages under way can still be read.",
        cli=["mesh", "keys", "rotate"],
        method="POST",
        route="/v1/keys/rotate",
        result=shape("MeshKeyRotated", member="string", key="string", number="integer"),
        mutating=True,
    ),
)
