"""What claims of tasks and leases have in common: who has one, for how long, and how a caller waits for one."""

from __future__ import annotations

from covey.contract.mesh_messages import LONGEST_WAIT_S
from covey.contract.operation import Parameter, shape

HOLDER = shape("MeshHolder", member="string", name="string", agent="string", label="string", yours="boolean")
"""Who has something: a member, or an agent of it. `label` is `name` or `name/agent`; `yours`: it is this member."""
AS_AGENT = Parameter(
    "as_agent",
    "The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node sees it.",
    content="text",
)
TTL_HELP = "How long it is yours unless it is renewed, such as 10m, at most 7d."
WAIT = Parameter(
    "wait",
    f"Wait so long for one, such as 5m. One call waits at most {LONGEST_WAIT_S} s; the command line goes on asking.",
    default="0s",
)


def ttl(default: str) -> Parameter:
    """Return the parameter for how long a claim or lease lasts."""
    return Parameter("ttl", TTL_HELP, default=default)
