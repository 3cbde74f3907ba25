"""What the payload of a webhook reads like, as a message for an agent. Pure.

ValueError
└── FieldsMissing         the payload has none of the fields of the template
"""

from __future__ import annotations

import json
from string import Formatter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_EXCERPT = 2000
_MOST_COMMITS = 10
_MISSING = object()


class FieldsMissing(ValueError):  # noqa: N818 - it is an answer
    """The payload has none of the fields of the template."""


def parse(body: bytes, content_type: str) -> dict[str, Any] | str:
    """Return the payload of a request: the fields of a JSON object or of a form, or else the text.

    A JSON object is one whatever its content type says: curl calls every body a form unless it is told otherwise. A
    form with one field `payload` carries JSON, as GitHub and Slack send it. Raises ValueError if the body is not
    UTF-8, or if it is said to be JSON and is not.
    """
    text = body.decode()
    kind = content_type.partition(";")[0].strip().lower()
    if text.lstrip().startswith("{"):
        try:
            fields = _json_fields(text)
        except ValueError:
            fields = text
        if isinstance(fields, dict):
            return fields
    if kind == "application/x-www-form-urlencoded":
        form = dict(parse_qsl(text, keep_blank_values=True))
        return _json_fields(form["payload"]) if set(form) == {"payload"} else form
    return _json_fields(text) if kind == "application/json" or kind.endswith("+json") else text


def render(payload: dict[str, Any] | str, template: str, event: str) -> str:
    """Return the message for a payload: by the template if there is one, else a summary, else the payload itself.

    `event` is the name that the sender gave to what happened, or empty. Raises `FieldsMissing` if the payload has none
    of the fields of the template.
    """
    if isinstance(payload, str):
        payload_fields: dict[str, Any] = {"body": payload}
        summary = payload
    else:
        payload_fields = payload
        summary = _github(event, payload) if event else _slack(payload)
        summary = summary or json.dumps(payload, ensure_ascii=False)
    if template:
        fields = {**({"event": event} if event else {}), **payload_fields}
        filled = _Template()
        text = filled.vformat(template, (), fields)
        if filled.missing and not filled.found:
            names = ", ".join(f"{{{name}}}" for name in filled.missing)
            raise FieldsMissing(f"the body has none of the fields of the template: {names}")
        return text
    return summary


class _Template(Formatter):
    """`str.format` with keys only: neither attributes, conversions nor format specifications are looked at.

    A field that is missing is empty.
    """

    def __init__(self) -> None:
        self.found = 0
        """The number of fields that the payload has."""
        self.missing: list[str] = []

    def get_field(self, field_name: str, _args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        first, *keys = field_name.replace("]", "").split("[")
        value: Any = kwargs
        for key in (first, *keys):
            value = _item(value, key, _MISSING)
        if value is _MISSING:
            self.missing.append(field_name)
            return "", first
        self.found += 1
        return value, first

    def format_field(self, value: Any, _spec: str) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def convert_field(self, value: Any, _conversion: str | None) -> Any:
        return value


def _item(value: Any, key: str, default: Any = "") -> Any:
    if isinstance(value, dict):
        return value.get(key, default)
    if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return default


def _json_fields(text: str) -> dict[str, Any] | str:
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return found if isinstance(found, dict) else text


def _text(payload: Any, *keys: str) -> str:
    """Return a text inside of a payload; empty if it is not there. Payloads are whatever the sender made of them."""
    for key in keys:
        payload = _item(payload, key)
    return str(payload) if isinstance(payload, (str, int, float)) else ""


def _excerpt(text: str) -> str:
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:LONGEST_EXCERPT]} …"


def _github(event: str, payload: dict[str, Any]) -> str:
    """Return a summary of an event of GitHub: what happened, by whom, where to look, and what was written."""
    where, who, action = (
        _text(payload, "repository", "full_name"),
        _text(payload, "sender", "login"),
        _text(payload, "action"),
    )
    if event == "ping":
        return f"GitHub: the webhook of {where or _text(payload, 'organization', 'login')} is connected"
    if event == "push":
        return _push(payload, where, who)
    if event in ("check_run", "check_suite", "workflow_run", "workflow_job"):
        run = payload.get(event)
        outcome = _text(run, "conclusion") or _text(run, "status") or action
        name, place = _text(run, "name") or event, _text(run, "html_url")
        return (
            f"GitHub {where}: {name} is {outcome} on {_text(run, 'head_branch') or _text(run, 'head_sha')[:12]} {place}"
        )
    subject = payload.get("pull_request") or payload.get("issue") or payload.get("release") or payload.get("discussion")
    comment = payload.get("comment") or payload.get("review")
    number = _text(subject, "number")
    lines = [
        f"GitHub {where}: {event.replace('_', ' ')}{f' {action}' if action else ''}{f' by {who}' if who else ''}"
        f"{f': #{number}' if number else ''} {_text(subject, 'title') or _text(subject, 'name')}".rstrip(),
        _text(comment or subject, "html_url"),
        _excerpt(_text(comment or subject, "body")),
    ]
    return "\n".join(line for line in lines if line)


def _push(payload: dict[str, Any], where: str, who: str) -> str:
    branch = _text(payload, "ref").removeprefix("refs/heads/")
    commits = payload.get("commits")
    commits = commits if isinstance(commits, list) else []
    lines = [
        f"GitHub {where}: {who or 'somebody'} pushed {len(commits)} commits to {branch}",
        _text(payload, "compare"),
    ]
    lines += [
        f"- {_text(commit, 'id')[:12]} {_text(commit, 'message').partition(chr(10))[0]}"
        for commit in commits[:_MOST_COMMITS]
    ]
    if len(commits) > _MOST_COMMITS:
        lines.append(f"- and {len(commits) - _MOST_COMMITS} more")
    return "\n".join(line for line in lines if line)


def _slack(payload: dict[str, Any]) -> str:
    """Return a summary of a message or command from Slack; empty if it is not one."""
    if command := _text(payload, "command"):
        return (
            f"Slack: {_text(payload, 'user_name') or _text(payload, 'user_id')} says {command} {_text(payload, 'text')}"
        )
    text, kind = _text(payload, "event", "text"), _text(payload, "event", "type")
    if not (text and kind):
        return ""
    return f"Slack {kind} in {_text(payload, 'event', 'channel')} by {_text(payload, 'event', 'user')}: {text}"
