"""A scenario: what the model does with each prompt and what the person does, as one short TOML file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.script import Script, ScriptError

if TYPE_CHECKING:
    from lab.agents.agent import Agent

FOLDER = Path(__file__).parent / "scenarios"
PERSON = {
    "type": "type TEXT: paste it into the composer and press Enter",
    "draft": "draft TEXT: leave it in the composer",
    "paste": "paste LINES: paste that many lines into the composer",
    "clear": "clear: empty the composer",
    "key": "key KEYS: press them one after the other",
    "approve": "approve the open dialog",
    "deny": "deny the open dialog",
    "choose": "choose: answer the open question with its first choice",
    "trust": "trust: accept the trust dialog",
    "interrupt": "interrupt what is running",
    "compact": "compact: have the conversation summarised",
    "scroll": "scroll: enter copy-mode",
    "unscroll": "unscroll: leave copy-mode",
    "until": "until STATE: wait for it to be true",
    "see": "see REGEX: wait for it on the screen",
    "shows": (
        "shows STATE REGEX: as see, for a dialog or message that puts the agent into that state and does not come from "
        "the model"
    ),
    "drawn": (
        "drawn REGEX: as see, for an answer that takes long to draw; until then nobody can say whether the agent is "
        "done"
    ),
    "rest": "rest SECONDS: do nothing",
    "capture": "capture CASE: store everything that can be seen",
    "quit": "quit: leave the agent by its own command",
    "kill": "kill: kill -9",
}
BARE = {"clear", "approve", "deny", "choose", "trust", "interrupt", "compact", "scroll", "unscroll", "quit", "kill"}


@dataclass(frozen=True)
class Act:
    """One thing the person does."""

    verb: str
    argument: str = ""


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    script: Script
    person: tuple[Act, ...]
    agents: frozenset[str] | None = None
    """The agents it makes sense for; all when None."""
    trusted: bool = True
    retries: int = 0
    opens: tuple[str, str] | None = None
    """The state in which the agent starts, and what its screen then shows, where a dialog comes before the prompt."""
    options: frozenset[str] = frozenset()
    """Start options by name; the agent's file knows what each of them means."""

    def fits(self, agent: type[Agent]) -> bool:
        return self.name not in agent.skips and (self.agents is None or agent.name in self.agents)


def act(line: str) -> Act:
    verb, _, argument = line.strip().partition(" ")
    if verb not in PERSON or bool(argument) == (verb in BARE):
        raise ScriptError(f"{line!r} does not read; a person can: {'; '.join(PERSON.values())}")
    return Act(verb, argument)


def read(name: str, table: dict[str, Any]) -> Scenario:
    strange = set(table) - {"about", "agents", "trusted", "retries", "opens", "options", "model", "person"}
    if strange:
        raise ScriptError(f"scenario {name} has unknown keys: {', '.join(sorted(strange))}")
    try:
        return Scenario(
            name,
            table["about"],
            Script.parse(table.get("model", {})),
            tuple(act(line) for line in table["person"]),
            frozenset(table["agents"]) if "agents" in table else None,
            table.get("trusted", True),
            table.get("retries", 0),
            _opening(table.get("opens")),
            frozenset(table.get("options", ())),
        )
    except KeyError as missing:
        raise ScriptError(f"scenario {name} lacks {missing}") from None
    except ScriptError as error:
        raise ScriptError(f"scenario {name}: {error}") from None


def _opening(value: object) -> tuple[str, str] | None:
    match value:
        case None:
            return None
        case [str(state), str(pattern)]:
            return state, pattern
    raise ScriptError("`opens` must name a state and what the screen then shows")


def load(name: str, folder: Path = FOLDER) -> Scenario:
    file = folder / f"{name}.toml"
    if not file.is_file():
        raise ScriptError(f"there is no scenario {name!r}; there are: {', '.join(names(folder))}")
    return read(name, tomllib.loads(file.read_text(encoding="utf-8")))


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(file.stem for file in folder.glob("*.toml"))
