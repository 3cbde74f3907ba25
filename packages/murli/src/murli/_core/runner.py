"""From a command line to an exit code: the one path that every adapter takes."""

from __future__ import annotations

import os
import sys

from murli._core import wire
from murli._core import writer as writers
from murli._core.check import check_encoding, check_own_flags, check_prompts, check_values
from murli._core.errors import (
    EXIT_CANCELLED,
    EXIT_TOOL_ERROR,
    EXIT_USER_ERROR,
    AgentError,
    from_exception,
    from_status,
    tool_error,
    user_error,
)
from murli._core.route import REDUCING_FLAGS, Invocation, read
from murli._core.tool import Tool, in_development
from murli._core.writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from murli._core.command import Command


class Refused(Exception):  # noqa: N818 - not an error of the program: the framework's judgement of a command line
    """The framework does not accept the command line; `str()` of it is the framework's own sentence."""


class Adapter:
    """What a framework's adapter offers to the runner."""

    root: Command
    """The command tree."""

    def invoke(self, argv: list[str], leaf: Command) -> object:
        """Parse the words and run the command, which must be `leaf`.

        Returns what the handler returned: an int other than zero is an exit code; everything else is success.

        Raises `Refused` if the framework does not accept the words, or would run a command other than the one that
        was checked and guarded.
        """
        raise NotImplementedError

    def print_help(self, invocation: Invocation) -> None:
        """Print the framework's help page for the command that was called."""
        raise NotImplementedError


def execute(adapter: Adapter, argv: Sequence[str], *, version: str = "") -> int:
    """Run a command line and return its exit code.

    No exception escapes: every failure is one envelope on standard error.
    """
    tool = Tool(adapter.root, version)
    if sys.stdout is None:
        out = Writer(sys.stderr, agent=True, tool_version=version)
        return out.error(
            tool_error("standard output is closed", "Give the command somewhere to write.", error="output_error")
        )
    wire.print_similar(sys.stdout)
    try:
        invocation = read(tool.root, tool.name, argv, tool.mounted)
    except Exception as error:  # noqa: BLE001 - the tool's own declarations are broken
        return Writer(agent=not sys.stdout.isatty(), tool_version=version).error(from_exception(error))
    out = _writer(invocation, version)
    writers._current.append(out)  # noqa: SLF001 - the runner owns the current writer
    try:
        check_encoding(argv)
        code = _run(adapter, tool, invocation, out)
    except BaseException as error:  # noqa: BLE001 - the last line of defence: everything becomes an envelope
        code = _failed(error, invocation, out)
    finally:
        writers._current.pop()  # noqa: SLF001
    try:
        out.flush()
    except BrokenPipeError:
        code = _reader_gone()
    return code


def _run(adapter: Adapter, tool: Tool, invocation: Invocation, out: Writer) -> int:
    if invocation.unknown_command is not None:
        from murli._core import wording  # only mistakes pay for it

        if any(level.unknown for level in invocation.levels):
            raise wording.diagnose(invocation) or wording.unknown_flag("", invocation.path, ())
        raise wording.unknown_command(invocation.unknown_command, invocation.path, tool.names(invocation.leaf.command))
    if invocation.problem:
        raise invocation.problem
    check_own_flags(invocation)
    _reduce(invocation, out)
    if out.is_tty and in_development():
        _advise(tool, out)
    command = invocation.leaf.command
    if invocation.help:
        _help(adapter, tool, invocation, out)
    elif "--schema" in invocation.own:
        from murli._core.schema import command_schema  # only for --schema

        out.document(command_schema(command))
    elif _lacks_command(invocation):
        return _missing_command(adapter, tool, invocation, out)
    else:
        _prepare(tool, invocation, out)
        return _answer(tool, invocation, out) if command.is_builtin else _call(adapter, invocation, out)
    return 0


def _lacks_command(invocation: Invocation) -> bool:
    """Return whether a group was called where one of its commands was needed.

    Words that it cannot place, as those after a `--`, are not a command either.
    """
    command, leaf = invocation.leaf.command, invocation.leaf
    if not command.is_group or any(flag.eager and flag.name in leaf.given for flag in command.flags):
        return False
    return not command.runs_alone or len(leaf.positionals) > len(command.arguments)


def _prepare(tool: Tool, invocation: Invocation, out: Writer) -> None:
    """Everything that must hold before a line of the tool's own code runs."""
    _fill(tool, invocation, out)
    out.dry_run, out.forced = invocation.dry_run, invocation.forced
    check_values(invocation)
    if out.agent:
        if not invocation.leaf.command.is_builtin:
            check_prompts(invocation)
        metadata = invocation.leaf.command.metadata
        if metadata.mutating and metadata.guard and not (invocation.forced or invocation.harmless):
            from murli._core import wording

            raise wording.diagnose(invocation) or wording.confirmation_required()


def _answer(tool: Tool, invocation: Invocation, out: Writer) -> int:
    """Run one of murli's own commands; there is no framework behind it to refuse a command line."""
    from murli._core import wording
    from murli._core.builtin import Builtin

    problem = wording.diagnose(invocation)
    if problem:
        raise problem
    if isinstance(invocation.leaf.command, Builtin):
        invocation.leaf.command.answer(tool, invocation, out)
    return out.exit_code


def _advise(tool: Tool, out: Writer) -> None:
    """During development, tell the author which names agents will not expect."""
    from murli._core.builtin import document  # development only
    from murli._core.doctor import advisories

    for line in advisories(document(tool)):
        out.log(line)


def _call(adapter: Adapter, invocation: Invocation, out: Writer) -> int:
    """Let the framework run the command; for agents, keep what it prints off standard output."""
    if out.is_tty:
        status = _status(adapter.invoke(invocation.argv(), invocation.leaf.command))
        return out.exit_code or _exit_code(status)
    from murli._core.stdout import CapturedStdout  # only for agents

    captured = CapturedStdout()
    ended = False
    try:
        with captured:
            status = _status(adapter.invoke(invocation.argv(), invocation.leaf.command))
        ended = True
    except SystemExit as leaving:
        status = _status_of_exit(leaving)
        ended = True
    finally:
        if out.answered or not ended:
            for line in captured.text.splitlines():
                out.log(line)
    if out.answered:
        return out.exit_code or _exit_code(status)
    if status:
        raise from_status(_exit_code(status), captured.text or f"the command ended with status {status}")
    (out.plan if out.dry_run else out.success)(captured.text, captured.text or None)
    return 0


def _failed(error: BaseException, invocation: Invocation, out: Writer) -> int:
    if isinstance(error, SystemExit) and out.is_tty:
        try:
            return out.exit_code or _exit_code(_status_of_exit(error))
        except AgentError as sentence:
            error = sentence
    if isinstance(error, BrokenPipeError) and (out.reader_gone or _stdout_is_broken()):
        return _reader_gone()
    if isinstance(error, Refused):
        from murli._core import wording

        error = wording.diagnose(invocation, str(error)) or user_error(str(error), error="flag_error")
    if "--debug" in invocation.own and not isinstance(error, AgentError):
        import traceback  # only for --debug

        out.log(out.scrub("".join(traceback.format_exception(error))), "debug")
    try:
        return out.error(from_exception(error))
    except BrokenPipeError:
        return _reader_gone()


def _writer(invocation: Invocation, version: str) -> Writer:
    output = invocation.own.get("--output", "")
    return Writer(
        agent=invocation.agent or not sys.stdout.isatty(),
        output=output if output in wire.OUTPUT_FORMATS else "",
        dry_run=invocation.dry_run,
        forced=invocation.forced,
        read_only=not invocation.leaf.command.metadata.mutating,
        page=_is_page(invocation),
        tool_version=version,
        secrets=_secrets(invocation),
    )


def _is_page(invocation: Invocation) -> bool:
    """Whether the command says that it answers with a page of text, and nobody asked for another form."""
    returns = invocation.leaf.command.metadata.returns
    return returns is not None and returns.type == "text" and not {"--agent", "--output"} & invocation.own.keys()


def _reduce(invocation: Invocation, out: Writer) -> None:
    """Make the writer cut the result as `--fields` and `--limit` say."""
    own = invocation.own
    if not any(flag in own for flag in REDUCING_FLAGS):
        return
    from murli._core import mask  # only for --fields and --limit

    out.fields = mask.parse_fields(own["--fields"]) if "--fields" in own else []
    out.limit = mask.parse_limit(own["--limit"]) if "--limit" in own else None


def _fill(tool: Tool, invocation: Invocation, out: Writer) -> None:
    """Add what structured input, the environment and the profile say about flags that were not typed."""
    flags = [flag for level in invocation.levels for flag in level.command.flags]
    from_input = "--input" in invocation.own
    from_environment = not invocation.leaf.command.is_builtin and any(
        flag.env in os.environ and not flag.env_is_native for flag in flags
    )
    from_profile = "--profile" in invocation.own or (
        not invocation.leaf.command.is_builtin
        and any(flag.profileable for flag in flags)
        and os.path.exists(tool.profile_path)
    )
    if not (from_input or from_environment or from_profile):
        return
    from murli._core import layers  # most calls need none of them

    if from_input:
        layers.apply_input(invocation, layers.read_input(invocation.own["--input"]))
    if from_environment:
        layers.apply_environment(invocation, os.environ)
    if from_profile:
        from murli._core.profiles import ProfileStore

        store = ProfileStore.load(tool.profile_path)
        name = invocation.own.get("--profile") or store.default
        if name:
            layers.apply_profile(invocation, store.get(name), os.environ)
    out.hide(_secrets(invocation))


def _secrets(invocation: Invocation) -> list[str]:
    found = []
    for level in invocation.levels:
        for flag in level.command.flags:
            if flag.sensitive:
                found += level.given.get(flag.name, [])
                found += [os.environ[flag.env]] if flag.env in os.environ else []
    return found


def _missing_command(adapter: Adapter, tool: Tool, invocation: Invocation, out: Writer) -> int:
    """A group without a command: people get its help page, agents the list of its commands."""
    if out.is_tty:
        _help(adapter, tool, invocation, out)
        return EXIT_USER_ERROR
    from murli._core import wording

    raise wording.diagnose(invocation) or wording.missing_command(invocation.path, tool.names(invocation.leaf.command))


def _help(adapter: Adapter, tool: Tool, invocation: Invocation, out: Writer) -> None:
    """The framework's help page, then what murli adds to the command."""
    from murli._core.helping import added_help  # only for --help

    if not invocation.leaf.command.is_builtin:
        adapter.print_help(invocation)
    out.raw(added_help(tool, invocation))


def _status(returned: object) -> int:
    """The number that a handler returned; 0 for anything else."""
    return returned if isinstance(returned, int) and not isinstance(returned, bool) else 0


def _exit_code(status: int) -> int:
    """The exit code for a status; one outside the taxonomy counts as a failure of the tool."""
    return status if 0 <= status <= EXIT_CANCELLED else EXIT_TOOL_ERROR


def _status_of_exit(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return _status(int(leaving.code or 0))
    raise user_error(str(leaving.code)) from leaving


def _stdout_is_broken() -> bool:
    from murli._core.stdout import is_broken  # only when a pipe broke

    return is_broken()


def _reader_gone() -> int:
    """Give up standard output, whose reader has left, and return the exit code for it."""
    writers.abandon(sys.stdout)
    return EXIT_CANCELLED
