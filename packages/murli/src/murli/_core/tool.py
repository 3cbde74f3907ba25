"""The tool as a whole: its command tree, its name, its version and the commands that murli adds to it."""

from __future__ import annotations

import os

from murli._core.command import profileable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli._core.command import Command, Flag

DEVELOPMENT = "MURLI_DEV"
"""The environment variable that turns on `doctor` and the naming advisories."""


def in_development() -> bool:
    """Whether the author is at work: the variable is set, and not to 0."""
    return os.environ.get(DEVELOPMENT, "0") not in ("", "0")


BUILTINS = ("describe", "profile", "doctor")


class Tool:
    """What the runner and the built-in commands need to know of the tool they serve."""

    def __init__(self, root: Command, version: str) -> None:
        self.root = root
        self.name = root.name
        self.version = version

    @property
    def profile_path(self) -> str:
        """Where the tool's profiles are kept."""
        return os.path.join(os.path.expanduser("~"), f".{self.name}", "profiles.json")

    def profileable(self) -> list[Flag]:
        """Every flag of the tool that a profile may hold, by name."""
        return profileable(self.root)

    def builtins(self) -> list[Command]:
        """The commands murli adds to this tool; a command of the tool with the same name stays the tool's."""
        from murli._core import builtin  # most calls need none of them

        found = builtin.commands(self, development=in_development())
        return [command for command in found if not (self.root.is_group and self.root.find(command.name))]

    def mounted(self, command: Command, word: str) -> Command | None:
        """The built-in command of that name below `command`."""
        if command is not self.root or word not in BUILTINS:
            return None
        return next((builtin for builtin in self.builtins() if builtin.name == word), None)

    def names(self, command: Command) -> list[str]:
        """The names of the visible commands of a group, murli's own included."""
        added = self.builtins() if command is self.root else []
        return [*(child.name for child in [*command.children, *added] if not child.hidden), *command.other_names]
