"""One examination of one tool: every run it makes, made once, remembered, and repeatable from the same state."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from murli.conformance import arguments, model
from murli.conformance.canaries import canary
from murli.conformance.documents import ImpureError, only_object
from murli.conformance.sandbox import Sandbox, Stage, State, changes, remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from murli.conformance.arguments import Words
    from murli.conformance.model import Command, Description, Example, Flag
    from murli.conformance.runner import Channel, Run, Tool

T = TypeVar("T")

PROFILE = "murli-profile"
PROFILE_VERBS = (("use",), ("show",), ("delete",))

PATIENCE = 3
"""After this many runs that had to be killed the kit stops running the tool.

A tool that hangs everywhere would take all day.
"""


class GaveUpError(RuntimeError):
    """The tool hung too often; nothing more of it is run."""


class UnusableError(RuntimeError):
    """What `describe` printed gives the kit nothing to work with."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One run with the state it left behind. `after` is None for a run in a throw-away sandbox."""

    run: Run
    changes: tuple[str, ...]
    after: State | None = None

    @property
    def state(self) -> State:
        if self.after is None:
            raise ValueError("this run was made in a throw-away sandbox")
        return self.after


@dataclass(frozen=True, slots=True)
class Stop:
    """One example on the tour: the state it met and what it did."""

    command: Command
    example: Example
    before: State
    probe: Probe


@dataclass(frozen=True, slots=True)
class Trial:
    """A plausible command line and the state to run it from.

    It is an example with the exit code it had, or made up.
    """

    command: Command
    words: Words
    state: State | None = None
    code: int | None = None

    @property
    def made_up(self) -> bool:
        return self.code is None


class Session:
    """Runs the tool for the checks. Identical runs are made once; runs that share a state are made one at a time."""

    def __init__(self, tool: Tool, root: Path) -> None:
        self.tool = tool
        self.hindered = False
        """Whether some check could not examine anything.

        The reason is a `describe` that cannot be used, or a tool that was given up.
        """
        self._root = root
        self._stage = Stage(root)
        self._stage_lock = threading.Lock()
        self._lock = threading.Lock()
        self._memory: dict[object, Future[object]] = {}
        self._probes: list[Probe] = []
        self._scratch = 0
        self._hangs = 0
        self._closed = False

    @property
    def empty(self) -> State:
        return self._stage.empty

    @property
    def probes(self) -> list[Probe]:
        """Every run made so far, in an order that does not depend on threads."""
        return sorted(self._probes, key=lambda probe: (probe.run.line, probe.run.stdout, probe.run.stderr))

    def close(self) -> None:
        """Run nothing more; a check that still asks gets GaveUpError."""
        self._closed = True

    def probe(
        self,
        words: Words,
        *,
        state: State | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        channel: Channel = "pipe",
        repeat: int = 0,
    ) -> Probe:
        """Run the tool from `state`; without one, from an empty throw-away sandbox.

        `repeat` asks for another identical run.
        """
        variables = tuple(sorted((env or {}).items()))
        key = ("probe", words, state.serial if state else None, variables, stdin, channel, repeat)
        return self._once(key, lambda: self._run(words, state, dict(variables), stdin, channel))

    def describe(self) -> Run:
        return self.probe(("describe",)).run

    def description(self) -> Description:
        """The model of the tool, or UnusableError with the reason why there is none."""
        return self._once("description", self._read_description)

    def tour(self) -> tuple[Stop, ...]:
        """Run every runnable example, in the order of `describe`.

        All run in one scratch directory, so that one may build on another.
        """
        return self._once("tour", lambda: tuple(self._travel()))

    def trial(self, command: Command) -> Trial | None:
        """A plausible command line for the command: its first example that should succeed, else a made-up one.

        murli mounts the profile commands itself, so no author can give them examples: they get a saved profile to
        work on.
        """
        for stop in self.tour():
            if stop.command.path == command.path and stop.example.expected == 0 and not free_form(stop.example.words):
                words = arguments.without_names(command, stop.example.words, {"output", "agent"})
                return Trial(command, words, stop.before, stop.probe.run.code)
        saved = self.any_profile() if command.path[:1] == ("profile",) and command.path[1:] in PROFILE_VERBS else None
        if saved is not None:
            return Trial(command, (*command.path, PROFILE), saved.after)
        made_up = arguments.synthesise(command)
        return None if made_up is None else Trial(command, made_up)

    def readable(self) -> tuple[Trial, ...]:
        """Return one command line for each read-only command that is known to succeed with an envelope.

        Examples come first.
        """
        return self._once("readable", lambda: tuple(sorted(self._read_trials(), key=lambda trial: trial.state is None)))

    def made_up(self) -> tuple[Trial, ...]:
        """Return made-up command lines for the read-only commands without examples that need no parameters.

        They may succeed or not.
        """
        toured = {stop.command.path for stop in self.tour()}
        leaves = self.description().leaves
        chosen = [
            leaf
            for leaf in leaves
            if leaf.read_only and not leaf.bare and leaf.needs_nothing and leaf.path not in toured
        ]
        return tuple(Trial(leaf, leaf.path) for leaf in chosen)

    def profileable(self) -> tuple[tuple[Command, Flag], ...]:
        """Every flag that a profile may hold, with its owner; nothing when the tool has no profiles."""
        description = self.description()
        return description.profileable if description.capable("profiles") else ()

    def save_profile(self, state: State, owner: Command, flag: Flag, value: str) -> Probe:
        """Save one flag in a profile: the flag before the command, as root flags want it, else behind it."""
        command = self.description().find("profile", "save")
        confirm = ("--yes",) if command is not None and command.guarded else ()
        words = ("profile", "save", PROFILE, *confirm)
        given = (flag.option, value) if flag.takes_value else (flag.option,)
        orders = [(*given, *words), (*words, *given)]
        if owner.path:
            orders.reverse()
        first = self.probe(orders[0], state=state)
        return first if first.run.code == 0 else self.probe(orders[1], state=state)

    def any_profile(self) -> Probe | None:
        """Any profile, saved in an empty home; from a flag whose value may be shown if there is one."""
        for owner, flag in sorted(self.profileable(), key=lambda pair: pair[1].sensitive):
            value = canary(flag) if flag.sensitive else arguments.sample(flag)
            if value is not None:
                return self.save_profile(self.empty, owner, flag, value)
        return None

    def _read_trials(self) -> Iterator[Trial]:
        made_up = {trial.command.path: trial for trial in self.made_up()}
        for command in self.description().leaves:
            if not command.read_only or command.bare:
                continue
            trial = self.trial(command)
            if trial is not None and trial.code == 0:
                yield trial
            elif command.path in made_up and self.probe(command.path).run.code == 0:
                yield Trial(command, command.path, code=0)

    def _read_description(self) -> Description:
        run = self.describe()
        try:
            document = only_object(run.stdout)
        except ImpureError as error:
            raise UnusableError(f"describe is unusable: {error}") from error
        if not isinstance(document.get("commands"), list):
            raise UnusableError("describe is unusable: it has no array of commands")
        try:
            root = only_object(self.probe(("--schema",)).run.stdout)
        except ImpureError:
            root = {}
        return model.read(document, root)

    def _travel(self) -> Iterator[Stop]:
        state = self.empty
        for command in self.description().commands:
            for example in command.examples:
                if example.problem:
                    continue
                probe = self.probe(example.words, state=state)
                yield Stop(command, example, state, probe)
                state = probe.state

    def _run(self, words: Words, state: State | None, env: Mapping[str, str], stdin: bytes, channel: Channel) -> Probe:
        if self._closed:
            raise GaveUpError("the examination was stopped")
        if self._hangs >= PATIENCE:
            raise GaveUpError(f"the tool had to be killed {PATIENCE} times, so the kit stopped running it")
        if state is None:
            with self._lock:
                self._scratch += 1
                sandbox = Sandbox.create(self._root / f"scratch-{self._scratch}")
            probe = self._run_in(sandbox, words, env, stdin, channel)
            remove_tree(sandbox.root)
        else:
            with self._stage_lock:
                before = self._stage.load(state)
                run = self.tool.run(
                    words,
                    home=self._stage.sandbox.home,
                    cwd=self._stage.sandbox.work,
                    env=env,
                    stdin=stdin,
                    channel=channel,
                )
                after = self._stage.capture()
            probe = Probe(run, () if after is state else changes(before, after.snapshot), after)
        with self._lock:
            self._probes.append(probe)
            self._hangs += probe.run.ended != "exited"
        return probe

    def _run_in(self, sandbox: Sandbox, words: Words, env: Mapping[str, str], stdin: bytes, channel: Channel) -> Probe:
        before = sandbox.snapshot()
        run = self.tool.run(words, home=sandbox.home, cwd=sandbox.work, env=env, stdin=stdin, channel=channel)
        return Probe(run, changes(before, sandbox.snapshot()))

    def _once(self, key: object, make: Callable[[], T]) -> T:
        """Make a value the first time it is asked for.

        Threads that ask meanwhile wait for it, and all get the same error.
        """
        with self._lock:
            known = self._memory.get(key)
            mine: Future[object] = Future()
            if known is None:
                self._memory[key] = mine
        if known is not None:
            return cast("T", known.result())
        try:
            value = make()
        except BaseException as error:
            mine.set_exception(error)
            raise
        mine.set_result(value)
        return value


def free_form(words: Words) -> str:
    """Why these words may print something other than JSON to an agent, or an empty string."""
    for at, word in enumerate(words):
        if word in ("--help", "-h", "--version", "--agents-md", "--schema"):
            return f"{word} does not print an envelope"
        if word == "--output=text" or (word == "--output" and words[at + 1 : at + 2] == ("text",)):
            return "the example asks for text"
    return ""
