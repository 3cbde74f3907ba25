"""Stands in for murli when the demo tool is timed without it: what a tool would do by hand, and nothing more."""

import sys


class AgentError(Exception): ...


def _error(message, *_, **__):
    return AgentError(message)


user_error = tool_error = not_found = permission_denied = conflict = rate_limited = timed_out = _error
EXIT_PARTIAL = 3


def _nothing(*_, **__):
    return None


ArgumentMetadata = Example = FlagAnnotation = Metadata = ReturnSchema = _nothing


def annotated(_):
    return lambda target: target


class _Writer:
    dry_run = False

    def success(self, text, result=None):
        if sys.stdout.isatty():
            print(text if isinstance(text, str) else text(result))
        else:
            import json

            print(json.dumps({"result": result}, indent=2))


def writer():
    return _Writer()
