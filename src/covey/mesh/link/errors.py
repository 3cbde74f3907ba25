"""The errors of a link to a broker.

AgentError
└── LinkError             message, suggestion
    ├── NotConnected      there is no connection now, or it broke
    ├── RefusedError      the broker does not accept these credentials: revoked, expired or never valid
    ├── NotAcknowledged   the broker has not acknowledged in time, or has refused to store
    │   ├── Overtaken     something else was stored under that subject meanwhile
    │   ├── Occupied      there is a message under that subject, and the stream keeps the first one
    │   └── Full          the stream, or the broker's disk, has as much as it may
    └── NotAnsweredError  a request had no answer in time
"""

from __future__ import annotations

from murli import AgentError

REPEAT = "See `covey mesh status`, and repeat the command when the broker is reached."
NEW_INVITE = "It may have been revoked; ask whoever runs the mesh for a new invite."


class LinkError(AgentError):
    """An error of the connection that users can meet.

    A peer that runs connects again by itself. What was asked of it is not asked again, so the suggestion is to do that.
    """

    kind = "mesh_link"
    exit_code = 2
    retry = True

    def __init__(self, message: str, suggestion: str = REPEAT) -> None:
        super().__init__(message, code=self.exit_code, error=self.kind, suggestion=suggestion, recoverable=self.retry)


class NotConnected(LinkError):  # noqa: N818 - a state of the link
    kind = "mesh_not_connected"


class RefusedError(LinkError):
    kind = "mesh_refused"
    exit_code = 6
    retry = False


class NotAcknowledged(LinkError):  # noqa: N818 - what happened, not a fault of ours
    kind = "mesh_not_acknowledged"


class Overtaken(NotAcknowledged):
    kind = "mesh_overtaken"


class Occupied(NotAcknowledged):
    kind = "mesh_occupied"


class Full(NotAcknowledged):
    kind = "mesh_full"


class NotAnsweredError(LinkError):
    kind = "mesh_not_answered"
    exit_code = 8
