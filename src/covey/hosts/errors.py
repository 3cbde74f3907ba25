"""What can go wrong on a machine.

HostError
├── ProcessesError            the processes of the machine cannot be listed
└── HostUnreachableError      a program could not be started there, or the connection broke
    └── HostTimeoutError      there was no answer within the deadline
"""

from __future__ import annotations


class HostError(Exception):
    """Anything in this tree. The message is one sentence for a person."""


class ProcessesError(HostError):
    """The processes cannot be listed."""


class HostUnreachableError(HostError):
    """The machine cannot be used: a program could not be started there, or the connection broke."""


class HostTimeoutError(HostUnreachableError):
    """An answer did not come in time."""
