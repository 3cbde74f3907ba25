"""Why an action was refused. Nothing was typed and no signal was sent.

AgentError
└── Refusal    with one of the codes below
"""

from __future__ import annotations

from murli import EXIT_CONFLICT, AgentError

ACTION_EXPIRED = "action_expired"
RUNTIME_CHANGED = "runtime_changed"
STATE_CHANGED = "state_changed"
STATE_STALE = "state_stale"
DIALOG_OPEN = "dialog_open"
COMPOSER_HOLDS_DRAFT = "composer_holds_draft"
COMPOSER_NOT_FOUND = "composer_not_found"
SCREEN_NOT_UNDERSTOOD = "screen_not_understood"
SCREEN_CHANGING = "screen_changing"
PANE_IN_MODE = "pane_in_mode"
NOT_IN_FOREGROUND = "not_in_foreground"
TEXT_IS_COMMAND = "text_is_command"
TARGET_UNREACHABLE = "target_unreachable"
NOT_RUNNING = "not_running"
NOT_SUPPORTED = "not_supported"
AGENTS_CANNOT_APPROVE = "agents_cannot_approve"


class Refusal(AgentError):  # noqa: N818 - a decision, not a failure of the program
    """An action that was not done, because the agent is not as it should be."""

    def __init__(self, code: str, message: str, suggestion: str) -> None:
        super().__init__(message, code=EXIT_CONFLICT, error=code, suggestion=suggestion, recoverable=True)
