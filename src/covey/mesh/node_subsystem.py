"""The mesh in the node: a process for each mesh that was joined, the broker if this home has one, and the doctor."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from covey.contract.mesh import NODE_OPERATIONS
from covey.contract.mesh_shapes import KIND, MESH_STATUS
from covey.kernel.doctor.doctor import Check
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.home import Home
from covey.kernel.quoting import quoted
from covey.kernel.subsystem import Opened, Subsystem
from covey.kernel.tasks import Tasks
from covey.mesh.broker_health import BrokerHealth
from covey.mesh.broker_process import BrokerProcess, has_broker
from covey.mesh.joined import joined, open_to_others
from covey.mesh.node_operations import NodeOperations
from covey.mesh.peer_processes import PeerProcesses
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from covey.kernel.doctor.doctor import Examination
    from covey.kernel.subsystem import Context


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Keep the peers and the broker running. They are left running when the node ends."""
    home = Home(context.seat.home)
    peers = PeerProcesses(home, context.supervisor, context.clock)
    broker = BrokerProcess(home, context.supervisor, context.clock)
    async with Tasks(context.clock, context.metrics) as tasks:
        tasks.spawn("start of the broker", broker.keep_if_there())
        tasks.keep("health of the broker", BrokerHealth(home, broker, context.clock).run)
        peers.keep_all()

        def status() -> dict[str, Any]:
            found = joined(home)
            kept = [child for one in found if (child := peers.child(one.slug)) is not None]
            return {
                "joined": len(found),
                "running": sum(child.state == "running" for child in kept),
                "broker": _broker_state(home, broker),
                "problems": [
                    *(f"{one.slug}: {one.problem}" for one in found if one.problem),
                    *(f"{child.name}: {child.state}" for child in kept if child.state in ("held down", "cannot start")),
                    *([f"broker: {broker.problem}"] if broker.problem else []),
                ],
            }

        yield Opened(NodeOperations(home, peers, broker, tasks).handlers(), status=status)


def _broker_state(home: Home, broker: BrokerProcess) -> str | None:
    child = broker.child
    if child is not None:
        return child.state
    return "not running" if has_broker(home) else None


def checks(examination: Examination) -> Sequence[Check]:
    """Return what the doctor examines without a daemon."""
    home = Home(examination.seat.home)
    return [Check("mesh", "nats-server", lambda: _program(home)), Check("mesh", "meshes", lambda: _meshes(home))]


def _program(home: Home) -> Finding:
    """Whether there is a NATS server that the broker can be. Only a home with a broker needs one."""
    from covey.mesh.broker.program import nats_server, version_of  # noqa: PLC0415 - only the doctor pays for it

    try:
        path = nats_server()
        version = ".".join(map(str, version_of(path)))
    except AgentError as error:
        status = FAIL if has_broker(home) else OK
        detail = error.message if has_broker(home) else "not installed"
        return Finding("mesh", "nats-server", status, detail, error.suggestion if has_broker(home) else "")
    return Finding("mesh", "nats-server", OK, version)


def _meshes(home: Home) -> Iterable[Finding]:
    """Whether the files of each mesh can be read, and by nobody else."""
    found = joined(home)
    if not found:
        return [Finding("mesh", "meshes", OK, "none joined")]
    return [_mesh(home, one.slug, one.problem) for one in found]


def _mesh(home: Home, slug: str, problem: str) -> Finding:
    seat = home.seat(KIND, slug)
    try:
        seat.check()
    except AgentError as error:
        return Finding("mesh", slug, FAIL, error.message, error.suggestion.partition(": ")[2])
    if problem:
        return Finding("mesh", slug, FAIL, problem, f"ls -l {quoted(seat.directory)}")
    loose = open_to_others(seat)
    if loose:
        names = " ".join(quoted(path) for path in loose)
        return Finding("mesh", slug, FAIL, "its keys are open to other users", f"chmod 600 {names}")
    return Finding("mesh", slug, OK, "private")


def findings(part: dict[str, Any]) -> Iterator[Finding]:
    """Yield what the node says is broken."""
    for problem in part["problems"]:
        name = problem.partition(":")[0]
        yield Finding("mesh", name, WARN, problem, "covey mesh ps")


MESH = Subsystem("mesh", opened, operations=NODE_OPERATIONS, status=MESH_STATUS, checks=checks, findings=findings)
