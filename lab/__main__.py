"""The commands of the lab, `./run lab …`: install, list, capture, truth, report, drift, play, keep, races, …."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey import __version__
from covey.agents.registry import INTEGRATIONS
from covey.kernel.home import Home
from lab import agents, drift, figures, live, own_home, show
from lab import report as tables
from lab.acts import add_acts
from lab.bench import JOBS, Play, bench, play_all
from lab.capture import FOLDER, Capturer
from lab.chosen_agents import find, installed, to_the_end
from lab.deny import add_deny
from lab.guarded.command import add_guarded
from lab.inspector import INSPECTOR
from lab.install import InstallError, lab_folder, program_of
from lab.keep_crashes import add_keep
from lab.measure import measure, report
from lab.mesh.command import add_mesh
from lab.observer import BASELINE, COVEY, Observer, ObserverError
from lab.play import PlayError
from lab.races.command import add_races
from lab.scenario import load, names
from lab.script import ScriptError
from lab.shells.command import add_shells
from lab.size import DEFAULT, MEASURED, Size
from murli import EXIT_PARTIAL, ArgumentMetadata, Example, Metadata, tool_error, user_error, writer
from murli.argparse import annotate, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.agents.agent import Agent
    from lab.install import Package
    from lab.play import Run

RELATIVE = "lab/figures"

AGENT = [
    ArgumentMetadata(
        name="agent", description="Name of the agent, or NAME@VERSION for a release other than the newest pinned one."
    )
]


def parser() -> argparse.ArgumentParser:  # noqa: PLR0915 - some statements for each command
    root = argparse.ArgumentParser(
        prog="./run lab",
        description="Real agent CLIs, offline, driven by a scripted model that knows the truth about them.",
    )
    commands = root.add_subparsers()

    about = Metadata(
        idempotent=True,
        agent_description=(
            "Installs the pinned agent CLIs from npm into $COVEY_LAB_DIR (default: covey-lab in the user's cache "
            "folder) and checks that they run."
        ),
        arguments=[
            ArgumentMetadata(
                name="agents",
                description=(
                    "Which agents, as NAME, NAME@VERSION or NAME@all for every pinned version, or inspector, the MCP "
                    "Inspector; the newest of all when none is named."
                ),
                required=False,
            )
        ],
        examples=[
            Example(command="./run lab install claude codex", description="Two of them"),
            Example(
                command="./run lab install claude@2.1.48 codex@all",
                description="An older release, and every pinned release of another agent",
            ),
        ],
    )
    command = annotate(commands.add_parser("install", help="Install the agents."), about)
    command.add_argument("agents", nargs="*", metavar="agent")
    command.set_defaults(func=lambda args: install_agents(args.agents))

    about = Metadata(idempotent=True, examples=[Example(command="./run lab list", description="What there is")])
    command = annotate(commands.add_parser("list", help="List the agents and the scenarios they play."), about)
    command.set_defaults(func=lambda _: list_all())

    about = Metadata(
        agent_description=(
            "Plays scenarios on one real agent and stores what can be seen at each capture point, with the true state, "
            "under tests/captures."
        ),
        arguments=[
            *AGENT,
            ArgumentMetadata(name="scenarios", description="Which scenarios; all when none is named.", required=False),
        ],
        examples=[
            Example(command="./run lab capture claude approve", description="The cases of one scenario"),
            Example(
                command="./run lab capture claude@2.1.48 approve --size 58x18",
                description="As an older release shows them in a narrow pane",
            ),
        ],
    )
    command = annotate(commands.add_parser("capture", help="Store what an agent shows in each state."), about)
    command.add_argument("agent")
    command.add_argument("scenarios", nargs="*", metavar="scenario")
    add_sizes(command)
    command.add_argument("--into", type=Path, default=FOLDER, help="Folder for the captures (default: tests/captures).")
    command.add_argument("--jobs", type=int, default=JOBS, help="How many agents run at once.")
    command.set_defaults(func=lambda args: capture(args.agent, args.scenarios, args.size, args.into, args.jobs))

    about = Metadata(
        agent_description=(
            "Plays every scenario and says how true an observer's timeline is: accuracy, confusion, confidently wrong "
            "spells, latency."
        ),
        examples=[
            Example(
                command="./run lab truth --agents claude --runs 1", description="One agent, with the baseline observer"
            ),
            Example(
                command="./run lab truth --observer 'mine=./my-observer --fast'",
                description="An observer of your own beside the baseline",
            ),
        ],
    )
    command = annotate(commands.add_parser("truth", help="Measure how true an observer is."), about)
    command.add_argument(
        "--agents",
        nargs="+",
        default=[],
        metavar="AGENT",
        help="Which agents, as NAME, NAME@VERSION or NAME@all (default: the newest of all).",
    )
    command.add_argument(
        "--scenarios", nargs="+", default=[], metavar="SCENARIO", help="Which scenarios (default: all)."
    )
    add_sizes(command)
    command.add_argument("--runs", type=int, default=1, help="How often each scenario is played.")
    command.add_argument("--jobs", type=int, default=JOBS, help="How many agents run at once.")
    command.add_argument(
        "--observer", action="append", default=[], metavar="NAME=COMMAND", help="Another observer; may be repeated."
    )
    command.add_argument("--integrated", action="store_true", help="Put Covey's hooks into the agents' settings first.")
    command.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help=f"Store the figures of each cell there, e.g. in {RELATIVE}, for `./run lab report`.",
    )
    command.set_defaults(func=truth)

    about = Metadata(
        idempotent=True,
        agent_description=(
            "Makes the tables of docs/accuracy.md, by agent, version and size, from the figures that truth runs have "
            "stored."
        ),
        examples=[
            Example(command="./run lab report", description="Print the tables"),
            Example(command="./run lab report --write", description="Put them into docs/accuracy.md"),
        ],
    )
    command = annotate(commands.add_parser("report", help="Make the tables of docs/accuracy.md."), about)
    command.add_argument(
        "--figures",
        type=Path,
        default=figures.FOLDER,
        metavar="FOLDER",
        help=f"Where the figures are (default: {RELATIVE}).",
    )
    command.add_argument("--write", action="store_true", help="Write the tables into docs/accuracy.md.")
    command.set_defaults(func=lambda args: write_report(args.figures, write=args.write))

    about = Metadata(
        agent_description=(
            "Fetches the newest release of each agent from npm, plays the scenarios on it and says what is read worse "
            f"than with the pinned release. Ends with exit code {EXIT_PARTIAL} when something is."
        ),
        examples=[
            Example(command="./run lab drift", description="A maintainer's weekly job"),
            Example(
                command="./run lab drift --agents claude codex@0.170.0",
                description="Some agents, or a release that is not the newest",
            ),
        ],
    )
    command = annotate(commands.add_parser("drift", help="Play the newest releases and say what broke."), about)
    command.add_argument(
        "--agents", nargs="+", default=[], metavar="AGENT", help="Which agents, as NAME or NAME@VERSION (default: all)."
    )
    command.add_argument(
        "--scenarios", nargs="+", default=[], metavar="SCENARIO", help="Which scenarios (default: all)."
    )
    command.add_argument("--jobs", type=int, default=JOBS, help="How many agents run at once.")
    command.add_argument("--integrated", action="store_true", help="Put Covey's hooks into the agents' settings first.")
    command.set_defaults(func=find_drift)

    about = Metadata(
        agent_description=(
            "Starts one live agent with a scripted model in a tmux server of its own, says how to attach and which "
            "prompts the model knows, and ends everything when it is interrupted or the agent is left."
        ),
        arguments=AGENT,
        examples=[
            Example(
                command="./run lab play claude", description="A live Claude Code to try things on, without an account"
            ),
            Example(
                command="./run lab play claude --integrated", description="One whose requests `covey approvals` lists"
            ),
            Example(
                command="./run lab play codex@0.101.0 --size 58x18", description="An older release in a narrow pane"
            ),
        ],
    )
    command = annotate(commands.add_parser("play", help="Start a live agent to try things on."), about)
    command.add_argument("agent")
    command.add_argument(
        "--size", metavar="SIZE", help="Size of the terminal, e.g. 80x24 (default: that of whoever attaches)."
    )
    command.add_argument(
        "--integrated",
        action="store_true",
        help="Put the hooks of your Covey into the agent's settings first; yours are not touched.",
    )
    command.set_defaults(func=lambda args: play_live(args.agent, args.size, integrated=args.integrated))
    add_acts(commands.add_parser("acts", help="Do every command that acts, on real agents, here and over ssh."))
    add_keep(commands.add_parser("keep", help="Kill a kept agent, its tmux server and its daemon again and again."))
    add_deny(commands.add_parser("deny", help="Have agents that ask nobody run denied commands, and count what ran."))
    add_guarded(
        commands.add_parser(
            "guarded", help="Hide denied acts from the guard of agents that ask nobody, and run what passes."
        )
    )
    add_shells(commands.add_parser("shells", help="Hide denied commands from the policy, and run what it allows."))
    add_races(commands.add_parser("races", help="Race against messages, and count broken promises."))
    add_mesh(commands.add_parser("mesh", help="Make faults in a mesh, and count what was lost or doubled."))
    return root


def add_sizes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--size",
        nargs="+",
        default=[str(DEFAULT)],
        metavar="SIZE",
        help=f"Sizes of the terminal, e.g. {' '.join(map(str, MEASURED))} (default: {DEFAULT}).",
    )


def install_agents(wanted: Sequence[str]) -> None:
    named = [name for name in wanted if name != INSPECTOR.name]
    chosen: list[Package] = [*find(named)] if named or not wanted else []
    done = []
    for agent in [*chosen, *([INSPECTOR] if len(named) < len(wanted) or not wanted else [])]:
        if agent.stand_in:
            continue
        writer().progress(f"installing {agent.title} {agent.version}", stage="install")
        done.append(installed(agent))
    rows = [[one.agent, one.version, "was there" if not one.seconds else f"{one.seconds:.0f} s"] for one in done]
    text = f"{show.table(['agent', 'version', 'installed'], rows)}\n\nin {lab_folder()}"
    result = [
        {"agent": one.agent, "version": one.version, "program": str(one.program), "seconds": round(one.seconds, 1)}
        for one in done
    ]
    writer().success(text, {"folder": str(lab_folder()), "agents": result})


def list_all() -> None:
    rows, result = [], []
    for agent in find([]):
        plays = [scenario.name for scenario in map(load, names()) if scenario.fits(agent)]
        there = program_of(agent).exists()
        state = "installed" if there else "not installed"
        if agent.stand_in:
            state = "stand-in"
        rows.append([agent.name, agent.title, agent.version, " ".join(agent.older), state, len(plays)])
        result.append(
            {
                "agent": agent.name,
                "title": agent.title,
                "version": agent.version,
                "older": list(agent.older),
                "stand_in": agent.stand_in,
                "installed": there,
                "scenarios": plays,
                "skips": dict(agent.skips),
            }
        )
    scenarios = show.table(["scenario", "about"], [[name, load(name).about] for name in names()])
    writer().success(
        f"{show.table(['agent', 'title', 'version', 'older', '', 'scenarios'], rows)}\n\n{scenarios}", result
    )


def capture(name: str, scenarios: Sequence[str], sizes: Sequence[str], into: Path, jobs: int) -> int:
    agent = find([name])[0]
    installed(agent)
    capturer = Capturer(into)
    cases: list[Path] = []

    def done(result: Run | PlayError, count: int, total: int) -> None:
        report_progress(result, count, total)
        if not isinstance(result, PlayError):
            cases.extend(capturer.write(result))

    async def go() -> list[PlayError]:
        async with bench(record=True, on_capture=capturer.look) as shared:
            return (await play_all(shared, plays([agent], scenarios, sizes_of(sizes), 1), jobs=jobs, done=done))[1]

    failures = to_the_end(go())
    found = [json.loads((case / "case.json").read_text(encoding="utf-8")) for case in sorted(cases)]
    text = show.table(["case", "state", "scenario"], [[one["case"], one["state"], one["scenario"]] for one in found])
    result: dict[str, Any] = {
        "folder": str(into / agent.name / agent.version),
        "cases": found,
        "failures": [str(failure) for failure in failures],
    }
    writer().success("\n\n".join([text, *map(str, failures)]), result)
    return EXIT_PARTIAL if failures else 0


def truth(args: argparse.Namespace) -> int:
    chosen = find(args.agents)
    wanted = plays(chosen, args.scenarios, sizes_of(args.size), args.runs)
    for agent in chosen:
        installed(agent)
    try:
        observers = [BASELINE, COVEY, *map(Observer.parse, args.observer)]
        measured = to_the_end(
            measure(wanted, observers, jobs=args.jobs, integrated=args.integrated, done=report_progress)
        )
    except ObserverError as error:
        raise user_error(str(error), "See docs/guide/lab.md for what an observer must do.") from error
    if args.figures:
        for cell in figures.of(measured, integrated=args.integrated):
            cell.write(args.figures)
    result = report(measured)
    writer().success(show.truth(result), result)
    return EXIT_PARTIAL if measured.failures else 0


def write_report(folder: Path, *, write: bool) -> None:
    try:
        cells = figures.read_all(folder)
    except ValueError as error:
        raise user_error(str(error)) from error
    if not cells:
        raise user_error(f"there are no figures in {folder}", f"Run `./run lab truth --figures {RELATIVE}` first.")
    text = tables.text(cells)
    if write:
        tables.write(text)
    writer().success(text, {"cells": len(cells), "written": str(tables.FILE) if write else None, "text": text})


def find_drift(args: argparse.Namespace) -> int:
    try:
        chosen = [
            drift.release(wanted)
            for wanted in args.agents or [name for name in agents.NAMES if not agents.find(name).stand_in]
        ]
    except LookupError as error:
        raise user_error(str(error), "Run `./run lab list` to see the agents.") from error
    except InstallError as error:
        raise tool_error(str(error)) from error
    for agent in chosen:
        writer().progress(f"installing {agent.title} {agent.version}", stage="install")
        installed(agent)
    drift.remove_older(chosen, lab_folder() / "drift")
    wanted = plays(chosen, args.scenarios, [DEFAULT], 1)
    measured = to_the_end(measure(wanted, [COVEY], jobs=args.jobs, integrated=args.integrated, done=report_progress))
    found = [drift.compared(cell) for cell in figures.of(measured, integrated=args.integrated)]
    rows = [
        [
            one.agent,
            one.version,
            one.pinned,
            show.percent(one.accuracy),
            show.percent(one.pinned_accuracy),
            len(one.broken),
        ]
        for one in found
    ]
    lines = [f"{one.agent} {one.version}, {text}" for one in found for text in one.broken] or [
        "Nothing is read worse than with the pinned releases."
    ]
    text = show.table(["agent", "version", "pinned", "accuracy", "pinned accuracy", "worse"], rows)
    writer().success("\n".join([text, "", *lines]), [asdict(one) for one in found])
    return EXIT_PARTIAL if any(one.broken for one in found) else 0


def play_live(name: str, size: str | None, *, integrated: bool) -> None:
    agent = find([name])[0]
    if integrated and agent.name not in INTEGRATIONS:
        raise user_error(f"{agent.title} has no hooks of Covey", field="integrated", valid_values=sorted(INTEGRATIONS))
    wanted = sizes_of([size])[0] if size else None
    installed(agent)
    try:
        asyncio.run(live.run(agent, wanted, tell, covey_home=Home.locate().path if integrated else ""))
    except PlayError as error:
        raise tool_error(f"{agent.title} did not start: {error}") from error
    writer().success(
        "The agent has ended, and with it its model and its tmux server.",
        {"agent": agent.name, "version": agent.version},
    )


def tell(instructions: str) -> None:
    """Print instructions whole: line by line for a person, as one event for a program.

    A terminal would show progress as one line that is cut at its width.
    """
    if writer().is_tty:
        for line in instructions.splitlines():
            writer().line(line)
    else:
        writer().progress(instructions, stage="play")


def sizes_of(texts: Sequence[str]) -> list[Size]:
    try:
        return [Size.parse(text) for text in dict.fromkeys(texts)]
    except ValueError as error:
        raise user_error(str(error), "Sizes that are measured: " + ", ".join(map(str, MEASURED))) from error


def plays(chosen: Sequence[type[Agent]], scenarios: Sequence[str], sizes: Sequence[Size], runs: int) -> list[Play]:
    """Return every agent with every scenario that fits it, at every size.

    The agents take turns, which spreads those that start slowly.
    """
    try:
        loaded = [load(name) for name in scenarios or names()]
    except ScriptError as error:
        raise user_error(str(error), "Run `./run lab list` to see the scenarios.") from error
    found = [
        Play(agent, one, size)
        for _ in range(runs)
        for one in loaded
        for size in sizes
        for agent in chosen
        if one.fits(agent)
    ]
    if not found:
        raise user_error(
            "none of these scenarios fits any of these agents", "Run `./run lab list` to see what plays where."
        )
    return found


def report_progress(result: Run | PlayError, count: int, total: int) -> None:
    what = (
        "did not play"
        if isinstance(result, PlayError)
        else f"{result.agent.name} {result.agent.version} {result.size} {result.scenario.name}"
    )
    writer().progress(what, stage="play", current=count, total=total, percent=100 * count / total)


if __name__ == "__main__":
    own_home.enter()
    run(parser(), version=__version__)
