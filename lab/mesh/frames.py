"""Malformed frames, made from good ones and from nothing, by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

LARGEST = 64 * 1024
RARELY = 0.02
NESTED = 2000


def mangled(good: bytes, chance: Random) -> bytes:
    """Return bytes that are not a valid envelope or record."""
    if chance.random() < RARELY:
        return chance.randbytes(LARGEST)
    return chance.choice(_WAYS)(good, chance)


def _flipped(good: bytes, chance: Random) -> bytes:
    data = bytearray(good)
    for place in {chance.randrange(len(data)) for _ in range(chance.choice([1, 1, 2, 8]))}:
        data[place] ^= chance.randrange(1, 256)
    return bytes(data)


_WAYS: list[Callable[[bytes, Random], bytes]] = [
    lambda _, __: b"",
    lambda _, chance: chance.randbytes(chance.choice([1, 7, 63, 64, 71, 500])),
    lambda good, chance: good[: chance.randrange(len(good))],
    lambda good, chance: good + chance.randbytes(chance.randrange(1, 200)),
    lambda _, chance: b"CVM1" + chance.randbytes(chance.randrange(1, 300)),
    lambda _, chance: b"[" * NESTED + b"\n" + chance.randbytes(64),
    lambda _, chance: b'{"member": "' + chance.randbytes(40) + b'"}\n' + b"A" * 88,
    _flipped,
    _flipped,
    _flipped,
]
