"""Hooks of peers: replies, hops that end, the gate before a message is sent, and what a hook's token may do."""

from __future__ import annotations

import asyncio
from pathlib import Path

from covey.kernel.operations.call import Caller
from covey.mesh.peer.subsystem import hook_scope
from tests.covey.mesh.peers.mesh_of_peers import LIMIT_S, a_mesh, refusal, until


async def test_on_dm_answers_once_with_a_reference_to_the_message() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        bert.hook("on-dm", """printf '{"reply": "got it"}'""")
        sent = await anna.deliver(bert, "do it")
        (reply,) = await anna.wait_for(1)
        assert (reply["text"], reply["reply_to_id"], reply["hops"]) == ("got it", sent["id"], 1)
        run = await bert.wait_for_event("hook_executed", message=sent["id"])
        assert run["data"]["subject"] == "on-dm"
        assert (run["data"]["data"]["exit"], run["data"]["data"]["outcome"]) == (0, "replied")
        await bert.stop()
        await bert.start()
        await anna.deliver(bert, "again")
        await anna.wait_for(2)
        assert len(await anna.inbox()) == 2


async def test_two_peers_that_answer_each_other_stop_by_the_count_of_hops() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        for peer in (anna, bert):
            peer.hook("on-message", """printf '{"reply": "and you?"}'""")
        await anna.deliver(bert, "how are you?")

        def stopped() -> bool:
            return anna.peer.hooks.skipped + bert.peer.hooks.skipped == 1

        await until(stopped, "a hook was not run because of the hops")
        messages = [*await anna.inbox(), *await bert.inbox()]
        assert sorted(message["hops"] for message in messages) == [0, 1, 2, 3, 4]


async def test_reply_to_a_topic_goes_to_the_topic() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        for peer in (anna, bert, cleo):
            await peer.call("mesh.topic.subscribe", topic="ask")
        bert.hook("on-topic-ask", """printf '{"reply": "42"}'""")
        await anna.call("mesh.topic.post", topic="ask", message="the answer?")
        (reply,) = await anna.wait_for(1)
        assert (reply["text"], reply["topic"], reply["from_name"], reply["hops"]) == ("42", "ask", "bert", 1)
        await cleo.wait_for(2)


async def test_mention_runs_its_hook_with_the_message_on_standard_input() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        written = mesh.folder / "written"
        bert.hook("on-mention", f"cat > {written}.part && mv {written}.part {written}")
        await anna.call("mesh.broadcast", message="nobody is meant")
        await anna.call("mesh.broadcast", message="ask @bert", meta={"n": 1})
        await until(written.exists, "the hook has run")
        text = await asyncio.to_thread(Path(written).read_text)
        assert '"text":"ask @bert"' in text
        assert '"event":"message"' in text


async def test_gate_changes_what_is_sent_and_refuses_what_it_does_not_like() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        gate = """
        text=$(cat)
        case "$text" in
          *forbidden*) echo "not this word" >&2; exit 3 ;;
          *shout*) printf '{"message": "SHOUTED", "priority": "now"}' ;;
        esac
        """
        anna.hook("pre-send", gate)
        await anna.deliver(bert, "as it is")
        await anna.deliver(bert, "please shout")
        refused = await refusal(anna.send(bert, "a forbidden word"))
        assert refused.error == "permission_denied"
        assert "not this word" in refused.message
        batch = [{"to": "@bert", "message": "forbidden too"}, {"to": "@bert", "message": "fine"}]
        answer = await anna.call("mesh.send_batch", messages=batch)
        assert (answer["accepted"], answer["refused"]) == (1, 1)
        await bert.wait_for(3)
        messages = [(one["text"], one["priority"]) for one in await bert.inbox()]
        assert messages == [("as it is", "next"), ("SHOUTED", "now"), ("fine", "next")]


async def test_token_of_a_hook_may_send_and_read_and_nothing_else() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        token = bert.peer.hooks.tokens.issue("on-dm", 2)
        answer = await bert.ask("mesh.send", token=token, to="@anna", message="by a hook")
        assert answer["id"]
        (message,) = await anna.wait_for(1)
        assert message["hops"] == 3
        assert (await bert.ask("mesh.inbox", token=token))["items"] == []
        for operation, params in (
            ("mesh.revoke", {"member": "anna"}),
            ("mesh.invite", {}),
            ("mesh.rename", {"name": "x"}),
            ("mesh.keys.rotate", {}),
            ("mesh.outbox.drop", {"all": True}),
            ("mesh.broadcast", {"message": "x"}),
            ("down", {}),
            ("config.set", {"key": "hooks.enabled", "value": "false"}),
        ):
            refused = await refusal(bert.ask(operation, token=token, **params))
            assert refused.error == "permission_denied", operation
        reading = bert.peer.hooks.tokens.issue("pre-send", 0, may_send=False)
        refused = await refusal(bert.ask("mesh.send", token=reading, to="@anna", message="x"))
        assert refused.error == "permission_denied"
        bert.peer.hooks.tokens.revoke(token)
        refused = await refusal(bert.ask("mesh.send", token=token, to="@anna", message="x"))
        assert refused.error == "permission_denied"
        assert hook_scope(bert.peer, token) is None
        assert Caller("internal").scope is None


async def test_hook_that_hangs_does_not_hold_up_messages() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        bert.hook("on-message", f"exec sleep {LIMIT_S * 2:.0f}")
        for number in range(30):
            await anna.send(bert, str(number))
        await bert.wait_for(30)
        assert await bert.texts() == [str(number) for number in range(30)]
