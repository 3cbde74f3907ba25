"""All beats there are, read from config.toml's workspaces and the HEARTBEAT.md files in them. What cannot run is listed with what is wrong: nothing is left out in silence."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from covey.beats import options
from covey.beats.beat import Beat
from covey.beats.frontmatter import Frontmatter, split
from covey.beats.permissions import DEFAULT_DENY
from covey.beats.places import LARGEST_FILE, Place, places
from covey.kernel.config_file import Problem
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from covey.agents.headless.agent import HeadlessAgent


class Entry(Struct, frozen=True, kw_only=True):
    """A beat as it is listed. It has a `beat` exactly if it has no problems; the names of those are unique."""

    name: str
    workspace: str
    file: str
    beat: Beat | None = None
    body: str = ""
    """The instructions: the file without its head."""
    description: str = ""
    problems: tuple[Problem, ...] = ()
    missing: bool = False
    """It cannot run because its file is not there."""

    @property
    def complaints(self) -> list[str]:
        """The problems as sentences that say where they are."""
        return [f"{self.file}, {problem}" if problem.line else f"{self.file}: {problem}" for problem in self.problems]


class _Draft(Struct, kw_only=True):
    """An entry before it has its name."""

    place: Place
    body: str = ""
    fields: dict[str, Any]
    lines: dict[str, int]
    problems: list[Problem]
    explicit: str = ""
    """What somebody called it; empty if its folder gives the name."""

    def default(self, depth: int) -> str:
        """The name by so many folders of its workspace."""
        folders = [name for name in Path(self.place.workspace).parts if name != "/"] or ["root"]
        name = "/".join([*folders[-depth:], *([self.place.part] if self.place.part else [])])
        return "".join(character if character.isprintable() else "_" for character in name)


class Book:
    """The beats of a machine. `entries`: all that the last look found, in the order of the configuration. `beats`: those that can run, by name."""

    def __init__(self, home: str, agents: Mapping[str, HeadlessAgent], clock: Callable[[], float] = time.time) -> None:
        """`home`: the folder that `~` means. `clock`: the one that files are stamped with."""
        self._home = home
        self._agents = agents
        self._clock = clock
        self._files: dict[str, tuple[Place, Frontmatter]] = {}
        self._seen: list[Place] = []
        self.entries: tuple[Entry, ...] = ()
        self.beats: dict[str, Beat] = {}

    @classmethod
    def load(cls, workspaces: Sequence[Mapping[str, Any]], home: str, agents: Mapping[str, HeadlessAgent]) -> Book:
        """The book of these workspaces, given as the setting beats.workspace gives them."""
        book = cls(home, agents)
        book.reload(workspaces)
        return book

    def reload(self, workspaces: Sequence[Mapping[str, Any]]) -> bool:
        """Look again; tells whether anything is different now. Reads only files that have changed."""
        seen = list(places(workspaces, self._home, self._clock()))
        if seen == self._seen and all(place.settled for place in seen):
            return False
        files = {place.file: self._content(place) for place in seen if place.stamp}
        drafts = [_draft(place, files[place.file][1] if place.stamp else None) for place in seen]
        before = self.entries
        self.entries = tuple(self._entry(draft, name) for draft, name in zip(drafts, _names(drafts), strict=True))
        self.beats = {entry.beat.name: entry.beat for entry in self.entries if entry.beat}
        self._seen, self._files = [files[place.file][0] if place.stamp else place for place in seen], files
        return self.entries != before

    def _content(self, place: Place) -> tuple[Place, Frontmatter]:
        """The file of a place taken apart; if it cannot be read, that is its problem, until the next look."""
        known = self._files.get(place.file)
        if known and known[0] == place and place.settled:
            return known
        try:
            return place, split(read_regular(place.file, LARGEST_FILE).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            return place, Frontmatter(
                {},
                "",
                (
                    Problem(
                        "", line, f"byte 0x{error.object[error.start]:02x} is not valid UTF-8: save the file as UTF-8"
                    ),
                ),
            )
        except OSError as error:
            return replace(place, settled=False), Frontmatter(
                {}, "", (Problem("", 0, f"this file cannot be read: {error.strerror or error}"),)
            )

    def _entry(self, draft: _Draft, name: str) -> Entry:
        place, problems, fields = draft.place, draft.problems, draft.fields
        description = fields.pop("description", "")
        wanted = fields.get("agent", "claude")
        agent = self._agents.get(wanted)
        if agent is None and not place.problem:
            sentence = f"agent: {wanted[:60]} is not an agent that can run beats{options.nearest(wanted, self._agents)}"
            problems.append(_problem(draft.lines, "agent", sentence))
        beat = None
        if agent and not problems:
            beat = Beat(
                **{"deny": DEFAULT_DENY, **fields, "name": name, "workspace": place.workspace, "file": place.file}
            )
            problems += [Problem("agent", draft.lines.get("agent", 0), sentence) for sentence in agent.objections(beat)]
        return Entry(
            name=name,
            workspace=place.workspace,
            file=place.file,
            beat=None if problems else beat,
            body=draft.body,
            description=description,
            problems=tuple(problems),
            missing=place.missing,
        )


def _draft(place: Place, front: Frontmatter | None) -> _Draft:
    if front is None:
        return _Draft(place=place, fields={}, lines={}, problems=[Problem("", 0, place.problem)])
    config, wrong_in_config = options.canonical(options.as_texts(place.table))
    head, wrong_in_head = options.canonical(front.head)
    together = options.merged(config, head)
    fields, wrong = options.read(together)
    problems = [
        *front.problems,
        *(_problem(front.lines, name, sentence) for name, sentence in (*wrong_in_config, *wrong_in_head, *wrong)),
    ]
    if not front.problems:  # with a broken head nobody knows what else it says
        misspelt = {
            name
            for name, _ in (*wrong_in_config, *wrong_in_head)
            if options.nearest(name, ("interval", "cron")).startswith("; did")
        }
        if "interval" not in together and "cron" not in together and not misspelt:
            problems.append(
                Problem(
                    "interval",
                    0,
                    "nothing says when it runs: put interval: 30m, or a cron expression, in the head of the file",
                )
            )
        if not front.body.strip():
            problems.append(Problem("", 0, "there are no instructions in it: write below the head what to do"))
    explicit = fields.pop("name", "")
    if explicit and place.part and "name" not in head:
        explicit += f"/{place.part}"  # the configuration's name is that of the workspace
    return _Draft(place=place, body=front.body, fields=fields, lines=front.lines, problems=problems, explicit=explicit)


def _problem(lines: Mapping[str, int], name: str, sentence: str) -> Problem:
    """A problem with an option, at its line in the head; without one it is the configuration's."""
    line = next((lines[written] for written in options.spellings(name) if written in lines), 0)
    return Problem(name, line, sentence if line else f"{sentence} (in config.toml)")


def _names(drafts: Sequence[_Draft]) -> list[str]:
    """A name for each. Given ones are kept, and a second one of the same name has a problem; folders that are called alike get the folder above in front."""
    given: set[str] = set()
    for draft in drafts:
        if draft.explicit in given:
            draft.problems.append(
                _problem(draft.lines, "name", f"name: {draft.explicit} is the name of another beat: give it another")
            )
            draft.explicit = ""
        elif draft.explicit:
            given.add(draft.explicit)
    depths = [1] * len(drafts)
    for _ in range(max((len(Path(draft.place.workspace).parts) for draft in drafts), default=0)):
        names = [draft.explicit or draft.default(depth) for draft, depth in zip(drafts, depths, strict=True)]
        times = Counter({draft.place.file: name for draft, name in zip(drafts, names, strict=True)}.values())
        if max(times.values()) == 1:
            break
        depths = [depth + (times[name] > 1) for name, depth in zip(names, depths, strict=True)]
    names = [draft.explicit or draft.default(depth) for draft, depth in zip(drafts, depths, strict=True)]
    taken: set[str] = set()
    for draft, name in zip(drafts, names, strict=True):
        if name in taken and not draft.problems:
            draft.problems.append(
                Problem("name", 0, f"{name} is the name of another beat: put a name in the head of the file")
            )
        taken.add(name)
    return names
