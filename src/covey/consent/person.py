"""Whether a person is behind a process. What cannot be known is no person: then the call is refused, with what to do.

A person has a terminal that a program for people has made: a terminal emulator, an ssh server, a console. A pane of
tmux can be made and typed into by every program, so there a key must have been typed a moment ago, at a client that
shows the pane and that is itself at a person's terminal. No agent may be among the ancestors of any of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.consent.agents_above import agent_above, first_agent
from covey.consent.lineage import EMULATORS, SSH_SERVERS, TMUX, ancestors, is_console, is_older, lineage_of, program_of
from covey.consent.tmux_keys import TYPED_S, typists
from covey.hosts.errors import ProcessesError
from covey.hosts.processes import ProcessTable
from covey.kernel.processes.process import environment_of
from murli import EXIT_CONFLICT, AgentError

if TYPE_CHECKING:
    from collections.abc import Collection

    from covey.consent.lineage import Lineage, Terminal

AGENTS_CANNOT_APPROVE = "agents_cannot_approve"
PERSON_NEEDED = "person_needed"
JUDGED_BY = "COVEY_JUDGED_BY"
"""Set by a Covey on another machine for a command over ssh, after it has found a person behind its own caller."""
MOST_CLIENTS = 4
"""How many clients of tmux inside each other are looked at."""
SETTING = "consent.terminals"


class Objection(NamedTuple):
    """Why a process is not taken for a person's, and what to do."""

    error: str
    reason: str
    suggestion: str

    def refusal(self, what: str) -> AgentError:
        """Return the error for a call. `what` is what only a person may do."""
        return AgentError(
            f"{what} is for a person to decide, and {self.reason}",
            code=EXIT_CONFLICT,
            error=self.error,
            suggestion=self.suggestion,
            recoverable=True,
        )


def from_agent(agent: str) -> Objection:
    """Return the objection to a call that comes from an agent, or from what an agent has started."""
    return Objection(
        AGENTS_CANNOT_APPROVE,
        f"this call comes from {agent}",
        "Ask the person to do it, in a terminal of their own that no agent has started.",
    )


def unknown(reason: str, suggestion: str) -> Objection:
    """Return the objection to a call behind which no person can be seen."""
    return Objection(PERSON_NEEDED, reason, suggestion)


AT_A_TERMINAL = "Type the command at a terminal of your own; over ssh, with ssh -t."


def objection_to(pid: int, terminals: Collection[str] = (), *, witness: int = 0) -> Objection | None:
    """Return why a process is not taken for a person's; None if a person is behind it.

    `terminals` are programs whose terminals are a person's, beside the known ones. `witness` is a process that has seen
    all agents since it was started: what is older than it and than the agents that run was made by none of them. It
    reads all processes and may ask a tmux server: call it in a thread.
    """
    try:
        table = ProcessTable.read()
    except (ProcessesError, OSError) as error:
        return unknown(f"the processes of this machine cannot be read: {error}", AT_A_TERMINAL)
    return _objection(pid, table, EMULATORS | set(terminals), MOST_CLIENTS, witness)


def _objection(
    pid: int, table: ProcessTable, emulators: Collection[str], clients: int, witness: int
) -> Objection | None:
    lineage = lineage_of(pid, table)
    if agent := agent_above(lineage, table):
        return from_agent(agent)
    if not lineage.terminals:
        if _is_judged_elsewhere(pid, lineage, table):
            return None
        return unknown("the program that asks has no terminal, so no person is seen behind it", AT_A_TERMINAL)
    if lineage.terminals[0].leader not in ancestors(pid, table):
        return unknown("the program that asks was left behind in its terminal by what has started it", AT_A_TERMINAL)
    return _objection_to_terminals(lineage, table, emulators, clients, witness)


def _objection_to_terminals(
    lineage: Lineage, table: ProcessTable, emulators: Collection[str], clients: int, witness: int
) -> Objection | None:
    """Return why no terminal of a process is a person's; None if one is."""
    for terminal in lineage.terminals:
        maker = program_of(terminal.maker, table)
        if terminal.maker <= 0 or maker in emulators or is_console(terminal.leader):
            return None
        if maker == TMUX:
            return _objection_in_tmux(terminal, table, emulators, clients, witness)
    return None if _is_older_than_agents(lineage, table, witness) else _unknown_terminal(lineage, table)


def _is_older_than_agents(lineage: Lineage, table: ProcessTable, witness: int) -> bool:
    """Return whether what has made the terminal began before all agents, those that the witness has seen end too."""
    seen, first = table.get(witness), first_agent(table)
    if seen is None:
        return False
    return is_older(lineage, table, seen.started if first is None else min(first, seen.started))


def _objection_in_tmux(
    terminal: Terminal, table: ProcessTable, emulators: Collection[str], clients: int, witness: int
) -> Objection | None:
    for typist in typists(terminal.leader, terminal.maker, table) if clients else ():
        if _objection(typist.client, table, emulators, clients - 1, witness) is None:
            return None
    return unknown(
        f"nobody has typed into this tmux pane in the last {TYPED_S:g} s, at a terminal that shows it",
        "Type the command into a pane that is active on your screen, or at a terminal outside of tmux. A popup, "
        "run-shell and the command of a new window are not typed into: open a window with a shell instead.",
    )


def _unknown_terminal(lineage: Lineage, table: ProcessTable) -> Objection:
    maker = program_of(lineage.terminals[-1].maker, table)
    made_by = f"was made by {maker}, which is not known as a program for people" if maker else "has lost its program"
    name = maker or "<program>"
    return unknown(
        f"the terminal of this call {made_by}",
        f'Type the command at another terminal. If {name} is your terminal, write {SETTING} = ["{name}"] into '
        "config.toml with an editor.",
    )


def _is_judged_elsewhere(pid: int, lineage: Lineage, table: ProcessTable) -> bool:
    """Return whether the Covey of another machine asks, over ssh, for a person whom it has seen."""
    return JUDGED_BY in environment_of(pid) and any(
        program_of(above, table) in SSH_SERVERS for above in lineage.line[1:]
    )
