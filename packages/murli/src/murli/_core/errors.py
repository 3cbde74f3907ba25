"""The errors a tool can end with, and the exit code each one means.

Exception
└── AgentError            what the caller gets: code, kind, message, suggestion, whether a retry can help
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

EXIT_OK = 0
EXIT_USER_ERROR = 1
EXIT_TOOL_ERROR = 2
EXIT_PARTIAL = 3
EXIT_TIMEOUT = 4
EXIT_NOT_FOUND = 5
EXIT_PERMISSION = 6
EXIT_CONFLICT = 7
EXIT_RATE_LIMITED = 8
EXIT_CANCELLED = 9

SCHEMA_VERSION = "1.0"


class AgentError(Exception):
    """An error that tells its reader what happened, whether to retry and what to do instead.

    Raise it from a handler; murli prints it for the audience and exits with `code`.
    """

    def __init__(  # the fields of the wire contract, all but the first three optional
        self,
        message: str,
        *,
        code: int = EXIT_TOOL_ERROR,
        error: str = "tool_error",
        suggestion: str = "",
        recoverable: bool = False,
        valid_values: Iterable[str] = (),
        retry_after_ms: int = 0,
        doc_url: str = "",
        field: str = "",
    ) -> None:
        super().__init__(message)
        self.message = str(message)
        self.code = code if EXIT_OK < code <= EXIT_CANCELLED else EXIT_TOOL_ERROR
        self.error = error
        self.suggestion = suggestion
        self.recoverable = recoverable
        self.valid_values = [str(value) for value in valid_values]
        self.retry_after_ms = retry_after_ms
        self.doc_url = doc_url
        self.field = field

    @classmethod
    def from_envelope(cls, envelope: Mapping[str, Any]) -> AgentError:
        """The error that somebody else sent as an envelope. Raises KeyError or TypeError if it is not one."""
        known = ("code", "error", "suggestion", "recoverable", "valid_values", "retry_after_ms", "doc_url", "field")
        return AgentError(envelope["message"], **{name: envelope[name] for name in known if name in envelope})

    def envelope(self, tool_version: str = "") -> dict[str, Any]:
        """The error as it goes over the wire: contract key order, empty optional keys left out."""
        optional = {
            "valid_values": self.valid_values,
            "retry_after_ms": self.retry_after_ms,
            "doc_url": self.doc_url,
            "field": self.field,
        }
        body: dict[str, Any] = {"code": self.code, "error": self.error, "message": self.message}
        if self.suggestion:
            body["suggestion"] = self.suggestion
        body["recoverable"] = self.recoverable
        body.update({key: value for key, value in optional.items() if value})
        body["schema_version"] = SCHEMA_VERSION
        if tool_version:
            body["tool_version"] = tool_version
        return body


def user_error(
    message: str, suggestion: str = "", *, error: str = "user_error", field: str = "", valid_values: Iterable[str] = ()
) -> AgentError:
    """The caller gave something wrong and can mend it."""
    return AgentError(
        message,
        code=EXIT_USER_ERROR,
        error=error,
        suggestion=suggestion,
        recoverable=True,
        field=field,
        valid_values=valid_values,
    )


def tool_error(message: str, suggestion: str = "", *, error: str = "tool_error") -> AgentError:
    """The environment failed (network, files, a dependency): the caller's words were fine."""
    return AgentError(message, code=EXIT_TOOL_ERROR, error=error, suggestion=suggestion)


def not_found(message: str, suggestion: str = "", *, field: str = "") -> AgentError:
    """The thing asked for does not exist."""
    return AgentError(message, code=EXIT_NOT_FOUND, error="not_found", suggestion=suggestion, field=field)


def permission_denied(message: str, suggestion: str = "") -> AgentError:
    """The caller may not do this; a retry needs other rights first."""
    return AgentError(message, code=EXIT_PERMISSION, error="permission_denied", suggestion=suggestion)


def conflict(message: str, suggestion: str = "", *, field: str = "") -> AgentError:
    """The current state stands in the way (it exists already, it changed meanwhile)."""
    return AgentError(message, code=EXIT_CONFLICT, error="conflict", suggestion=suggestion, field=field)


def rate_limited(message: str, retry_after_ms: int, suggestion: str = "") -> AgentError:
    """Too many calls: wait at least `retry_after_ms` and try again."""
    return AgentError(
        message,
        code=EXIT_RATE_LIMITED,
        error="rate_limited",
        suggestion=suggestion,
        recoverable=True,
        retry_after_ms=retry_after_ms,
    )


def timed_out(message: str, suggestion: str = "") -> AgentError:
    """The operation ran out of time; a later try may succeed."""
    return AgentError(message, code=EXIT_TIMEOUT, error="timeout", suggestion=suggestion, recoverable=True)


def cancelled(message: str = "The operation was cancelled.") -> AgentError:
    """Someone stopped the operation."""
    return AgentError(message, code=EXIT_CANCELLED, error="cancelled")


def from_exception(error: BaseException) -> AgentError:
    """What an exception that reached the top means to the caller.

    An error raised `from` a cancellation or a time-out counts as one, as does the exception itself; a group counts as
    its first exception. Everything else that is not an `AgentError` is the tool's own failure; in particular a
    `FileNotFoundError` does not become `not_found`, because only the tool knows whether the missing file was asked
    for.
    """
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, AgentError):
            return cause
        if isinstance(
            cause,
            (
                KeyboardInterrupt,
                *_loaded("asyncio", "CancelledError"),
                *_loaded("concurrent.futures", "CancelledError"),
            ),
        ):
            return cancelled()
        if isinstance(cause, (TimeoutError, *_loaded("subprocess", "TimeoutExpired"))):
            return timed_out(_sentence(error) or "The operation timed out.", "Try again later, or allow more time.")
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__
    return tool_error(
        f"{type(error).__name__}: {_sentence(error)}" if _sentence(error) else type(error).__name__,
        "This is a failure of the tool or its environment. "
        "Run the command again with --debug to see where it happened.",
        error="internal_error",
    )


KINDS = {
    EXIT_USER_ERROR: "user_error",
    EXIT_TIMEOUT: "timeout",
    EXIT_NOT_FOUND: "not_found",
    EXIT_PERMISSION: "permission_denied",
    EXIT_CONFLICT: "conflict",
    EXIT_RATE_LIMITED: "rate_limited",
    EXIT_CANCELLED: "cancelled",
}


def from_status(code: int, message: str) -> AgentError:
    """The error of a command that only returned an exit code."""
    return AgentError(message, code=code, error=KINDS.get(code, "tool_error"))


def _loaded(module: str, name: str) -> tuple[type[BaseException], ...]:
    """An exception class of a module if that module is loaded: if it is not, nobody can have raised it."""
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if found is not None else ()


def _sentence(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:  # noqa: BLE001 - an exception that cannot be printed is still reported by its name
        return ""
