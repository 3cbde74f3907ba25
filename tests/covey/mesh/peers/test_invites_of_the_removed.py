"""Who was removed does not come back with an invite that it knows."""

from __future__ import annotations

from tests.covey.mesh.peers.mesh_of_peers import a_mesh, refusal, until


async def test_removal_takes_back_the_invites_that_the_member_knows_and_no_others() -> None:
    async with a_mesh("anna") as mesh:
        shared = await mesh.invite(uses=5)
        other = await mesh.invite(uses=5)
        admin = await mesh.join("bert", await mesh.invite(role="admin"))
        await mesh.join("cleo", shared)
        of_bert = (await admin.call("mesh.invite", uses=5))["token"]
        for name in ("bert", "cleo"):
            await mesh.authority.call("mesh.revoke", member=f"@{name}")
        for known in (shared, of_bert):
            assert (await refusal(mesh.join("dora", known))).message == "this invite was cancelled"
        await mesh.join("dora", other)


async def test_who_leaves_by_itself_takes_no_invite_from_others() -> None:
    async with a_mesh("anna") as mesh:
        shared = await mesh.invite(uses=5)
        bert = await mesh.join("bert", shared)
        await bert.peer.ask_authority("leave", {})

        async def gone() -> bool:
            return "bert" not in {one["name"] for one in (await mesh.authority.call("mesh.members"))["items"]}

        await until(gone, "bert has left")
        await mesh.join("cleo", shared)
