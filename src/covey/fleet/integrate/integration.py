"""What must be known to integrate one agent. One small file per agent says it; a file of settings that others write to as well is `table.HooksTable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from covey.fleet.integrate.edit import NotEditable

if TYPE_CHECKING:
    from pathlib import Path

    from covey.fleet.integrate.place import Launch, Place


class Integration:
    """A file that is ours alone, as a whole."""

    name: ClassVar[str]
    title: ClassVar[str]
    remarks: ClassVar[tuple[str, ...]] = ()
    """What a person should know who has just installed the hooks."""

    @property
    def adds(self) -> str:
        """What its file gets, for a person."""
        return "a file of Covey's own, beside the agent's settings"

    def file(self, place: Place) -> Path:
        """Where the agent reads its hooks."""
        raise NotImplementedError

    def content(self, place: Place) -> bytes:
        """What our file says."""
        raise NotImplementedError

    def installed(self, path: Path, before: bytes | None, place: Place) -> bytes:
        """The file with our hooks, in their present form."""
        if before is not None and not self.has_ours(path, before):
            raise NotEditable(path, "is in the place of Covey's own file, but is not Covey's", f"Move it away: mv '{path}' '{path}.mine'")
        return self.content(place)

    def removed(self, path: Path, before: bytes) -> bytes | None:
        """The file without our hooks; `None` when it is no longer needed."""
        return None if self.has_ours(path, before) else before

    def has_ours(self, path: Path, content: bytes) -> bool:
        """Whether any of our hooks is there, in whatever form."""
        del path
        return b"covey-hook" in content

    def warnings(self, path: Path, content: bytes) -> list[str]:
        """What in the file keeps our hooks from running."""
        del path, content
        return []

    def launch(self, place: Place) -> Launch | None:
        """How to start the agent with our hooks and without touching its settings; `None` if it knows no way."""
        del place
        return None
