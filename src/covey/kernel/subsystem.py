"""A subsystem: a part of a daemon that stands on the kernel, and what the kernel gives to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.contract.kernel import with_status
from covey.contract.kernel_events import AUDIT_BEGUN, AUDIT_CALL, Lifecycle
from covey.kernel.config.settings import KERNEL, Settings
from covey.kernel.events.events import Events
from covey.kernel.operations import idempotency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from covey.contract import Operation
    from covey.contract.event_kind import EventKind
    from covey.kernel.clock import Clock
    from covey.kernel.config.config import ConfigHolder
    from covey.kernel.config.reload import ConfigReload
    from covey.kernel.config.setting import Setting
    from covey.kernel.doctor.doctor import Check, Examination
    from covey.kernel.doctor.finding import Finding
    from covey.kernel.http.exchange import Application
    from covey.kernel.metrics import Metrics
    from covey.kernel.operations.call import Guard, Handler, Scope
    from covey.kernel.operations.dispatcher import Dispatcher
    from covey.kernel.processes.supervisor import Supervisor
    from covey.kernel.seat import Seat
    from covey.kernel.store.migrations import Migration
    from covey.kernel.store.store import Store
    from covey.kernel.telemetry import Tracing


class Context(NamedTuple):
    """What a subsystem may use of its daemon."""

    seat: Seat
    config: ConfigHolder
    reload: ConfigReload
    store: Store
    events: Events
    clock: Clock
    metrics: Metrics
    supervisor: Supervisor
    dispatcher: Dispatcher
    """Performs operations of other subsystems."""
    tracing: Tracing


class Opened(NamedTuple):
    """What an open subsystem serves."""

    handlers: Mapping[str, Handler] = {}
    """By the name of the operation."""
    status: Callable[[], dict[str, Any]] | None = None
    """Its part of `covey status`."""
    mounts: Mapping[str, Application] = {}
    """ASGI applications by the prefix of their paths; each checks its callers itself."""
    guard: Guard | None = None
    """Raises AgentError for a call, of any operation that does not stream, that is not to be performed."""
    health: Callable[[], dict[str, Any]] | None = None
    """What it adds to the daemon's health."""
    scope: Callable[[str], Scope | None] | None = None
    """Returns what the bearer of a token may do; None for a token that this subsystem has not given out."""


def _no_checks(_: Examination) -> Sequence[Check]:
    return ()


def _no_findings(_: dict[str, Any]) -> Iterable[Finding]:
    return ()


class Subsystem(NamedTuple):
    """What a subsystem declares. `open` is entered before the first request and left after the last one."""

    name: str
    open: Callable[[Context], AbstractAsyncContextManager[Opened]]
    operations: Sequence[Operation] = ()
    migrations: Sequence[Migration] = ()
    events: Sequence[EventKind] = ()
    """The kinds of events that it appends."""
    settings: Sequence[Setting] = ()
    status: Mapping[str, Any] | None = None
    """The shape of its part of the status, if it has one."""
    health: Mapping[str, Any] = {}
    """The shapes of the fields that it adds to the daemon's health."""
    checks: Callable[[Examination], Sequence[Check]] = _no_checks
    """What `covey doctor` examines without a daemon."""
    findings: Callable[[dict[str, Any]], Iterable[Finding]] = _no_findings
    """What `covey doctor` reads out of this subsystem's part of the status."""


def operations_of(subsystems: Sequence[Subsystem]) -> list[Operation]:
    """Return the operations that a daemon with these subsystems serves: the kernel's first."""
    parts = {subsystem.name: subsystem.status for subsystem in subsystems if subsystem.status is not None}
    health = {name: schema for subsystem in subsystems for name, schema in subsystem.health.items()}
    return [*with_status(parts, health), *(operation for subsystem in subsystems for operation in subsystem.operations)]


def events_of(kind: str, subsystems: Sequence[Subsystem]) -> list[EventKind]:
    """Return the kinds of events of a daemon of this kind with these subsystems: the kernel's first."""
    return [
        *Lifecycle(kind).events,
        AUDIT_BEGUN,
        AUDIT_CALL,
        *(event for subsystem in subsystems for event in subsystem.events),
    ]


def settings_of(subsystems: Sequence[Subsystem]) -> Settings:
    """Return the settings of a daemon with these subsystems."""
    return Settings(KERNEL, *(subsystem.settings for subsystem in subsystems))


def migrations_of(subsystems: Sequence[Subsystem]) -> list[Migration]:
    """Return the migrations of a daemon's database, in the order in which they are applied."""
    return [
        *Events.MIGRATIONS,
        *idempotency.MIGRATIONS,
        *(script for subsystem in subsystems for script in subsystem.migrations),
    ]
