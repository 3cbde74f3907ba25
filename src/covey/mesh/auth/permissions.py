"""What the members of a mesh, the holders of invites and the authority may publish and subscribe to.

A template is stored in the account with a scoped signing key; the broker puts the user's own key in the place of
`{{subject()}}` and refuses users of that signing key who bring permissions of their own. What is not listed is refused:
streams cannot be changed, purged or deleted by members, and the streams DM and RECEIPTS do not tell who writes to whom.
"""

from __future__ import annotations

import msgspec

_ME = "{{subject()}}"
CONSUMER_SUFFIXES = ("", "_1", "_2", "_3", "_4", "_5", "_6", "_7")
"""Endings of the names of a member's consumers. A permission has no wildcard within a word, so that all are listed."""
MEMBER_SUBSCRIPTIONS = 256
"""Subscriptions of one member at a time."""
_OPEN_STREAMS = ("TOPICS", "MEMBERS", "AUTHORITY", "PRESENCE", "SHARED", "GRAPH")
"""Streams that every member may read whole: what is not meant for all is sealed."""
_READ_BY_SUBJECT = ("MEMBERS", "AUTHORITY", "PRESENCE", "SHARED")
"""Streams of which a member may read the newest message of a subject."""


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user may publish and subscribe to. Subjects with wildcards; an empty tuple allows nothing."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    subscriptions: int = -1
    """How many subscriptions at a time; -1 for any number."""

    def as_claims(self) -> dict[str, object]:
        """Return the fields of a user's claims, or of a template."""
        return {
            "pub": {"allow": list(self.publish)} if self.publish else {"deny": [">"]},
            "sub": {"allow": list(self.subscribe)} if self.subscribe else {"deny": [">"]},
            "subs": self.subscriptions,
            "data": -1,
            "payload": -1,
        }


class ScopedPermissions(msgspec.Struct, frozen=True, kw_only=True):
    """The permissions that every user of a signing key has, and no other."""

    role: str
    template: Permissions


def consumer_name(member: str, number: int = 0) -> str:
    """Return the name of one of a member's consumers of a stream; the numbers are 0 to 7."""
    return f"{member}{CONSUMER_SUFFIXES[number]}"


def inbox_prefix(user: str) -> str:
    """Return the beginning of the subjects to which the answers for a user go."""
    return f"_INBOX.{user}"


def _consumers() -> tuple[str, ...]:
    """Return the subjects of JetStream's API for a member's own consumers."""
    subjects: list[str] = []
    for suffix in CONSUMER_SUFFIXES:
        name = f"{_ME}{suffix}"
        subjects.append(f"$JS.API.CONSUMER.CREATE.DM.{name}.dm.{_ME}.*")  # never without the filter: it reads all then
        for stream in _OPEN_STREAMS:
            subjects += [f"$JS.API.CONSUMER.CREATE.{stream}.{name}", f"$JS.API.CONSUMER.CREATE.{stream}.{name}.>"]
        subjects += [f"$JS.API.CONSUMER.{verb}.*.{name}" for verb in ("INFO", "MSG.NEXT", "DELETE")]
    return tuple(subjects)


def _streams() -> tuple[str, ...]:
    """Return the subjects of JetStream's API for reading streams without a consumer."""
    return (
        f"$JS.API.DIRECT.GET.RECEIPTS.rc.{_ME}.*",
        "$JS.API.DIRECT.GET.GRAPH",
        *(f"$JS.API.DIRECT.GET.{stream}{end}" for stream in _READ_BY_SUBJECT for end in ("", ".>")),
        # Not of AUTHORITY: it would tell the subjects under which that stream takes messages.
        *(f"$JS.API.STREAM.INFO.{stream}" for stream in ("TOPICS", "MEMBERS", "PRESENCE", "SHARED", "FILES", "GRAPH")),
        "$JS.API.DIRECT.GET.FILES.f.>",
    )


MEMBER = ScopedPermissions(
    role="member",
    template=Permissions(
        publish=(
            f"dm.*.{_ME}",
            f"t.*.{_ME}",
            f"m.{_ME}",
            f"p.{_ME}",
            f"h.{_ME}",
            f"rc.*.{_ME}",
            f"q.*.{_ME}",  # requests to peers, and answers
            "s.*.*",  # documents that all share; who has written one is told by its signature
            f"f.{_ME}.*.*",  # chunks of files; the stream keeps the first one of each subject
            f"g.{_ME}",  # statements of the graph
            f"ask.{_ME}",
            *_consumers(),
            *_streams(),
        ),
        subscribe=(f"{inbox_prefix(_ME)}.>", f"rc.{_ME}.*", f"q.{_ME}.*", "p.*", "a.>", "m.*"),
        subscriptions=MEMBER_SUBSCRIPTIONS,
    ),
)
"""What a member may. Its claims are signed with a key of this scope."""

INVITE = ScopedPermissions(
    role="invite",
    template=Permissions(
        publish=("join.{{name()}}",),
        subscribe=(f"{inbox_prefix(_ME)}.>",),
        subscriptions=8,
    ),
)
"""What the holder of an invite may: ask to join. The name in its claims is the id of the invite."""

AUTHORITY = Permissions(publish=(">",), subscribe=(">",))
"""What the authority of a mesh may: everything within the account."""
