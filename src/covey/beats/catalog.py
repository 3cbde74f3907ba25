"""The catalog of all beats, read from config.toml's workspaces and the HEARTBEAT.md files in them.

A beat that cannot run is listed with what is wrong: nothing is left out silently.
"""

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
from covey.beats.heartbeat_files import LARGEST_FILE, HeartbeatFile, find_heartbeat_files
from covey.beats.permissions import DEFAULT_DENY
from covey.kernel.config.file import Problem
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from covey.agents.headless.agent import HeadlessAgent
    from covey.beats.agreements import Agreements


class CatalogEntry(Struct, frozen=True, kw_only=True):
    """A beat as it is listed. It has a `beat` exactly if it has no problems; names of such entries are unique."""

    name: str
    workspace: str
    file: str
    beat: Beat | None = None
    body: str = ""
    """The instructions: the file without its head."""
    part: str = ""
    """The name of its folder below heartbeats/; empty for the workspace's own file."""
    agreed_to: dict[str, Any] | None = None
    """The options of its head that a person has to agree to, as they are written; None if there is nothing to read."""
    description: str = ""
    problems: tuple[Problem, ...] = ()
    missing: bool = False
    """It cannot run because its file is not there."""

    @property
    def problem_lines(self) -> list[str]:
        """The problems as sentences with their file and line."""
        return [f"{self.file}, {problem}" if problem.line else f"{self.file}: {problem}" for problem in self.problems]


class _Draft(Struct, kw_only=True):
    """An entry before it has its name."""

    file: HeartbeatFile
    body: str = ""
    fields: dict[str, Any]
    agreed_to: dict[str, Any] | None = None
    lines: dict[str, int]
    problems: list[Problem]
    explicit: str = ""
    """The name that its options give; empty if its folder gives the name."""

    def default_name(self, depth: int) -> str:
        """Return the name made of the last `depth` folders of its workspace."""
        folders = [name for name in Path(self.file.workspace).parts if name != "/"] or ["root"]
        name = "/".join([*folders[-depth:], *([self.file.part] if self.file.part else [])])
        return "".join(character if character.isprintable() else "_" for character in name)


class BeatCatalog:
    """The beats of a machine.

    `entries` holds all that the last reload found, in the order of the configuration; `beats` those that can run, by
    name.
    """

    def __init__(
        self,
        home: str,
        agents: Mapping[str, HeadlessAgent],
        clock: Callable[[], float] = time.time,
        *,
        agreements: Agreements | None = None,
    ) -> None:
        """`home` is the folder that `~` means, `clock` the one by which files are stamped.

        With `agreements`, a beat whose options nobody has agreed to has a problem.
        """
        self._home = home
        self._agents = agents
        self._clock = clock
        self._agreements = agreements
        self._contents: dict[str, tuple[HeartbeatFile, Frontmatter]] = {}
        self._seen: list[HeartbeatFile] = []
        self.entries: tuple[CatalogEntry, ...] = ()
        self.beats: dict[str, Beat] = {}

    @classmethod
    def load(
        cls, workspaces: Sequence[Mapping[str, Any]], home: str, agents: Mapping[str, HeadlessAgent]
    ) -> BeatCatalog:
        """Return the catalog of these workspaces, in the form of the setting beats.workspace."""
        catalog = cls(home, agents)
        catalog.reload(workspaces)
        return catalog

    def reload(self, workspaces: Sequence[Mapping[str, Any]]) -> bool:
        """Read the files that have changed. Returns whether any entry is different now."""
        seen = list(find_heartbeat_files(workspaces, self._home, self._clock()))
        is_same = self._agreements is None or not self._agreements.reload()
        if is_same and seen == self._seen and all(file.settled for file in seen):
            return False
        contents = {file.path: self._content(file) for file in seen if file.stamp}
        drafts = [_draft(file, contents[file.path][1] if file.stamp else None) for file in seen]
        entries = tuple(self._entry(draft, name) for draft, name in zip(drafts, _names(drafts), strict=True))
        if self._agreements is not None:
            self._agreements.see(heads_of(entries))
            entries = tuple(_checked(entry, self._agreements) for entry in entries)
        before = self.entries
        self.entries = entries
        self.beats = {entry.beat.name: entry.beat for entry in self.entries if entry.beat}
        self._seen = [contents[file.path][0] if file.stamp else file for file in seen]
        self._contents = contents
        return self.entries != before

    def _content(self, file: HeartbeatFile) -> tuple[HeartbeatFile, Frontmatter]:
        """Return a file with its parsed content. If it cannot be read, that is its problem until the next reload."""
        known = self._contents.get(file.path)
        if known and known[0] == file and file.settled:
            return known
        try:
            return file, split(read_regular(file.path, LARGEST_FILE).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            byte = error.object[error.start]
            problem = Problem("", line, f"byte 0x{byte:02x} is not valid UTF-8: save the file as UTF-8")
            return file, Frontmatter({}, "", (problem,))
        except OSError as error:
            problem = Problem("", 0, f"this file cannot be read: {error.strerror or error}")
            return replace(file, settled=False), Frontmatter({}, "", (problem,))

    def _entry(self, draft: _Draft, name: str) -> CatalogEntry:
        file, problems, fields = draft.file, draft.problems, draft.fields
        description = fields.pop("description", "")
        wanted = fields.get("agent", "claude")
        agent = self._agents.get(wanted)
        if agent is None and not file.problem:
            sentence = f"agent: {wanted[:60]} is not an agent that can run beats{options.nearest(wanted, self._agents)}"
            problems.append(_problem(draft.lines, "agent", sentence))
        beat = None
        if agent and not problems:
            identity = {"name": name, "workspace": file.workspace, "file": file.path}
            beat = Beat(**{"deny": DEFAULT_DENY, **fields, **identity})
            problems += [Problem("agent", draft.lines.get("agent", 0), sentence) for sentence in agent.objections(beat)]
        return CatalogEntry(
            name=name,
            workspace=file.workspace,
            file=file.path,
            beat=None if problems else beat,
            body=draft.body,
            part=file.part,
            agreed_to=draft.agreed_to,
            description=description,
            problems=tuple(problems),
            missing=file.missing,
        )


def _checked(entry: CatalogEntry, agreements: Agreements) -> CatalogEntry:
    """Return an entry that can run, or the entry with the problem that nobody has agreed to its options."""
    if entry.beat is None:
        return entry
    objection = agreements.objection(entry.workspace, entry.part, entry.agreed_to or {})
    return replace(entry, beat=None, problems=(Problem("", 0, objection),)) if objection else entry


def heads_of(entries: Iterable[CatalogEntry]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the options that a person has to agree to, by workspace and file.

    A workspace that is not there is left out; one without a file is empty.
    """
    heads: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in entries:
        if Path(entry.workspace).is_dir():
            known = heads.setdefault(entry.workspace, {})
            if entry.agreed_to is not None:
                known[entry.part] = entry.agreed_to
    return heads


def _draft(file: HeartbeatFile, front: Frontmatter | None) -> _Draft:
    if front is None:
        return _Draft(file=file, fields={}, lines={}, problems=[Problem("", 0, file.problem)])
    config, wrong_in_config = options.canonical(options.as_texts(file.table))
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
            sentence = "nothing says when it runs: put interval: 30m, or a cron expression, in the head of the file"
            problems.append(Problem("interval", 0, sentence))
        if not front.body.strip():
            problems.append(Problem("", 0, "there are no instructions in it: write below the head what to do"))
    explicit = fields.pop("name", "")
    if explicit and file.part and "name" not in head:
        explicit += f"/{file.part}"  # the configuration's name is that of the workspace
    return _Draft(
        file=file,
        body=front.body,
        fields=fields,
        agreed_to=options.agreed_to(head),
        lines=front.lines,
        problems=problems,
        explicit=explicit,
    )


def _problem(lines: Mapping[str, int], name: str, sentence: str) -> Problem:
    """Return a problem with an option, at its line in the head; without a line it is in the configuration."""
    line = next((lines[written] for written in options.spellings(name) if written in lines), 0)
    return Problem(name, line, sentence if line else f"{sentence} (in config.toml)")


def _names(drafts: Sequence[_Draft]) -> list[str]:
    """Return a name for each draft.

    Given names are kept, and a second beat of the same name has a problem; folders with equal names get the folder
    above in front.
    """
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
    for _ in range(max((len(Path(draft.file.workspace).parts) for draft in drafts), default=0)):
        names = [draft.explicit or draft.default_name(depth) for draft, depth in zip(drafts, depths, strict=True)]
        times = Counter({draft.file.path: name for draft, name in zip(drafts, names, strict=True)}.values())
        if max(times.values()) == 1:
            break
        depths = [depth + 1 if times[name] > 1 else depth for name, depth in zip(names, depths, strict=True)]
    names = [draft.explicit or draft.default_name(depth) for draft, depth in zip(drafts, depths, strict=True)]
    taken: set[str] = set()
    for draft, name in zip(drafts, names, strict=True):
        if name in taken and not draft.problems:
            draft.problems.append(
                Problem("name", 0, f"{name} is the name of another beat: put a name in the head of the file")
            )
        taken.add(name)
    return names
