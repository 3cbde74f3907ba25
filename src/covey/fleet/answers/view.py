"""The answers of lists: rows filtered, ordered and rolled up. Pure: rows, targets and a moment in, dictionaries out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from covey.fleet.state.model import NEEDS_ACTION, RANK, STATES, WAITING, Confidence, State
from covey.kernel.clock import timestamp
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

SCHEMA_VERSION = "1"


class Evidence(Struct, frozen=True):
    """One source that supports a row's state."""

    source: str
    state: State
    evidence: str
    at: float

    def as_dict(self, now: float | None = None) -> dict[str, Any]:
        fields = {"source": self.source, "state": self.state, "evidence": self.evidence, "at": timestamp(self.at)}
        return fields if now is None else {**fields, "age_ms": age_ms(self.at, now)}


class Row(Struct, frozen=True, kw_only=True):
    """One agent in one pane, as lists show it.

    Times are seconds since 1970; answers have them as text and as an age.
    """

    target: str
    session_name: str
    window_id: str
    pane_id: str
    runtime_id: str
    agent: str
    state: State
    reason: str
    confidence: Confidence
    since: float
    as_of: float
    """When the state was last confirmed."""
    detail: str = ""
    cwd: str = ""
    pid: int | None = None
    window_name: str = ""
    window_index: int = 0
    pane_index: int = 0
    title: str = ""
    socket: str = ""
    """Which tmux server: pane ids are unique only within one."""
    version: str = ""
    """Of the agent; empty where it is not known."""
    version_note: str = ""
    """A caveat about that version, e.g. that it was never measured."""
    server: str = ""
    """The name of its socket where the target has several tmux servers, else nothing."""
    state_version: int = 0
    """How often its state has changed since the agent was first seen, also in earlier daemons."""
    evidence: tuple[Evidence, ...] = ()
    """What decided first, then what agrees."""

    @property
    def target_and_server(self) -> str:
        """`host`, or `host@work` where the target has several tmux servers."""
        return f"{self.target}@{self.server}" if self.server else self.target

    @property
    def ref(self) -> str:
        return f"pane:{self.target_and_server}/{self.session_name}/{self.window_id}/{self.pane_id}"

    @property
    def needs_action(self) -> bool:
        return self.state in NEEDS_ACTION

    def as_dict(self, now: float | None = None) -> dict[str, Any]:
        """Return the row for an answer at `now`; without it, for an event, which has no age."""
        fields = asdict(self)
        answer = {
            "identity": {name: fields.pop(name) for name in ("target", "session_name", "window_id", "pane_id")},
            "ref": self.ref,
            **fields,
            "since": timestamp(self.since),
            "as_of": timestamp(self.as_of),
            "needs_action": self.needs_action,
            "evidence": [evidence.as_dict(now) for evidence in self.evidence],
        }
        return answer if now is None else {**answer, "age_ms": age_ms(self.since, now)}


class TargetStatus(Struct, frozen=True, kw_only=True):
    """How well a machine where agents run can be reached."""

    target: str
    health: str = "ok"
    reason: str = ""
    sockets: tuple[str, ...] = ()
    """The sockets of the tmux servers that are watched."""
    node: str = ""
    """The Covey there, as far as it helps: `ok <version>` or `none`."""


def server_name(socket: str) -> str:
    """The name of a tmux server: that of its socket, as for `tmux -L`."""
    return socket.rpartition("/")[2]


def server_names(sockets: Iterable[str]) -> dict[str, str]:
    """Return a name for each tmux server, by its socket: the last part of the path, and those before it where needed.

    Servers of the same name in several folders are told apart as in `tmp.tmux-1000.default`.
    """
    parts = {socket: socket.strip("/").split("/") for socket in sockets}
    depth = 1
    while len({tuple(one[-depth:]) for one in parts.values()}) < len(parts) and any(
        depth < len(one) for one in parts.values()
    ):
        depth += 1
    alone = Counter(one[-1] for one in parts.values())
    return {socket: ".".join(one[-depth:]) if alone[one[-1]] > 1 else one[-1] for socket, one in parts.items()}


def with_servers(rows: Iterable[Row], targets: Iterable[TargetStatus]) -> list[Row]:
    """Rows that name their tmux server where their target has several."""
    several = {target.target: server_names(target.sockets) for target in targets if len(target.sockets) > 1}
    return [
        replace(row, server=several[row.target].get(row.socket, server_name(row.socket)))
        if row.target in several and row.socket
        else row
        for row in rows
    ]


class Filters(Struct, frozen=True, kw_only=True):
    """What is asked for; all of it must hold. Empty means any."""

    target: str = ""
    target_session: str = ""
    session: str = ""
    socket: str = ""
    """The path of a tmux server's socket, or its name."""
    cwd: str = ""
    """A folder: agents that work in it or below."""
    state: tuple[State, ...] = ()
    agent_type: tuple[str, ...] = ()
    needs_action: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any], targets: Iterable[TargetStatus]) -> Filters:
        """The filters among the parameters of an operation, checked against the targets that there are."""
        if params.get("target") and params.get("all_targets"):
            raise user_error(
                "--target and --all-targets exclude each other", "Pass one of them.", error="flag_error", field="target"
            )
        given = {name: params[name] for name in cls.__struct_fields__ if params.get(name)}
        filters = convert({**given, **({"state": states(given["state"])} if "state" in given else {})}, cls)
        if filters.target_session and not all(filters.target_session.partition("/")):
            raise user_error(
                f"{filters.target_session!r} is not a target and a session",
                "Write --target-session <target>/<session>.",
                field="target_session",
            )
        known = [target.target for target in targets]
        for field, name in (("target", filters.target), ("target_session", filters.target_session.partition("/")[0])):
            if name and name not in known:
                raise target_not_found(name, known, field)
        return filters

    def match(self, row: Row) -> bool:
        return (
            (not self.target or row.target == self.target)
            and (not self.target_session or f"{row.target}/{row.session_name}" == self.target_session)
            and (not self.session or row.session_name == self.session)
            and (not self.socket or self.socket in {row.socket, server_name(row.socket), row.server})
            and (not self.cwd or f"{row.cwd}/".startswith(f"{self.cwd.rstrip('/')}/"))
            and (not self.state or row.state in self.state)
            and (not self.agent_type or row.agent in self.agent_type)
            and (not self.needs_action or row.needs_action)
        )

    def covers(self, target: str) -> bool:
        """Whether rows of a target can match."""
        return target in {self.target or target} & {self.target_session.partition("/")[0] or target}


def states(values: Sequence[str]) -> tuple[State, ...]:
    """States as they were asked for: each value is one, or several with commas between. `AgentError` if one is none."""
    words = tuple(dict.fromkeys(word.strip() for value in values for word in value.split(",") if word.strip()))
    for word in words or values:  # nothing but blanks and commas names no state, and is not the same as asking for none
        if word not in STATES:
            raise user_error(
                f"{word[:60]!r} is not a state",
                f"States are {', '.join(STATES)}.",
                error="argument_error",
                field="state",
                valid_values=STATES,
            )
    return convert(words, tuple[State, ...])


def target_not_found(name: str, known: Iterable[str], field: str = "name") -> AgentError:
    return AgentError(
        f"there is no target {name!r}",
        code=5,
        error="target_not_found",
        suggestion="See `covey target list`, or add it with `covey target add`.",
        recoverable=True,
        valid_values=known,
        field=field,
    )


def age_ms(since: float, now: float) -> int:
    """How long ago, in milliseconds. A clock that was set back makes nothing younger than now."""
    return max(round((now - since) * 1000), 0)


def ordered(rows: Iterable[Row], sort: str = "needs") -> list[Row]:
    """Return rows in order.

    `needs`: agents that need a person first, the longest waiting at the top; then by precedence of the state, the
    latest change at the top.
    """

    def key(row: Row) -> tuple[Any, ...]:
        needs = (0, 0, row.since) if row.needs_action else (1, RANK[row.state], -row.since)
        place = (row.target, row.socket, row.session_name, row.window_index, row.pane_index)
        first = {
            "needs": needs,
            "age": (row.since,),
            "where": place,
            "agent": (row.agent, *needs),
            "folder": (row.cwd, *needs),
        }[sort]
        return (*first, row.ref, row.runtime_id)

    return sorted(rows, key=key)


def summary(rows: Sequence[Row], targets: Iterable[str] = ()) -> dict[str, Any]:
    """Counts of agents; every state and every target that was asked is there, also with none."""
    states, agents = Counter(row.state for row in rows), Counter(row.agent for row in rows)
    places = Counter(row.target for row in rows)
    return {
        "total": len(rows),
        "needs_action": sum(row.needs_action for row in rows),
        "by_state": {state: states[state] for state in STATES},
        "by_agent": dict(sorted(agents.items())),
        "by_target": {name: places[name] for name in sorted({*targets, *places})},
    }


def panes(
    rows: Iterable[Row], targets: Iterable[TargetStatus], filters: Filters, now: float, *, sort: str = "needs"
) -> dict[str, Any]:
    """One item for each agent."""
    return _answer(rows, targets, filters, now, lambda found: [row.as_dict(now) for row in ordered(found, sort)])


def windows(
    rows: Iterable[Row],
    targets: Iterable[TargetStatus],
    filters: Filters,
    now: float,
    *,
    with_agent_status: bool = False,
) -> dict[str, Any]:
    """One item for each window with an agent: its top state, how many wait and how many run."""

    def item(key: tuple[str, ...], members: list[Row]) -> dict[str, Any]:
        target, socket, session_name, window_id = key
        first = members[0]
        return {
            "identity": {"target": target, "session_name": session_name, "window_id": window_id},
            "socket": socket,
            "window_name": first.window_name,
            "window_index": first.window_index,
            **_rollup(members, now),
            **({"agents": [_brief(row, now) for row in members]} if with_agent_status else {}),
        }

    def items(found: list[Row]) -> list[dict[str, Any]]:
        return [
            item(*group)
            for group in _groups(found, lambda row: (row.target, row.socket, row.session_name, row.window_id))
        ]

    return _answer(rows, targets, filters, now, items)


def sessions(
    rows: Iterable[Row],
    targets: Iterable[TargetStatus],
    filters: Filters,
    now: float,
    *,
    group_by: str = "target-session",
    agent_summary: bool = False,
) -> dict[str, Any]:
    """One item for each session with an agent; `session-name` merges sessions of the same name on different targets."""
    merged = group_by == "session-name"

    def item(key: tuple[str, ...], members: list[Row]) -> dict[str, Any]:
        places = [
            {"target": place, **_rollup(part, now)}
            for (place,), part in sorted(_groups(members, lambda row: (row.target,)), key=lambda one: one[0])
        ]
        kinds = sorted(_groups(members, lambda row: (row.agent,)), key=lambda one: one[0])
        return {
            "identity": {"target": None if merged else key[0], "session_name": key[-1]},
            "socket": None if merged else key[1],
            **_rollup(members, now),
            "targets": places,
            **(
                {"agents": [{"agent": agent, **_rollup(part, now)} for (agent,), part in kinds]}
                if agent_summary
                else {}
            ),
        }

    def items(found: list[Row]) -> list[dict[str, Any]]:
        groups = _groups(
            found, lambda row: (row.session_name,) if merged else (row.target, row.socket, row.session_name)
        )
        return [item(*group) for group in groups]

    return {**_answer(rows, targets, filters, now, items), "group_by": group_by}


def _answer(
    rows: Iterable[Row],
    targets: Iterable[TargetStatus],
    filters: Filters,
    now: float,
    items: Callable[[list[Row]], list[dict[str, Any]]],
) -> dict[str, Any]:
    found = [row for row in rows if filters.match(row)]
    asked = [target for target in targets if filters.covers(target.target)]
    return {
        "schema_version": SCHEMA_VERSION,
        "generated_at": timestamp(now),
        "filters": asdict(filters),
        "summary": summary(found, [target.target for target in asked]),
        "targets": [asdict(target) for target in asked],
        "items": items(found),
    }


def _groups(rows: Iterable[Row], key: Callable[[Row], tuple[str, ...]]) -> list[tuple[tuple[str, ...], list[Row]]]:
    """Rows by key, each group ordered, and the groups in the order of their first rows."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in ordered(rows):
        groups.setdefault(key(row), []).append(row)
    return list(groups.items())


def _rollup(rows: Sequence[Row], now: float) -> dict[str, Any]:
    """Counts of a group, and how long its top state has stood."""
    states = Counter(row.state for row in rows)
    top = min(states, key=RANK.__getitem__)
    return {
        "top_state": top,
        "age_ms": max(age_ms(row.since, now) for row in rows if row.state == top),
        "needs_action": any(row.needs_action for row in rows),
        "total": len(rows),
        "waiting": sum(row.state in WAITING for row in rows),
        "running": states["running"],
        "by_state": {state: states[state] for state in STATES},
    }


def _brief(row: Row, now: float) -> dict[str, Any]:
    names = ("pane_id", "runtime_id", "agent", "state", "reason", "confidence", "detail")
    return {**{name: getattr(row, name) for name in names}, "ref": row.ref, "age_ms": age_ms(row.since, now)}
