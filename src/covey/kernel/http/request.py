"""Headers, paths, queries and bodies of requests, read strictly: no part of a request may be read in two ways."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import parse_qsl, unquote

from covey.kernel.http.answer import Refusal, encode
from covey.kernel.json_size import has_too_many_values
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.kernel.operations.call import Caller, Surface

ONCE = frozenset(
    (
        "host",
        "authorization",
        "content-length",
        "content-type",
        "origin",
        "referer",
        "idempotency-key",
        "covey-deadline-ms",
        "covey-surface",
        "last-event-id",
    )
)
"""Headers that are refused when they are sent twice, since two programs could pick different ones."""

SURFACES = ("cli", "mcp")
"""What a program may call itself; any other is a plain caller of the API."""
_DEADLINE = re.compile(r"[0-9]{1,9}")
MOST_VALUES = 150_000
"""In the JSON of one body."""
SHORTEST_DEADLINE_MS = 100
"""A call with a shorter deadline could only fail."""
_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})")


def read_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by name. Raises Refusal if one of `ONCE` is there twice."""
    headers: dict[str, str] = {}
    for raw, value in pairs:
        name = raw.decode("latin-1")
        if name in headers and name in ONCE:
            raise Refusal(400, user_error(f"the header {name} is there twice", "Send it once.", field=name))
        headers[name] = value.decode("latin-1")
    return headers


def read_caller(caller: Caller, headers: Mapping[str, str]) -> Caller:
    """Return the caller with the surface that it names in its header."""
    named = headers.get("covey-surface", "")
    return caller._replace(surface=cast("Surface", named)) if named in SURFACES else caller


def read_segment(segment: str) -> str:
    """Return a part of the path without percent-encoding. Raises AgentError."""
    if "%" not in segment:
        return segment
    try:
        whole = unquote(segment, errors="strict")
    except ValueError:
        whole = ""
    if not whole or _BROKEN.search(segment):
        raise user_error("the path cannot be read", "Percent-encode it as UTF-8.")
    return whole


def read_query(raw: bytes) -> dict[str, Any]:
    """Return the query by name; a name that is given more than once has a list. Raises AgentError."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as error:
        raise user_error(
            "the query cannot be read", "Percent-encode it as UTF-8, and name at most 100 values."
        ) from error
    query: dict[str, Any] = {}
    for name, value in pairs:
        known = query.get(name)
        query[name] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
    return query


def read_document(raw: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON object in a body. Raises AgentError, or Refusal if the body is not JSON by its type."""
    kind = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(
            415, user_error(f"a body of type {kind[:60]!r} is not understood", "Send JSON as application/json.")
        )
    try:
        text = raw.decode("utf-8")
        if has_too_many_values(text, MOST_VALUES):
            raise user_error(f"the body has more than {MOST_VALUES} values", "Send less at a time.")
        body = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
        if b"\\" in raw:
            encode(body)  # half of a surrogate pair is not text, and would fail wherever it went next
    except RecursionError as error:
        raise user_error("the body is nested too deeply", "Send one JSON object whose keys are parameters.") from error
    except ValueError as error:
        raise user_error(f"the body is not valid JSON: {error}", "Send one JSON object.") from error
    if not isinstance(body, dict):
        raise user_error("the body must be a JSON object", "Send one JSON object whose keys are parameters.")
    return body


def read_deadline(headers: Mapping[str, str], longest: float) -> float:
    """Return the caller's deadline in seconds, at most the longest that we allow. Raises AgentError."""
    asked = headers.get("covey-deadline-ms")
    if asked is None:
        return longest
    if not _DEADLINE.fullmatch(asked) or int(asked) < SHORTEST_DEADLINE_MS:
        raise user_error(
            f"invalid value {asked[:60]!r} for 'Covey-Deadline-Ms': "
            f"expected milliseconds, {SHORTEST_DEADLINE_MS} or more",
            "Send a whole number.",
            field="Covey-Deadline-Ms",
        )
    return min(int(asked) / 1000, longest)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        left = dict(pairs)
        twice = next(name for name, _ in pairs if left.pop(name, left) is left)
        raise ValueError(f"{twice[:60]!r} is there twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
