"""The operations about targets: the machines whose agents are observed."""

from __future__ import annotations

from covey.contract.fleet_shapes import KNOWN_TARGET
from covey.contract.operation import Operation, Parameter, array, shape

TARGET_NAME = Parameter("name", "Name of the target.", required=True, positional=True)

TARGETS = (
    Operation(
        "target.add",
        "Add a host whose agents are to be observed.",
        cli=["target", "add"],
        method="POST",
        route="/v1/targets",
        description="Only the alias for ssh is stored; keys, users and ports stay in your ssh configuration.",
        parameters=[
            TARGET_NAME,
            Parameter("kind", "This machine, or one reached by ssh.", required=True, enum=["local", "ssh"]),
            Parameter(
                "ssh_target",
                "Host or alias as you would give it to ssh; the name of the target if left out.",
                content="id",
            ),
        ],
        result=KNOWN_TARGET,
        mutating=True,
        guard=False,
        mcp=False,
        consent=True,
    ),
    Operation(
        "target.connect",
        "Connect to a target now, and report the result.",
        cli=["target", "connect"],
        method="POST",
        route="/v1/targets/{name}/connect",
        parameters=[TARGET_NAME],
        result=KNOWN_TARGET,
        mutating=True,
        idempotent=True,
        guard=False,
        mcp=False,
        no_consent="the host was added before",
    ),
    Operation(
        "target.list",
        "List the targets and how well each can be reached.",
        cli=["target", "list"],
        route="/v1/targets",
        result=shape("TargetList", items=array(KNOWN_TARGET)),
        idempotent=True,
    ),
    Operation(
        "target.remove",
        "Forget a target. Its agents keep running.",
        cli=["target", "remove"],
        method="DELETE",
        route="/v1/targets/{name}",
        parameters=[TARGET_NAME],
        result=shape("RemovedTarget", target="string", removed="boolean"),
        mutating=True,
        destructive=True,
        mcp=False,
        no_consent="nothing is done there any more",
    ),
    Operation(
        "signals",
        "Stream the signals of the agents here to another Covey.",
        cli=["signals"],
        route="/v1/signals",
        description="Run by a Covey that observes this machine over ssh; one JSON object per line. First hello, then "
        "the signals of hooks and files since a cursor (heard), where that is not enough all present claims "
        "(standing), then signals as they come, and at least every 5 seconds a line (pulse).",
        parameters=[
            Parameter("since", "Begin after this cursor.", type="int", minimum=0, maximum=2**53),
            Parameter("life", "The `life` of the hello line that the cursor belongs to."),
        ],
        result=shape("SignalMessage", event="string"),
        streaming=True,
        media="text/event-stream",
        idempotent=True,
        mcp=False,
    ),
)
