"""A patch in the form of Codex's `apply_patch`, read so that the files it names are all that it can change. Pure."""

from __future__ import annotations

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, UPDATE, DELETE, MOVE = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "
END_OF_FILE = "*** End of File"
_BODY = {ADD: "+", UPDATE: " +-@", MOVE: " +-@", DELETE: ""}
"""How the lines below a head may begin."""


class Patch:
    """The files that a patch names, and why it is not understood.

    Codex takes the blanks off a line before it looks for a head, so a line that is one only then is two readings. For
    what is to be denied, `paths` has those files too.
    """

    def __init__(self, text: str) -> None:
        self.paths: list[str] = []
        self.objection = ""
        lines = text.strip("\n").split("\n")
        if lines[0] != BEGIN or lines[-1] != END or len(lines) < 2:  # noqa: PLR2004 - its first and last line
            self.objection = "it is not one patch from its first to its last line"
        head = ""
        for line in lines[1:-1] if not self.objection else lines:
            head = self._read(line, head)
        if not self.paths:
            self.objection = self.objection or "it is a patch without a file"

    def _read(self, line: str, head: str) -> str:
        """Take one line, and return the head under which the next one is."""
        found = next((mark for mark in _BODY if line.strip().startswith(mark.strip())), "")
        if found:
            path = line.strip()[len(found.strip()) :].strip()
            self.paths.append(path)
            moves_nothing = found == MOVE and head != UPDATE
            if line != f"{found}{path}" or not path.isprintable() or not path or moves_nothing:
                self._object("a line of the patch names a file in a way that can be read otherwise")
            return found
        if line.strip().startswith("***") and not line.startswith(("+", "-")):
            if line != END_OF_FILE or head not in {UPDATE, MOVE}:
                self._object("a line of the patch can be read as the head of a change")
        elif not head or not (line[:1] in _BODY[head] if line else head in {UPDATE, MOVE}):
            self._object("the patch has a line that belongs to no file")
        return head

    def _object(self, why: str) -> None:
        self.objection = self.objection or why
