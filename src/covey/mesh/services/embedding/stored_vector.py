"""Vectors as documents hold them: the model that made them, and half-precision numbers in base64.

Nothing here imports numpy: every replica checks the vectors of others, also one that searches nothing.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_DIMENSIONS = 4096
_BYTES_PER_NUMBER = 2
_EXPONENT = 0x7C
_NOT_FINITE = bytes(high for high in range(256) if high & _EXPONENT == _EXPONENT)
"""The high bytes of half-precision numbers whose exponent says infinite or not a number."""


class StoredVector(Struct, frozen=True, kw_only=True):
    """What a text means to one model."""

    model: Annotated[str, Meta(min_length=1, max_length=100)]
    dimensions: Annotated[int, Meta(ge=1, le=LARGEST_DIMENSIONS)]
    f16: Annotated[str, Meta(max_length=LARGEST_DIMENSIONS * 3)]
    """Little-endian half-precision numbers, in base64."""


def stored_vector(model: str, numbers: bytes) -> StoredVector:
    """Return a vector of little-endian half-precision numbers as documents hold it."""
    return StoredVector(
        model=model, dimensions=len(numbers) // _BYTES_PER_NUMBER, f16=base64.b64encode(numbers).decode("ascii")
    )


def numbers_of(vector: StoredVector) -> bytes:
    """Return the half-precision numbers of a vector. Raises ValueError if they are not base64."""
    return base64.b64decode(vector.f16, validate=True)


def is_sound(vector: StoredVector, dimensions_of: Mapping[str, int]) -> bool:
    """Return whether a vector has as many numbers as it says and its model makes, all of them finite."""
    try:
        numbers = numbers_of(vector)
    except (binascii.Error, ValueError):
        return False
    return (
        len(numbers) == vector.dimensions * _BYTES_PER_NUMBER
        and vector.dimensions == dimensions_of.get(vector.model, vector.dimensions)
        and len(numbers[1::2].translate(None, _NOT_FINITE)) == vector.dimensions
    )
