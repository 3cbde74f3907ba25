"""What an agent that needs a person asks for: each question once, under a name that finds the agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from covey.fleet.answers.references import resolve
from covey.fleet.answers.view import Row, server_name
from covey.fleet.state.attention import Settling, asked
from covey.fleet.state.engine import Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import Claim, State
from covey.fleet.state.saved_agents import SavedAgent
from covey.fleet.state.states import RuntimeView, StateEvent, States
from covey.fleet.watch.runtimes import Runtime
from tests.covey.fleet.fleets import NOW
from tests.covey.tmux.test_changes import PANE

RUNTIME = Runtime(
    runtime_id="0123456789abcdef",
    target="host",
    socket="/tmp/tmux-1/one",
    window_id="@0",
    pane_id="%0",
    pane_epoch="",
    agent="claude",
    pid=1,
    process_started=1,
    started_at=NOW,
)


class Agent:
    """The states of one agent, whose screen and place a test sets.

    `questions` are the events for the attention queue.
    """

    def __init__(self) -> None:
        self.questions: list[tuple[str, dict[str, Any]]] = []
        self.several_servers = False
        self.pane = replace(PANE, session_name="api")
        self.now = NOW
        self.states = self.made()
        self.append(self.states.start(RUNTIME.runtime_id, self.view, self.now))

    def made(self) -> States:
        return States(Rules(settle=0.0), self._with_server)

    @property
    def view(self) -> RuntimeView:
        return RuntimeView(RUNTIME, self.pane, None)

    def append(self, events: Iterable[StateEvent]) -> None:
        """Keep the questions among the events of a step."""
        self.questions += [(event.kind, event.data) for event in events if event.kind.startswith("attention.")]

    def shows(self, state: State, detail: str = "") -> None:
        self.now += 1
        claim = Claim(source="screen", state=state, at=self.now, level=True, strength=100, detail=detail)
        key = str(self.now)
        signal = Signal(
            runtime_id=RUNTIME.runtime_id,
            source="screen",
            dedupe_key=key,
            event_id=key,
            event_time=self.now,
            ingested_at=self.now,
            claim=claim,
        )
        events = self.states.apply(signal, self.view)
        assert events
        self.append(events)

    @property
    def titles(self) -> list[tuple[str, bool]]:
        """The title of each question, and whether it counts."""
        return [
            (data["title"], "same_question" not in data) for kind, data in self.questions if kind == "attention.asked"
        ]

    def _with_server(self, row: Row) -> Row:
        return replace(row, server=server_name(row.socket)) if self.several_servers else row


ASKS = "claude host/api:0.0 asks for approval"


def test_a_command_that_comes_later_or_is_lost_is_the_same_question() -> None:
    agent = Agent()
    agent.shows("waiting_approval")
    agent.shows("waiting_approval", "make")
    agent.shows("waiting_approval")
    agent.shows("waiting_approval", "make")
    assert agent.titles == [(ASKS, True), (f"{ASKS}: make", False)]


def test_a_command_that_one_source_cuts_off_or_wraps_is_the_same_question() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "Bash: rm -rf build/ && ma…")
    agent.shows("waiting_approval", "Bash: rm -rf build/ &&  make dist")
    agent.shows("waiting_approval", "Bash: rm -rf build/ && ma…")
    assert agent.titles == [
        (f"{ASKS}: Bash: rm -rf build/ && ma…", True),
        (f"{ASKS}: Bash: rm -rf build/ &&  make dist", False),
    ]


def test_an_excerpt_of_a_held_request_is_the_same_question_as_its_beginning() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "Bash: make dist && ma…")
    agent.shows("waiting_approval", "Bash: make ⏎ dist && make install… (1,200 more characters: covey approvals)")
    assert [counts for _, counts in agent.titles] == [True, False]


def test_a_request_that_is_held_is_the_question_with_the_commands_that_settle_it() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "Bash: m\u0430ke \u202e")
    assert agent.titles == [(rf"{ASKS}: Bash: m\u0430ke \u202e", True)]
    held = Settling(("covey approve ABC123",), "Bash: make • sudo: true", "Bash: make… (13 more characters)")
    agent.append(agent.states.name_settling(RUNTIME.runtime_id, held, agent.now))
    assert agent.titles[1:] == [(f"{ASKS}: {held.title}", False)]
    detail = agent.questions[-1][1]["detail"].splitlines()
    assert (detail[0], detail[-1]) == (held.what, "covey approve ABC123")


def test_another_command_another_state_and_a_second_wait_are_new_questions() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "make")
    agent.shows("waiting_approval")
    agent.shows("waiting_approval", "ninja install")
    agent.shows("waiting_input")
    agent.shows("running")
    agent.shows("waiting_input")
    has = "claude host/api:0.0 has a question"
    assert agent.titles == [(f"{ASKS}: make", True), (f"{ASKS}: ninja install", True), (has, True), (has, True)]
    assert [kind for kind, _ in agent.questions][-2:] == ["attention.settled", "attention.asked"]


def test_a_question_names_the_place_to_which_its_agent_was_moved() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "make")
    agent.pane = replace(agent.pane, session_name="other", window_id="@7", window_index=3)
    agent.append(agent.states.refresh(RUNTIME.runtime_id, agent.view, agent.now))
    agent.append(agent.states.refresh(RUNTIME.runtime_id, agent.view, agent.now))
    assert agent.titles == [(f"{ASKS}: make", True), ("claude host/other:3.0 asks for approval: make", False)]
    assert agent.questions[-1][1]["ref"] == agent.states.rows[RUNTIME.runtime_id].ref


def test_a_question_names_the_tmux_server_as_soon_as_there_are_several() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "make")
    agent.append(agent.states.update_questions(agent.now))
    agent.several_servers = True
    agent.append(agent.states.update_questions(agent.now))
    assert agent.titles == [(f"{ASKS}: make", True), ("claude host@one/api:0.0 asks for approval: make", False)]
    assert agent.questions[-1][1]["ref"] == "pane:host@one/api/@0/%0"


def test_the_command_of_a_question_finds_the_agent_among_panes_of_the_same_name() -> None:
    agent = Agent()
    row = agent.states.rows[RUNTIME.runtime_id]
    other = replace(row, runtime_id="fedcba9876543210", socket="/tmp/tmux-1/two")
    agent.shows("waiting_approval", "make")
    command = asked(agent.states.rows[RUNTIME.runtime_id])["detail"].splitlines()[-1]
    assert resolve(command.removeprefix("covey why "), [row, other]) == row


def test_a_restart_asks_nothing_again() -> None:
    agent = Agent()
    agent.shows("waiting_approval", "make")
    saved = SavedAgent(
        runtime=RUNTIME,
        row=agent.states.rows[RUNTIME.runtime_id],
        claims=tuple(agent.states.claims(RUNTIME.runtime_id)),
        asked=True,
    )
    agent.append(agent.made().resume(saved, agent.view, agent.now))
    assert agent.titles == [(f"{ASKS}: make", True)]
