"""For whom something is: a member, an agent of it, or everyone in a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from covey.mesh.names import check_agent, check_group
from murli import AgentError

if TYPE_CHECKING:
    from covey.mesh.directory.directory import Directory


class Addressee(Struct, frozen=True):
    """A member, an agent of it, or anyone of a group. All empty: nobody in particular."""

    member: str = ""
    agent: str = ""
    group: str = ""

    def includes(self, member: str, directory: Directory) -> bool:
        """Return whether a member is meant, by itself or in its group."""
        return self.member == member or (bool(self.group) and member in directory.group(self.group))

    def label(self, directory: Directory) -> str:
        """Return it as it was written: @name, @name/agent or @group; empty if it is nobody in particular."""
        if self.member:
            return f"@{directory.name_of(self.member)}{'/' if self.agent else ''}{self.agent}"
        return f"@{self.group}" if self.group else ""


def find_addressee(reference: str, directory: Directory, field: str) -> Addressee:
    """Return who is meant by @name, a member key, @name/agent or @group. Raises AgentError if nobody is."""
    text, slash, agent = reference.partition("/")
    if slash:
        check_agent(agent, field)
    try:
        return Addressee(member=directory.find(text), agent=agent)
    except AgentError as error:
        error.field = field
        if slash or not text.startswith("@") or not directory.group(text[1:]):
            raise
        return Addressee(group=check_group(text))
