"""`covey mcp` for a real client of the SDK, and for bytes that no client would send."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading

import jsonschema_rs
import pytest

from covey.mcp.stdio import LONGEST_LINE
from covey.mcp.tools import CURATED, OFFERABLE
from tests.covey.conftest import COMMAND, TIME_LIMIT, Covey
from tests.covey.mcp.conftest import call, refused, stdio

INITIALIZE = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"a test","version":"1"}}}\n'
)
PING = '{"jsonrpc":"2.0","id":%d,"method":"ping"}\n'


def start(covey: Covey) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, "mcp"],
        cwd=covey.folder,
        env=covey.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


async def test_every_tool_can_be_called_and_its_answer_fits_its_schema(covey: Covey) -> None:
    assert covey.run("config", "set", "mcp.tools", "all", "--yes").code == 0
    assert covey.run("config", "set", "mcp.act", "true", "--yes").code == 0
    assert covey.run("up").code == 0
    wanted = {"key": "log.level", "ref": "%99", "run": "none", "at": "1m", "text": "x", "item": "none"}
    wanted |= {"name": "none", "id": "none", "new_name": "other", "channel": "none", "message": "x"}
    async with stdio(covey) as client:
        assert client.server_info
        assert client.server_info.name == "covey"
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == {
            tool.name for tool in OFFERABLE.values() if tool.operation.seat is None
        }
        codes = {}
        for tool in listed:
            required = {name: wanted[name] for name in tool.input_schema.get("required", [])}
            result = await client.call_tool(tool.name, required | ({"at": "1s"} if tool.name == "replay_fleet" else {}))
            assert tool.output_schema is not None
            jsonschema_rs.validate(tool.output_schema, result.structured_content)
            codes[tool.name] = result.structured_content.get("error", {}).get("code", "ok")
    assert {name for name, code in codes.items() if code == "ok"} >= {
        "list_agents", "list_needs", "list_receipts", "covey_status", "list_beats", "events", "config_get", "doctor"
    }  # fmt: skip
    assert (codes["explain_agent"], codes["send_message"], codes["kill"]) == ("E_REF_NOT_FOUND",) * 3


async def test_tools_of_a_mesh_are_listed_when_one_was_joined_and_act_only_when_that_is_allowed(covey: Covey) -> None:
    async with stdio(covey) as client:
        assert not [tool.name for tool in (await client.list_tools()).tools if tool.name.startswith("mesh_")]
        assert (await refused(client, "mesh_peers"))["code"] == "no_mesh"
        for slug in ("one", "two"):
            folder = covey.home / "mesh" / slug
            folder.mkdir(mode=0o700, parents=True)
            (folder / "membership.json").write_text("{}")
        listed = {tool.name for tool in (await client.list_tools()).tools}
        reading = {"mesh_peers", "mesh_inbox", "mesh_search", "mesh_state_get", "mesh_memory_recall"}
        reading |= {"mesh_task_list", "mesh_lease_list"}
        assert reading == {name for name in listed if name.startswith("mesh_")}
        several = await refused(client, "mesh_peers")
        assert (several["field"], several["valid_values"]) == ("mesh", ["one", "two"])
        gone = await refused(client, "mesh_peers", mesh="two")
        assert gone["suggestion"] == "Run `covey mesh up two` to start it."
        assert (await refused(client, "mesh_send", to="@bob", message="x"))["code"] == "mcp_act_off"


async def test_annotations_say_what_is_safe(covey: Covey) -> None:
    covey.run("config", "set", "mcp.tools", "kill", "--yes")
    covey.run("config", "set", "mcp.act", "true", "--yes")
    async with stdio(covey) as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    said = {
        name: (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint) for name, hint in hints.items() if hint
    }
    assert said["list_agents"] == (True, False, True)
    assert said["send_message"] == (False, False, False)
    assert said["kill"] == (False, True, False)


async def test_arguments_are_checked_and_a_wait_is_bounded(served: Covey) -> None:
    async with stdio(served) as client:
        assert (await refused(client, "list_agents", bogus=1))["field"] == "bogus"
        wrong = await refused(client, "view_agent", ref="%1", lines="many")
        assert (wrong["code"], wrong["field"]) == ("argument_error", "lines")
        assert (await refused(client, "explain_agent"))["message"] == "'ref' is missing"
        assert (await refused(client, "send_message", ref="%1", text="x", file="/etc/passwd"))["field"] == "file"
        unknown = await refused(client, "nonsense")
        assert (unknown["code"], unknown["valid_values"][0]) == ("not_found", "list_agents")
        assert "covey config set mcp.tools list.windows" in (await refused(client, "list_windows"))["suggestion"]
        assert (await refused(client, "wait_for_agent"))["code"] == "argument_error"
        waited = await call(client, "wait_for_agent", any=True, timeout="0.2s")
        assert (waited["outcome"], waited["items"]) == ("timeout", [])


async def test_acting_is_off_until_it_is_allowed_and_refusals_are_recorded(covey: Covey) -> None:
    covey.run("up")
    async with stdio(covey) as client:
        assert {"send_message", "kill"}.isdisjoint(tool.name for tool in (await client.list_tools()).tools)
        error = await refused(client, "send_message", ref="%1", text="x")
        assert (error["code"], "covey config set mcp.act true" in error["suggestion"]) == ("mcp_act_off", True)
        covey.run("config", "set", "mcp.act", "true", "--yes")
        assert (await refused(client, "send_message", ref="%1", text="x"))["code"] == "E_REF_NOT_FOUND"
        assert (await refused(client, "config_set", key="mcp.act", value="true"))["code"] == "not_found"
    _, _, body = covey.request("GET", "/v1/events?kind=audit.call")
    told = [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line.startswith(b"data: {")]
    audited = [(one["subject"], one["data"]["surface"], one["data"]["error"]) for one in told]
    assert audited == [
        ("send", "mcp", "mcp_act_off"),
        ("config.set", "cli", None),
        ("send", "mcp", "E_REF_NOT_FOUND"),
    ]


async def test_without_a_daemon_each_call_says_so_and_the_next_one_after_its_start_succeeds(covey: Covey) -> None:
    async with stdio(covey) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} < set(CURATED.values())
        error = await refused(client, "list_agents")
        assert (error["code"], error["suggestion"]) == ("daemon_not_running", "Run `covey up` to start it.")
        covey.run("up")
        assert (await call(client, "list_agents"))["items"] == []
        covey.run("down")
        assert (await refused(client, "list_agents"))["code"] == "daemon_not_running"


def test_nonsense_and_a_huge_line_are_answered_and_the_next_message_is_served(covey: Covey) -> None:
    server = start(covey)
    assert server.stdin
    assert server.stdout
    sent = [b"nonsense\n", b"\xff\xfe\n", b"[1]\n", b"\n", b"[" * 100_000 + b"\n", b"x" * (LONGEST_LINE + 1) + b"\n"]
    server.stdin.write(b"".join([*sent, INITIALIZE.encode()]))
    server.stdin.flush()
    answers = [json.loads(server.stdout.readline()) for _ in range(6)]
    assert [one["error"]["code"] for one in answers[:5]] == [-32700] * 5
    assert f"longer than {LONGEST_LINE} bytes" in answers[4]["error"]["message"]
    assert answers[5]["result"]["serverInfo"]["name"] == "covey"
    out, err = server.communicate(timeout=TIME_LIMIT)
    assert (server.returncode, out, err) == (0, b"", b"")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_quietly(covey: Covey, number: signal.Signals, code: int) -> None:
    server = start(covey)
    assert server.stdin
    assert server.stdout
    server.stdin.write(INITIALIZE.encode())
    server.stdin.flush()
    server.stdout.readline()
    server.send_signal(number)
    assert server.wait(TIME_LIMIT) == code
    assert server.stderr
    assert server.stderr.read() == b""
    server.communicate()


def test_a_client_that_leaves_without_reading_is_no_error(covey: Covey) -> None:
    server = start(covey)
    assert server.stdin
    assert server.stdout
    server.stdout.close()
    with server.stdin as out:
        out.write(INITIALIZE.encode() + b"".join((PING % number).encode() for number in range(2, 50)))
    assert server.wait(TIME_LIMIT) == 0
    assert server.stderr
    assert server.stderr.read() == b""
    server.stderr.close()


def test_a_person_who_runs_it_is_told_what_it_is_for(covey: Covey) -> None:
    main, side = os.openpty()
    server = subprocess.Popen(
        [COMMAND, "mcp"],
        cwd=covey.folder,
        env=covey.environment(),
        stdin=side,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(side)
    assert server.stderr
    timer = threading.Timer(TIME_LIMIT, server.kill)
    timer.start()
    assert server.stderr.readline().endswith(b"claude mcp add covey -- covey mcp\n")
    server.terminate()
    assert server.wait(TIME_LIMIT) == 143
    timer.cancel()
    os.close(main)
    server.communicate()
