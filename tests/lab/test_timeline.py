"""The derived truth, on facts written by hand: no agent is needed to know what they mean."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lab.timeline import PATIENCE, SETTLE, UNDECIDED, Span, at, derive
from lab.truth import Fact

END = 60.0
Entry = tuple[float, str, dict[str, object]] | tuple[float, str]


def facts(*entries: Entry) -> list[Fact]:
    return [Fact(entry[0], "c", entry[1], entry[2] if len(entry) > 2 else {}) for entry in entries]


def request(
    at: float, number: int, prompt: str = "go", calls: int = 0, *, sub: bool = False
) -> tuple[float, str, dict[str, object]]:
    return at, "request", {"request": number, "prompt": prompt, "calls": calls, "sub": sub}


def of(kind: str, at: float, number: int, **data: object) -> tuple[float, str, dict[str, object]]:
    return at, kind, {"request": number, **data}


START: list[Entry] = [(0.0, "started"), (1.0, "ready")]
ASKED: list[Entry] = [*START, (5.0, "submitted"), request(5.1, 1)]


def states(spans: list[Span]) -> list[tuple[float, str]]:
    return [(round(span.start, 3), span.state) for span in spans]


def test_a_starting_agent_is_undecided_until_it_is_ready() -> None:
    assert states(derive(facts(*START), END)) == [(0.0, UNDECIDED), (1.0, "idle")]


def test_a_turn_runs_from_its_request_to_a_moment_after_its_answer() -> None:
    spans = derive(facts(*ASKED, of("answered", 9.0, 1)), END)
    assert states(spans)[2:] == [(5.0, UNDECIDED), (5.1, "running"), (9.0, UNDECIDED), (9.0 + SETTLE, "idle")]


def test_a_prompt_that_is_never_sent_to_the_model_decides_nothing_for_a_while_only() -> None:
    spans = derive(facts(*START, (5.0, "submitted")), END)
    assert states(spans)[2:] == [(5.0, UNDECIDED), (5.0 + PATIENCE, "idle")]


def test_a_tool_that_just_runs_keeps_the_agent_running() -> None:
    spans = derive(facts(*ASKED, of("call", 6.0, 1, waits=""), request(9.0, 2, calls=1), of("answered", 10.0, 2)), END)
    assert at(spans, 7.5) == "running"
    assert states(spans)[-1] == (10.0 + SETTLE, "idle")


def test_an_approval_waits_from_the_dialog_to_the_answer() -> None:
    spans = derive(
        facts(
            *ASKED,
            of("call", 6.0, 1, waits="waiting_approval"),
            (6.4, "dialog", {"state": "waiting_approval"}),
            (9.0, "approved"),
            request(12.0, 2, calls=1),
        ),
        END,
    )
    assert states(spans)[3:] == [
        (5.1, "running"),
        (6.0, UNDECIDED),
        (6.4, "waiting_approval"),
        (9.0, UNDECIDED),
        (9.0 + SETTLE, "running"),
    ]


def test_a_denial_leaves_the_agent_idle_unless_it_asks_the_model_again() -> None:
    waiting: list[Entry] = [
        *ASKED,
        of("call", 6.0, 1, waits="waiting_approval"),
        (6.4, "dialog", {"state": "waiting_approval"}),
        (9.0, "denied"),
    ]
    assert at(derive(facts(*waiting), END), 10) == "idle"
    assert at(derive(facts(*waiting, request(9.1, 2, calls=1)), END), 10) == "running"


def test_an_interruption_is_true_once_the_agent_hangs_up_and_no_longer_computes() -> None:
    interrupted: list[Entry] = [*ASKED, (8.0, "interrupted"), of("disconnected", 8.2, 1)]
    spans = derive(facts(*interrupted), END)
    assert at(spans, 8.1) == UNDECIDED
    assert at(spans, 8.2 + SETTLE + 0.01) == "idle"
    spans = derive(facts(*interrupted, (9.5, "rested")), END)
    assert (at(spans, 9.4), at(spans, 9.6)) == (UNDECIDED, "idle")


def test_a_failure_that_is_tried_again_is_work_and_one_that_is_not_is_an_error() -> None:
    failing: list[Entry] = [*ASKED, of("failed", 6.0, 1, status=529)]
    assert at(derive(facts(*failing, request(9.0, 2)), END), 8) == "running"
    assert at(derive(facts(*failing), END), 8) == "error"
    assert at(derive(facts(*failing, (20.0, "submitted"), request(20.1, 2)), END), 8) == "error", (
        "a new prompt is no retry"
    )


def test_an_error_is_over_with_the_next_prompt() -> None:
    spans = derive(
        facts(*ASKED, of("failed", 6.0, 1), (20.0, "submitted"), request(20.1, 2, "again"), of("answered", 21.0, 2)),
        END,
    )
    assert at(spans, 30) == "idle"


def test_a_helper_agent_keeps_its_parent_running_until_the_parent_takes_up_the_report() -> None:
    spans = derive(
        facts(
            *ASKED,
            of("call", 6.0, 1, waits=""),
            request(6.2, 2, "look", sub=True),
            request(6.3, 3, "go", 1),
            of("answered", 7.0, 3),
            of("answered", 10.0, 2),
            request(11.0, 4, "go", 1),
            of("answered", 12.0, 4),
        ),
        END,
    )
    assert {at(spans, moment) for moment in (6.5, 8.0, 10.5, 11.5)} == {"running"}
    assert at(spans, 13) == "idle"


def test_a_queued_prompt_leaves_no_rest_worth_an_opinion_between_two_turns() -> None:
    spans = derive(facts(*ASKED, (6.0, "submitted"), of("answered", 9.0, 1), request(9.45, 2, "next")), END)
    assert "idle" not in {span.state for span in spans if span.start > 5}


def test_a_prompt_that_rides_along_with_a_tool_result_takes_the_first_one_over() -> None:
    spans = derive(
        facts(
            *ASKED, of("call", 6.0, 1, waits=""), (7.0, "submitted"), request(8.0, 2, "next"), of("answered", 9.0, 2)
        ),
        END,
    )
    assert at(spans, 10) == "idle"


def test_an_answer_that_ends_after_an_interruption_changes_nothing() -> None:
    spans = derive(facts(*ASKED, (8.0, "interrupted"), of("answered", 8.1, 1)), END)
    assert at(spans, 9) == "idle"


def test_a_killed_agent_is_gone_at_once_and_one_that_quits_when_its_process_ends() -> None:
    assert states(derive(facts(*ASKED, (8.0, "killed"), (8.05, "gone")), END))[-1] == (8.0, "gone")
    assert states(derive(facts(*START, (8.0, "quit"), (8.4, "gone")), END))[-2:] == [(8.0, UNDECIDED), (8.4, "gone")]


def test_a_trust_dialog_waits_before_the_agent_is_ready() -> None:
    spans = derive(
        facts((0.0, "started"), (1.0, "dialog", {"state": "waiting_approval"}), (4.0, "approved"), (5.0, "ready")), END
    )
    assert states(spans) == [(0.0, UNDECIDED), (1.0, "waiting_approval"), (4.0, UNDECIDED), (5.0, "idle")]


def test_a_long_answer_is_undecided_until_it_is_drawn() -> None:
    spans = derive(facts(*ASKED, of("answered", 9.0, 1), (15.0, "drawn")), END)
    assert states(spans)[-2:] == [(9.0, UNDECIDED), (15.0 + SETTLE, "idle")]


def test_a_request_that_failed_for_the_last_time_is_undecided_until_the_agent_gives_up() -> None:
    spans = derive(facts(*ASKED, of("failed", 6.0, 1), request(8.0, 2), of("failed", 9.0, 2), (24.0, "gave_up")), END)
    assert states(spans)[-3:] == [(5.1, "running"), (9.0, UNDECIDED), (24.0 + SETTLE, "error")]


def test_facts_that_say_nothing_about_the_state_change_nothing() -> None:
    assert derive(facts(*ASKED, of("first_byte", 5.2, 1), of("side", 5.3, 2), of("answered", 9.0, 1)), END) == derive(
        facts(*ASKED, of("answered", 9.0, 1)), END
    )


def test_nothing_happened_means_nothing_is_known() -> None:
    assert derive([], END) == []


KINDS = st.sampled_from(["submitted", "approved", "denied", "interrupted", "answered_question", "gone", "quit"])


@given(st.lists(st.tuples(st.floats(1.0, 50.0), KINDS), max_size=12))
def test_spans_cover_the_time_without_gap_or_overlap_whatever_the_person_does(entries: list[tuple[float, str]]) -> None:
    spans = derive(facts(*START, *sorted(entries)), END)
    assert spans[0].start == 0.0
    assert spans[-1].end == END
    for one, other in pairwise(spans):
        assert one.end == other.start
        assert one.state != other.state
        assert one.length > 0


def test_a_message_of_an_error_is_left_behind_by_the_next_prompt() -> None:
    """What the driver sees on the screen counts until something else is asked, though no request was made."""
    spans = derive(
        facts(*START, (5.0, "submitted"), (6.0, "dialog", {"state": "error"}), (10.0, "submitted"), request(10.1, 1)),
        END,
    )
    assert states(spans) == [
        (0.0, UNDECIDED),
        (1.0, "idle"),
        (5.0, UNDECIDED),
        (6.0, "error"),
        (10.0, UNDECIDED),
        (10.1, "running"),
    ]


def test_a_list_that_the_person_opened_waits_until_it_is_closed() -> None:
    spans = derive(
        facts(*START, (5.0, "submitted"), (6.0, "dialog", {"state": "waiting_input"}), (10.0, "denied")), END
    )
    assert states(spans)[-3:] == [(6.0, "waiting_input"), (10.0, UNDECIDED), (10.0 + SETTLE, "idle")]


def test_nobody_can_say_what_a_command_does_until_its_dialog_is_seen() -> None:
    late = 6.0 + PATIENCE
    spans = derive(facts(*START, (5.0, "submitted"), (late, "dialog", {"state": "waiting_input"})), END)
    assert states(spans) == [(0.0, UNDECIDED), (1.0, "idle"), (5.0, UNDECIDED), (late, "waiting_input")]
