"""On every capture of a real agent, its signals tell the true state, or fail to in a way that is listed here with the
reason.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from covey.agents.signals.signals import SESSION_ENDED
from tests.captured import Capture, captures
from tests.covey.agents.signals.evidence import by_all, by_files, by_hooks, followed, heard, levels

UNTIL_THE_FIRST_PROMPT = ("copy-mode", "draft", "pasted", "ready")
APPROVALS = ("approval-fetch", "approval-shell", "approval-write")
ERRORS = ("error-auth", "error-rate-limit", "error-server")

Gaps = dict[str, dict[str, tuple[str, str]]]
"""What is said instead of the truth, and why: by agent and case."""


def gap(cases: tuple[str, ...], said: str, why: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(cases, (said, why))


TRUST = gap(("trust",), "none", "it loads hooks and opens a session after the folder is trusted")
SETTINGS = gap(("settings-error",), "none", "it loads hooks and opens a session after the dialog")
BEFORE_A_SESSION = gap(("hook-review", "sign-in", "model-picker"), "none", "its session starts with the first prompt")
NO_ANSWER = gap(
    ("approved",), "waiting_approval", "no hook tells of the answer: the next comes when the tool has ended"
)
HOOKS: Gaps = {
    "claude": TRUST
    | NO_ANSWER
    | gap(("denied",), "waiting_approval", "no hook tells of a refusal")
    | gap(("question-denied",), "waiting_input", "no hook tells of a refusal")
    | gap(("interrupted",), "running", "no hook tells of an interruption")
    | gap(("slash-popup",), "waiting_approval", "no hook tells of the refusal before it")
    | gap(("model-picker",), "idle", "no hook tells of a list that the person opens")
    | gap(("sign-in",), "error", "no hook tells of a list that the person opens")
    | SETTINGS,
    "codex": TRUST
    | BEFORE_A_SESSION
    | NO_ANSWER
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt")
    | gap(ERRORS, "running", "a failed request may be repeated; that it is not, no hook tells"),
    "copilot": TRUST
    | NO_ANSWER
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt")
    | gap(("denied",), "waiting_approval", "no hook tells of a refusal")
    | gap(("interrupted",), "running", "no hook tells of an interruption")
    | gap(("compacted",), "running", "no hook tells of the end of a compaction")
    | gap(ERRORS, "running", "every attempt that fails is told alike, also the last"),
    "cursor": TRUST
    | gap((*APPROVALS, "approval-reason", "question"), "running", "no hook says that it waits")
    | gap(("compacted",), "running", "no hook tells of the end of a compaction"),
    "gemini": TRUST
    | NO_ANSWER
    | gap(("denied",), "waiting_approval", "no hook tells of a refusal")
    | gap(("compacted",), "running", "no hook tells of the end of a compaction")
    | gap(("error-auth",), "idle", "it ends as a turn without a word, as an interrupted one may")
    | gap(("error-rate-limit",), "running", "its quota dialog is only on the screen"),
    "opencode": gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt"),
}
FILES: Gaps = {
    "claude": TRUST | SETTINGS,
    "codex": TRUST
    | BEFORE_A_SESSION
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its transcript starts with the first prompt")
    | gap(APPROVALS, "running", "approvals leave no line"),
    "copilot": TRUST | gap(UNTIL_THE_FIRST_PROMPT, "none", "its transcript starts with the first prompt"),
    "cursor": TRUST
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its transcript starts with the first prompt")
    | gap((*APPROVALS, "approval-reason", "question"), "running", "approvals and questions leave no line")
    | gap(
        ("completed", "flood", "denied", "interrupted", "compacted", *ERRORS),
        "running",
        "the end of a turn leaves no line",
    ),
    "gemini": TRUST
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its transcript starts with the first prompt")
    | gap((*APPROVALS, "question"), "running", "what waits is written down only when it is answered")
    | gap(
        ("approval-shell", "approved", "compacting"),
        "idle",
        "an answer is an end only tentatively: the call of a tool may follow, and is written later",
    )
    | gap(("error-rate-limit",), "running", "its quota dialog is only on the screen"),
    "opencode": {
        str(capture.about["case"]): ("none", "it writes no file that tells its state")
        for capture in captures("opencode")
    },
}
TOGETHER: Gaps = {
    "claude": TRUST | SETTINGS,
    "codex": TRUST
    | BEFORE_A_SESSION
    | NO_ANSWER
    | gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt: the title tells"),
    "copilot": TRUST | gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt"),
    "cursor": HOOKS["cursor"],
    "gemini": TRUST | NO_ANSWER | gap(("error-rate-limit",), "running", "its quota dialog is only on the screen"),
    "opencode": gap(UNTIL_THE_FIRST_PROMPT, "none", "its session starts with the first prompt"),
}
ALIVE = [capture for capture in captures() if capture.state != "gone"]


def check(capture: Capture, said: str, gaps: Gaps) -> None:
    agent, case = str(capture.about["agent"]), str(capture.about["case"])
    expected, why = gaps[agent].get(case, (capture.state, "as it is"))
    assert said == expected, why


@pytest.mark.parametrize("capture", ALIVE, ids=str)
def test_hooks_alone_tell_the_state(capture: Capture) -> None:
    check(capture, by_hooks(capture), HOOKS)


@pytest.mark.parametrize("capture", ALIVE, ids=str)
def test_files_alone_tell_the_state(capture: Capture) -> None:
    check(capture, by_files(capture), FILES)


@pytest.mark.parametrize("capture", ALIVE, ids=str)
def test_hooks_and_files_together_tell_the_state(capture: Capture) -> None:
    check(capture, by_all(capture), TOGETHER)


@pytest.mark.parametrize(
    ("gaps", "tell"), [(HOOKS, by_hooks), (FILES, by_files), (TOGETHER, by_all)], ids=["hooks", "files", "together"]
)
def test_nothing_is_listed_as_unknown_that_is_known(gaps: Gaps, tell: Callable[[Capture], str]) -> None:
    known = {
        f"{capture}"
        for capture in ALIVE
        if str(capture.about["case"]) in gaps[str(capture.about["agent"])] and tell(capture) == capture.state
    }
    assert not known


@pytest.mark.parametrize("capture", [capture for capture in captures() if capture.about["case"] == "exited"], ids=str)
def test_the_end_of_a_session_is_told_by_all_that_have_a_hook_for_it(capture: Capture) -> None:
    ended = [notice.kind for notice in heard(capture) if notice.kind == SESSION_ENDED]
    assert bool(ended) == (capture.about["agent"] != "opencode")


@pytest.mark.parametrize("capture", captures(), ids=str)
def test_no_two_events_of_a_run_have_the_same_key(capture: Capture) -> None:
    keys = [notice.dedupe_key for notice in heard(capture)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("capture", captures("claude"), ids=str)
def test_what_waits_or_fails_is_named(capture: Capture) -> None:
    claims = [*levels(capture), *(claim for notice in heard(capture)[-1:] if (claim := notice.claim("hooks")))]
    assert all(claim.evidence and claim.reason for claim in claims)


def details(agent: str) -> dict[str, str]:
    """What hooks say last where something is needed of the person."""
    wanted = {"waiting_approval", "waiting_input", "error"}
    told = {
        str(capture.about["case"]): [notice for notice in heard(capture) if notice.state]
        for capture in captures(agent)
        if capture.state in wanted
    }
    return {case: notices[-1].detail for case, notices in told.items() if notices and notices[-1].state in wanted}


def test_a_detail_names_the_command_the_file_or_the_question() -> None:
    claude, codex = details("claude"), details("codex")
    assert claude["approval-shell"] == "Bash: touch marker && sleep 3"
    assert claude["approval-write"] == "Write: notes.txt"
    assert claude["approval-fetch"] == "WebFetch: http://127.0.0.1:9/manual.html"
    assert claude["approval-plan"] == "the plan"
    assert claude["question"] == "Which of the two ways should it be?"
    assert claude["error-auth"].endswith("API Error: 401 scripted failure")
    assert codex["approval-write"] == "apply_patch: notes.txt"
    assert codex["question"] == "Which of the two ways should it be?"
    assert details("gemini")["approval-shell"] == "Confirm Shell Command: touch marker && sleep 3"
    assert details("gemini")["question"] == "Which of the two ways should it be?"
    assert details("copilot")["approval-shell"] == "Run command: touch marker && sleep 3"
    assert details("opencode")["approval-shell"] == "bash: touch marker && sleep 3"
    assert details("opencode")["question"] == "Which of the two ways should it be?"
    assert details("opencode")["error-auth"] == "scripted failure"


def test_transcripts_name_it_too() -> None:
    found = {
        str(capture): followed(capture)[-1].detail
        for capture in ALIVE
        if capture.about["case"] in {"question", "error-auth"} and followed(capture)
    }
    assert found["claude/2.1.325/question"] == found["codex/0.166.0/question"] == "Which of the two ways should it be?"
    assert found["copilot/1.0.102/question"] == "Which of the two ways should it be?"
    assert "401" in found["codex/0.166.0/error-auth"]
