"""The contract of an adapter: what Covey must know about one agent CLI to recognise its process and to read its title
and its screen.

An adapter is a value. It does no IO: whoever has a process, a title or a screen asks it what they mean.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from covey.agents.versions import compare, version
from covey.agents.versions import text as version_text
from covey.kernel.time_limit import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from covey.agents.dialogs import DialogShape
    from covey.agents.screens.patterns import Patterns, Reading
    from covey.agents.versions import Version

CONTRACT_VERSION = 1
BUILT_IN = "built-in"
READING_S = 0.05
"""Of processor time, for reading one screen or title. Of all screens that were captured, the slowest takes 8 ms."""


class Process(Protocol):
    """What an adapter wants to know about a process."""

    @property
    def name(self) -> str:
        """What the kernel calls it: at most 15 characters, and not always the program's name."""

    @property
    def argv(self) -> Sequence[str]: ...

    @property
    def exe(self) -> str: ...


class Capabilities(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    event_driven: bool = False
    polling_required: bool = True
    supports_waiting_approval: bool = True
    supports_waiting_input: bool = True
    supports_completed: bool = False


class ProcessShape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the agent's process looks. Names may have wildcards: `python*`."""

    names: tuple[str, ...] = ()
    """The program: as the kernel names it, the last part of its path, or of the script that a launcher runs."""
    paths: tuple[str, ...] = ()
    """Whole paths of the program or script, for those whose own name says nothing: `*/@google/gemini-cli/*`."""
    launchers: tuple[str, ...] = ("node", "nodejs", "bun", "deno")
    """Programs that run the agent's script: their first argument that is no option names it."""
    batch: tuple[str, ...] = ()
    """Options, or first arguments, with which it works without a person and without a screen."""

    def fits(self, process: Process) -> bool:
        argv = process.argv
        program = argv[0] if argv else ""
        script = ""
        arguments = argv[1:]
        if _any(_base(program), self.launchers):
            at = next((at for at, word in enumerate(argv) if at and not word.startswith("-")), len(argv))
            script, arguments = "".join(argv[at : at + 1]), argv[at + 1 :]
        names = {process.name, _base(process.exe), _base(program).removeprefix("-"), _base(script)} - {""}
        known = any(_any(name, self.names) for name in names) or any(
            _any(path, self.paths) for path in (process.exe, program, script)
        )
        return known and not self._is_batch(arguments)

    def _is_batch(self, arguments: Sequence[str]) -> bool:
        if not self.batch:
            return False
        words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
        first = next((word for word in words if not word.startswith("-")), "")
        return first in self.batch or any(
            word.startswith("-") and word.partition("=")[0] in self.batch for word in words
        )


class CompiledVersions:
    """The patterns of an agent for each range of versions. They are compiled when they are first wanted.

    A daemon seldom sees all agents, and compiling the patterns of all of them is a good part of its start.
    """

    def __init__(self, compile_all: Callable[[], tuple[Patterns, ...]]) -> None:
        self._compile_all = compile_all

    @cached_property
    def all(self) -> tuple[Patterns, ...]:
        """Newest first."""
        return self._compile_all()

    @cached_property
    def newest(self) -> Patterns:
        """The patterns of the newest version that was measured."""
        return self.all[0].at(self.all[0].newest)


class Adapter(Struct, frozen=True, kw_only=True):
    """One agent CLI."""

    name: str
    title: str
    capabilities: Capabilities
    process: ProcessShape
    compiled: CompiledVersions
    chosen: Patterns | None = None
    """The patterns of the version at hand; None if the version is not known."""
    contract_version: int = CONTRACT_VERSION
    caveat: str = ""
    """Why the patterns may not fit the version at hand; every reading repeats it."""
    origin: str = BUILT_IN
    """Where it is described."""
    dialogs: tuple[DialogShape, ...] = ()
    """Beside those of `agents/<name>/dialogs.py`."""

    def at(self, text: str) -> Adapter:
        """This adapter for one version of the agent, with the rules of that version.

        The caveat says if that version was never measured. Without a version, the rules are those of the newest that
        was measured.
        """
        wanted = version(text)
        if not wanted:
            return replace(self, chosen=None, caveat="")
        fitting = next((patterns for patterns in self.versions if wanted in patterns.when), None)
        if fitting is None:
            nearest = self.versions[0] if compare(wanted, self.versions[0].when.start) > 0 else self.versions[-1]
            caveat = f"{self.title} {text} has no patterns of its own; those for {nearest.when.text} were used"
            return replace(self, chosen=nearest.at(wanted), caveat=caveat)
        return replace(self, chosen=fitting.at(wanted), caveat=self._caveat(wanted))

    @property
    def versions(self) -> tuple[Patterns, ...]:
        """The patterns of each range of versions, newest first."""
        return self.compiled.all

    @property
    def patterns(self) -> Patterns:
        """The patterns of the version at hand; of the newest that was measured, if it is not known."""
        return self.chosen or self.compiled.newest

    @property
    def tested(self) -> tuple[str, ...]:
        """The versions that were measured, oldest first."""
        return tuple(version_text(one) for one in sorted(one for patterns in self.versions for one in patterns.tested))

    def _caveat(self, wanted: Version) -> str:
        """Return why a version may be read wrongly; empty if it was measured, or if no measured version is named."""
        tested = sorted(one for patterns in self.versions for one in patterns.tested)
        if not tested or any(compare(wanted, one) == 0 for one in tested):
            return ""
        older = [one for one in tested if compare(one, wanted) < 0]
        newer = [one for one in tested if compare(one, wanted) > 0]
        name = f"{self.title} {version_text(wanted)}"
        if older and newer:
            return f"{name} was never measured; {version_text(older[-1])} and {version_text(newer[0])} were"
        if older:
            return f"{name} is newer than {version_text(older[-1])}, the newest version that was measured"
        return f"{name} is older than {version_text(newer[0])}, the oldest version that was measured"

    def identify(self, process: Process) -> bool:
        """Whether the process is this agent, with a person to talk to."""
        return self.process.fits(process)

    def read_title(self, title: str) -> Reading | None:
        """Return the state that a terminal title tells; None where it tells none.

        Raises TooLongError if that took more than READING_S.
        """
        patterns = self.patterns  # compiled by the first use, which takes longer
        with limited(READING_S):
            return self._with_caveat(patterns.read_title(title))

    def read_screen(self, screen: str, escapes: str = "", title: str = "", in_mode: bool = False) -> Reading | None:  # noqa: FBT001, FBT002 - one flag of a pane, mostly passed by name
        """Return the state that a screen shows; None if no rule holds, or a mode of tmux (scrolling, choosing) covers
        it.

        With `escapes`, the same screen with its colours, suggestions are distinguished from drafts. The title is used
        where the screen says nothing. Raises TooLongError if that took more than READING_S.
        """
        patterns = self.patterns  # compiled by the first use, which takes longer
        with limited(READING_S):
            return None if in_mode else self._with_caveat(patterns.read_screen(screen, escapes, title))

    def _with_caveat(self, reading: Reading | None) -> Reading | None:
        return replace(reading, caveat=self.caveat) if reading and self.caveat else reading


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _any(name: str, patterns: Sequence[str]) -> bool:
    return bool(name) and any(fnmatchcase(name, pattern) for pattern in patterns)
