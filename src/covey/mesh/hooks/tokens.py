"""Tokens of running hooks: what a hook passes to the peer's API, and what it may ask there."""

from __future__ import annotations

import hashlib
import secrets

import msgspec

READING = frozenset(
    {"mesh.inbox", "mesh.search", "mesh.peers", "mesh.members", "mesh.task.show", "mesh.task.list", "health"}
)
SENDING = frozenset(
    {
        "mesh.send",
        "mesh.topic.post",
        "mesh.task.claim",
        "mesh.task.renew",
        "mesh.task.complete",
        "mesh.task.fail",
        "mesh.task.release",
    }
)
ALLOWED = READING | SENDING
"""The operations of a hook. It runs as the user, who can do more: this is against accidents, the sandbox against
malice."""
PREFIX = "covey-hook-"
"""With it, a token of a hook is told from other tokens before it is searched for."""
RANDOM_BYTES = 32


class HookRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run of a hook to which a token belongs."""

    hook: str
    hops: int
    """The hops of the message that caused the run. A message that the run sends has one more."""
    operations: frozenset[str]

    def may(self, operation: str) -> bool:
        """Return whether the run may use an operation."""
        return operation in self.operations


class HookTokens:
    """The tokens of the hooks that run now. They are kept as digests, so that a search takes no secret-dependent time.

    >>> tokens = HookTokens()
    >>> token = tokens.issue("on-dm", 1)
    >>> tokens.find(token).may("mesh.send")
    True
    >>> tokens.revoke(token)
    >>> tokens.find(token) is None
    True
    """

    def __init__(self) -> None:
        self._runs: dict[bytes, HookRun] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def issue(self, hook: str, hops: int, *, may_send: bool = True) -> str:
        """Return a new token for a run of a hook. Without `may_send`, it can only read."""
        token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
        operations = ALLOWED if may_send else READING
        self._runs[_digest(token)] = HookRun(hook=hook, hops=hops, operations=operations)
        return token

    def find(self, token: str) -> HookRun | None:
        """Return the run of a token; None if there is no such token, or its run is over."""
        return self._runs.get(_digest(token))

    def revoke(self, token: str) -> None:
        """Make a token invalid. One that is not known is ignored."""
        self._runs.pop(_digest(token), None)


def _digest(token: str) -> bytes:
    return hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=32).digest()
