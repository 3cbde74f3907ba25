"""What a person decides by a call: every operation and every setting says whether it is a decision."""

from __future__ import annotations

import pytest

from covey.consent.decision import decision_in
from covey.contract import OPERATIONS, Operation
from covey.kernel.config.settings import Settings
from covey.mesh.peer.settings import SETTINGS as PEER
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS

BY_NAME = {operation.name: operation for operation in OPERATIONS}
ALL = Settings(*(subsystem.settings for subsystem in SUBSYSTEMS), PEER)
DECISIVE = {
    *("attention.channel", "attention.notify", "beats.day_usd", "beats.month_usd", "beats.workspace", "bridge.allow"),
    *("fleet.sockets", "fleet.ssh_config", "hooks.enabled", "hooks.max_hops", "hooks.sandbox", "keeper.adapter"),
    *("keeper.approve_from", "keeper.ask_on", "keeper.prompt", "keeper.runtime_dir", "keeper.tmux_socket", "mcp.act"),
    *("keeper.guard", "mcp.http", "mcp.tools", "policy.rule"),
}


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.mutating], ids=lambda one: one.name)
def test_what_changes_something_is_consent_or_says_why_not(operation: Operation) -> None:
    assert operation.consent != bool(operation.no_consent), "set `consent`, or say in `no_consent` why it is none"


def test_what_changes_nothing_is_no_consent() -> None:
    assert [one.name for one in OPERATIONS if not one.mutating and (one.consent or one.no_consent)] == []


def test_settings_that_permit_widen_or_redirect_are_marked() -> None:
    """A setting cannot be declared without the mark; this list is for who reviews a change of one."""
    assert {setting.key for setting in ALL if setting.consent} == DECISIVE
    own = {"consent.from_programs", "consent.terminals", "http.tcp", "telemetry.otlp_endpoint"}
    assert {one.key for one in SETTINGS if one.consent} - DECISIVE == own


@pytest.mark.parametrize(
    ("name", "params", "what"),
    [
        ("away", {}, "covey away"),
        ("target.add", {"name": "x"}, "covey target add"),
        ("beats.add", {"path": "."}, "covey beats add"),
        ("config.set", {"key": "keeper.approve_from", "value": "x"}, "the setting keeper.approve_from"),
        ("config.unset", {"key": "attention.notify"}, "the setting attention.notify"),
        ("config.set", {"key": "log.level", "value": "debug"}, ""),
        ("config.set", {"key": "no.such", "value": "debug"}, ""),
        ("keep.start", {"name": "x", "keep": True, "args": [], "env": None}, ""),
        ("keep.start", {"name": "x", "args": ["--dangerously-skip-permissions"]}, "covey keep start with args"),
        ("keep.start", {"name": "x", "permission_mode": "bypassPermissions"}, "covey keep start --permission-mode"),
        ("keep.start", {"name": "x", "env": ["A=1"]}, "covey keep start --env"),
        ("integrate", {"agent": "claude", "remove": False}, ""),
        ("integrate", {"agent": "claude", "remove": True}, "covey integrate --remove"),
        ("mesh.skill.install", {"skill": "x", "check_only": True}, ""),
        ("mesh.file.get", {"id": "x", "force": True}, "covey mesh file get --force"),
        ("send", {"ref": "x", "text": "y", "as_command": False}, ""),
        ("send", {"ref": "x", "text": "/clear", "as_command": True}, "covey send --as-command"),
    ],
)
def test_a_call_is_a_decision_by_its_operation_a_parameter_or_its_setting(
    name: str, params: dict[str, object], what: str
) -> None:
    assert decision_in(BY_NAME[name], params, SETTINGS) == what
