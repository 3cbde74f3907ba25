"""Names that people choose: of meshes, members, groups and topics. Each raises AgentError for one that cannot be."""

from __future__ import annotations

import re

from murli import user_error

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_TOPIC = re.compile(r"[\w]([\w./:-]{0,126}[\w])?")
_KEY = re.compile(r"U[A-Z2-7]{55}", re.IGNORECASE)
SHORTEST_KEY = 6
"""Characters at the beginning of a member's key by which it can be meant."""
_PANE = re.compile(r"%[0-9]+")
LONGEST_AGENT = 256
EVERYBODY = "*"
"""The topic of messages to all members."""


def check_slug(text: str) -> str:
    """Return the slug of a mesh, as it is."""
    if not _SLUG.fullmatch(text):
        raise user_error(
            f"{text[:60]!r} cannot name a mesh",
            "Use a-z, 0-9 and dashes inside, at most 40 characters, such as prod or my-team.",
            field="slug",
        )
    return text


def check_member_name(text: str) -> str:
    """Return the name of a member, as it is."""
    return _name(text, "member", "name")


def check_group(text: str) -> str:
    """Return the name of a group without a leading @."""
    return _name(text.removeprefix("@"), "group", "name")


def check_topic(text: str) -> str:
    """Return the name of a topic without a leading #."""
    name = text.removeprefix("#")
    if not _TOPIC.fullmatch(name):
        raise user_error(
            f"{text[:60]!r} cannot name a topic",
            "Use letters, digits and - _ . / : inside, at most 128 characters, such as alerts or ci/main.",
            field="topic",
        )
    return name


def check_agent(text: str, field: str) -> str:
    """Return the name of an agent of a host, as it is. Which agents there are, that host alone knows.

    Names are those that `covey send` takes, without blanks: %14, api, api:2.1, host/api, runtime:<id>.
    """
    parts = text.split("/")
    if len(text) > LONGEST_AGENT or not all(map(_is_part_of_agent, parts)):
        raise user_error(
            f"{text[:60]!r} cannot name an agent",
            "Use a name as `covey send` takes it, without blanks, such as api, api:2.1, host/api or %14.",
            field=field,
        )
    return text


def _is_part_of_agent(part: str) -> bool:
    """Return whether a part between slashes can be that of a pane, a session, or the target that has it."""
    if "%" in part:
        return _PANE.fullmatch(part) is not None
    return bool(part.strip(".")) and part.isprintable() and not any(map(str.isspace, part))


def _name(text: str, what: str, field: str) -> str:
    if _KEY.fullmatch(text):
        raise user_error(
            f"{text[:12]}… cannot name a {what}: it looks like the key of a member",
            "Keys are what a member cannot choose. Use a name such as worker-3.",
            field=field,
        )
    if not _NAME.fullmatch(text):
        raise user_error(
            f"{text[:60]!r} cannot name a {what}",
            "Use letters, digits and . _ - inside, at most 63 characters, such as worker-3.",
            field=field,
        )
    return text
