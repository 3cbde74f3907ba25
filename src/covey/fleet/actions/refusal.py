"""Why an action was refused: nothing was typed and no signal was sent. Or that it is not known whether it was done.

AgentError
├── Refusal           with one of the codes below
└── OutcomeUnknown
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
SOMEBODY_TYPES = "somebody_types"
PANE_IN_MODE = "pane_in_mode"
NOT_IN_FOREGROUND = "not_in_foreground"
TEXT_IS_COMMAND = "text_is_command"
TARGET_UNREACHABLE = "target_unreachable"
NOT_RUNNING = "not_running"
NOT_SUPPORTED = "not_supported"
QUEUE_NOT_EMPTY = "queue_not_empty"
QUEUE_FULL = "queue_full"
NOT_QUEUED = "not_queued"
NO_DIALOG = "no_dialog"
DIALOG_NOT_UNDERSTOOD = "dialog_not_understood"
DIALOG_CHANGED = "dialog_changed"
DIALOG_NOT_WHOLE = "dialog_not_whole"
DIALOG_NOT_APPROVAL = "dialog_not_approval"
CHOICE_NOT_OFFERED = "choice_not_offered"


class Refusal(AgentError):  # noqa: N818 - a decision, not a failure of the program
    """An action that was not done, because the agent is not as it should be."""

    def __init__(self, code: str, message: str, suggestion: str) -> None:
        super().__init__(message, code=EXIT_CONFLICT, error=code, suggestion=suggestion, recoverable=True)


class OutcomeUnknown(AgentError):  # noqa: N818 - as above
    """The connection was lost while something was typed: it may have been typed, and is not typed again."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message, code=EXIT_CONFLICT, error="outcome_unknown", suggestion=suggestion)
