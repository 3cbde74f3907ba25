"""Metadata of a text in a collection, and the filters over it: fields with plain values, compared for equality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from covey.mesh.services.embedding.text_index import Choice
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_METADATA = 16_384
MOST_FIELDS, LONGEST_NAME, MOST_VALUES = 64, 200, 100


def labels_of(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what can be filtered by: each field with its value, or with each value of its list. Others are left out.

    Raises ValueError for metadata that is too large.
    """
    if len(metadata) > MOST_FIELDS or len(msgspec.json.encode(metadata)) > LARGEST_METADATA:
        raise ValueError("the metadata is too large")
    return [
        (name, _label(value))
        for name, given in metadata.items()
        for value in (given if isinstance(given, list) else [given])
        if not isinstance(value, (dict, list))
    ]


def check_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that can be kept. Raises AgentError."""
    wrong = [name for name in metadata if not 0 < len(name) <= LONGEST_NAME]
    try:
        labels_of(metadata)
    except ValueError:
        wrong.append("")
    if wrong:
        raise user_error(
            f"the metadata cannot be kept: it may have {MOST_FIELDS} fields with names of 1 to {LONGEST_NAME} "
            f"characters, and {LARGEST_METADATA} bytes of JSON",
            "Keep what you want to filter by, and leave the rest in the text.",
            field="metadata",
        )
    return metadata


def choices_of(filter_: Mapping[str, Any]) -> list[Choice]:
    """Return the conditions of a filter such as `{"lang": "go", "kind": ["doc", "code"]}`. Raises AgentError.

    A field has to have that value, or one of those of a list.
    """
    if len(filter_) > MOST_FIELDS:
        raise _not_a_filter(f"it has {len(filter_)} fields, and may have {MOST_FIELDS}")
    return [Choice(name, _values(name, wanted)) for name, wanted in filter_.items()]


def _values(name: str, wanted: object) -> list[str]:
    values = wanted if isinstance(wanted, list) else [wanted]
    if not 0 < len(values) <= MOST_VALUES or any(isinstance(value, (dict, list)) for value in values):
        raise _not_a_filter(f"{name[:40]!r} has neither a plain value nor a list of 1 to {MOST_VALUES} of them")
    return [_label(value) for value in values]


def _not_a_filter(why: str) -> Exception:
    return user_error(
        f"the filter cannot be used: {why}",
        'Name fields with the values that they must have: {"lang": "go", "kind": ["doc", "code"]}.',
        field="filter",
    )


def _label(value: object) -> str:
    """Return a value as text that is equal for equal values: 1 and 1.0 are."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value).decode()
