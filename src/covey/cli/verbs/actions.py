"""`covey send`, with the text from a flag, a file or standard input, and `covey kill`, which asks first."""

from __future__ import annotations

import sys

from covey.cli.perform import ask, confirm, show
from murli import EXIT_PARTIAL, AgentError, user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

MOST_BYTES = 10_000_000
"""More is not read from a file; the daemon refuses much less."""


def send(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Send a message and show its receipt, and with --wait the answer."""
    out, waits = writer(), params["wait"]
    if params["timeout"] is not None and not (waits or params["when_ready"]):
        raise user_error("nothing waits", "--timeout belongs to --when-ready or --wait.", field="timeout")
    text, check_only = _text(params), params["check_only"] or out.dry_run
    params = {**params, "text": text, "file": None, "wait": False, "check_only": check_only}
    if out.dry_run:
        out.plan(*_plan(home, operation, params))
        return 0
    result = ask(home, operation, params)
    code = 0
    if waits and not check_only:
        from covey.cli.verbs.receipts import await_answer, exit_code

        result["answer"] = await_answer(home, result["receipt"]["id"], params["timeout"] or "1h")
        result["receipt"] = result["answer"]["receipt"]
        code = exit_code(result["answer"])
    elif result["receipt"] and result["receipt"]["rung"] == "typed" and not result["receipt"]["open"]:
        code = EXIT_PARTIAL  # it is not known to be submitted, and may stand in the composer
    show(operation, result)
    return code


def _plan(home: Home, operation: Operation, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what would happen now, for people and for programs: that it would be sent, or why it would be refused."""
    try:
        result = ask(home, operation, params)
    except AgentError as error:
        refusal = {"error": error.error, "message": error.message, "suggestion": error.suggestion}
        return f"It would not be sent: {error.message}", {"would_send": False, "refusal": refusal}
    if "waits_for" in result:
        return f"It would wait: {result['waits_for']}", {"would_send": False, **result}
    return f"It would be sent to {result['snapshot']['ref']}.", {"would_send": True, **result}


def kill(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Send a signal; on a terminal, ask first."""
    confirm(f"Send SIG{params['signal']} to {params['ref']}?", "No signal was sent.")
    show(operation, ask(home, operation, params))
    return 0


def _text(params: dict[str, Any]) -> str:
    """Return the message. Raises AgentError if there is not exactly one source of it, or it is not text."""
    text, file = params["text"], params["file"]
    if (text is None) == (file is None):
        raise user_error(
            "give the message once: with --text, or with --file (- is standard input)",
            "For example: covey send api --text 'run the tests'",
            error="argument_error",
            field="text",
        )
    if text is not None:
        return str(text)
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(file, "rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        return data.decode()
    except OSError as error:
        raise user_error(
            f"{file} cannot be read: {error.strerror}", "Name a file that you can read.", field="file"
        ) from None
    except UnicodeDecodeError:
        raise user_error(f"{file} is not UTF-8 text", "Only text can be sent to an agent.", field="file") from None
