"""Where a command puts its answer. It is written once; the audience decides the form."""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from murli._core import wire
from murli._core.errors import AgentError, tool_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TextIO

    from murli._core.logger import Logger

    Text = str | Callable[[Any], str]

_current: list[Writer] = []


def writer() -> Writer:
    """The writer of the command that is running now."""
    if not _current:
        msg = "murli.writer() is only there while a command runs under murli's run() or execute()"
        raise RuntimeError(msg)
    return _current[-1]


class Writer:
    """Success, plan, events, progress, logs and errors of one command.

    `text` is what a person reads: a string, or a function from the (limited, masked) result to a string, called only
    when a person is reading. Events may be written from several threads.
    """

    def __init__(  # one keyword per flag that shapes the output
        self,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        *,
        agent: bool = False,
        output: str = "",
        dry_run: bool = False,
        forced: bool = False,
        fields: Iterable[str] = (),
        limit: int | None = None,
        read_only: bool = True,
        page: bool = False,
        tool_version: str = "",
        protocol_version: str = wire.PROTOCOL_VERSION,
        secrets: Iterable[str] = (),
    ) -> None:
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self.agent = agent
        """The reader is a program: `--agent` was given, or standard output is not a terminal."""
        self.output = output or ("json" if agent else "text")
        """The form of the answer: `json`, `ndjson` or `text`."""
        self._page = page
        self.dry_run = dry_run
        """`--dry-run` was given: answer with `plan` and change nothing."""
        self.forced = forced
        """`--yes` or `--force` was given: ask no more questions."""
        self.limit = limit
        """`--limit`, for handlers that can stop early; the result is cut to it in any case."""
        self.protocol_version = protocol_version
        self.exit_code = 0
        self.answered = False
        """A closing envelope (success, plan or error) has been written."""
        self.secrets: list[str] = []
        """Values that are cut out of errors, logs and progress."""
        self.hide(secrets)
        self.fields = list(fields)
        self._read_only = read_only
        self._tool_version = tool_version
        self.reader_gone = False
        """The reader of standard output has closed it."""
        self._streamed = False
        self._progress_line = False
        self._logger: Logger | None = None
        self._lock = allocate_lock()

    @property
    def is_tty(self) -> bool:
        """The answer goes to a person as text."""
        return self.output == "text"

    @property
    def wants_text(self) -> bool:
        """Return whether the text of the answer is printed.

        It is for a person, and where the command's answer is a page of text that people redirect into files.
        """
        return self.is_tty or (self._page and not self.fields)

    @property
    def colour(self) -> bool:
        """The text may be coloured: it goes to a terminal whose owner has not declined."""
        return self.is_tty and wants_colour(self._stdout)

    def success(self, text: Text, result: object = None) -> None:
        """The answer of a command that did its work."""
        self._answer("ok", text, result)

    def plan(self, text: Text, result: object = None) -> None:
        """The answer to `--dry-run`: what would happen."""
        self._answer("plan", text, result)

    def event(self, value: object) -> None:
        """Write one result of a stream, as a line of NDJSON.

        People do not see events: inform them with `progress` or in the closing text.
        """
        if self.answered:
            raise RuntimeError(ANSWERED)
        if self.is_tty:
            return
        line = wire.encode(value, minified=True)
        with self._lock:
            self._streamed = True
            self._put(self._stdout, line)

    def events_of(self, result: dict[str, Any]) -> dict[str, Any]:
        """Write each of the `items` of a list result as an event and return the rest, for the closing envelope.

        `--fields` and `--limit` reduce the items; if some were cut, the rest has their full count as `total`.
        """
        reduced, total = self._reduced(result)
        self.limit, self.fields = None, []
        rest = dict(reduced)
        for item in rest.pop("items", []):
            self.event(item)
        return rest if total is None else {**rest, "total": total}

    def line(self, text: str) -> None:
        """Print one line for a person, at once: what `event` is for programs.

        Characters that would act on the terminal are spelt out, but for colours.
        """
        if self.answered:
            raise RuntimeError(ANSWERED)
        if self.is_tty:
            self._clear_progress()
            with self._lock:
                self._put(self._stdout, wire.spelt(f"{text}\n", self._stdout))

    def error(self, error: AgentError) -> int:
        """Write the error to standard error and return its exit code, which the command will end with."""
        self.flush()
        self._clear_progress()
        self.exit_code = error.code
        self.answered = True
        if self.is_tty:
            self._write_to_person(self._readable(error))
        else:
            body = {key: self._clean(value) for key, value in error.envelope(self._tool_version).items()}
            self._put(self._stderr, wire.encode(body, minified=self.output == "ndjson"))
        return error.code

    def progress(  # the fields of the wire contract, all optional
        self,
        message: str = "",
        *,
        stage: str = "",
        current: int = 0,
        total: int = 0,
        percent: float = 0.0,
        eta_ms: int = 0,
    ) -> None:
        """Report how far a longer job is.

        Agents get an object on standard error, a terminal one line that is overwritten.
        """
        event = {
            "stage": stage,
            "current": current,
            "total": total,
            "percent": percent,
            "eta_ms": eta_ms,
            "message": message,
        }
        event = {key: self.scrub(value) if isinstance(value, str) else value for key, value in event.items() if value}
        if not self.is_tty:
            self.flush()
            with self._lock:
                self._put(self._stderr, wire.encode(event, minified=True))
        elif self._stderr is not None and self._stderr.isatty():
            counted = f"{current}/{total}" if total else str(current or "")
            share = f"{percent:.0f}%" if percent else ""
            eta = f"{eta_ms / 1000:.0f}s left" if eta_ms else ""
            line = " ".join(part for part in (stage, counted, share, message, eta) if part)
            # A line that wraps cannot be overwritten.
            self._put(
                self._stderr,
                b"\r\x1b[K" + wire.spelt(" ".join(line.split())[: _columns(self._stderr) - 1], self._stderr),
            )
            self._progress_line = True

    def log(self, message: str, level: str = "info") -> None:
        """A remark on standard error."""
        self._clear_progress()
        self.logger.log(self.scrub(message), level)

    @property
    def logger(self) -> Logger:
        """Where `log` goes."""
        if self._logger is None:
            from murli._core.logger import Logger  # most commands log nothing

            self._logger = Logger(self._stderr, agent=not self.is_tty)
        return self._logger

    def flush(self) -> None:
        """Write the log entry that deduplication holds back."""
        if self._logger is not None:
            self._logger.flush()

    def document(self, value: object) -> None:
        """A bare JSON document for every audience, without an envelope: `describe` and `--schema`."""
        self._put(self._stdout, wire.encode(value, minified=self.output == "ndjson"))
        self.answered = True

    def raw(self, text: str) -> None:
        """A page of text for every audience, as `describe --agents-md` and `--help` print it."""
        self._put(self._stdout, wire.spelt(text, self._stdout))
        self.answered = True

    def scrub(self, text: str) -> str:
        """The text without the values of sensitive flags."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text

    def hide(self, secrets: Iterable[str]) -> None:
        """Remove these values from all output from now on, also where a message quotes them.

        The longer ones are removed first, so that no part of them is left.
        """
        long = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        self.secrets = sorted({*self.secrets, *long, *(repr(secret)[1:-1] for secret in long)}, key=len, reverse=True)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        return self.scrub(value) if isinstance(value, str) else value

    def _write_to_person(self, text: str) -> None:
        """Write text for a person to standard error."""
        if self._stderr is not None:
            self._put(self._stderr, wire.spelt(text, self._stderr))

    def _answer(self, status: str, text: Text, result: object) -> None:
        if self.answered:
            raise RuntimeError(ANSWERED)
        total = None
        if self.limit is not None or self.fields:
            result, total = self._reduced(result)
        if self.wants_text:
            shown = (
                text
                if isinstance(text, str)
                else wire.encode(result).decode().rstrip()
                if self.fields
                else text(result)
            )
            # A page that is redirected into a file is not for a terminal, and is written as it is.
            spelt = wire.spelt if self.is_tty or self._stdout.isatty() else wire.encoded
            data = spelt(f"{shown}\n", self._stdout) if shown else b""
        else:
            body = wire.envelope(status, result, tool_version=self._tool_version, total=total)
            data = wire.encode(body, minified=self._streamed or self.output == "ndjson")
        self.flush()
        self._clear_progress()
        with self._lock:
            self._put(self._stdout, data)
        self.answered = True

    def _reduced(self, result: object) -> tuple[Any, int | None]:
        from murli._core import mask  # only for --fields and --limit

        value = wire.as_json_value(result)
        total = None
        if self.limit is not None:
            value, total = mask.limited(value, self.limit, strict=self._read_only)
        return mask.masked(value, self.fields, strict=self._read_only) if self.fields else value, total

    def _readable(self, error: AgentError) -> str:
        red, reset = ("\x1b[31m", "\x1b[0m") if wants_colour(self._stderr) else ("", "")
        said, *more = [
            line for part in self.scrub(error.message).splitlines() for line in _wrapped(part, self._stderr)
        ] or [""]
        lines = [f"{red}✗{reset} {said.lstrip()}", *more]
        for line in self.scrub(error.suggestion).splitlines():
            # A command in backquotes is kept in one piece; without them, the line may be one to copy as a whole.
            lines += _wrapped(line, self._stderr) if "`" in line else [f"  {line}"]
        if error.valid_values:
            lines += _wrapped(f"Valid: {self.scrub(', '.join(error.valid_values))}", self._stderr, "    ")
        if error.doc_url:
            lines.append(f"  See {self.scrub(error.doc_url)}")
        return "\n".join(lines) + "\n"

    def _clear_progress(self) -> None:
        if self._progress_line:
            self._put(self._stderr, b"\r\x1b[K")
            self._progress_line = False

    def _put(self, stream: TextIO | None, data: bytes) -> None:
        """Write everything or raise; a reader that has gone and a disk that is full are different errors."""
        if stream is None:
            return  # closed before the program started; only standard error gets here
        try:
            wire.send(stream, data)
        except BrokenPipeError:
            self.reader_gone = self.reader_gone or stream is self._stdout
            raise
        except (OSError, ValueError) as error:
            if stream is self._stderr:
                return  # nowhere left to say it; the exit code still does
            abandon(stream)
            raise tool_error(
                f"standard output cannot be written: {error}",
                "Check where the output of this command goes.",
                error="output_error",
            ) from error


ANSWERED = "the command has answered already: success() and plan() close it, and only one of them may be called once"
SHORTEST_SECRET = 4
"""A shorter secret is not cut out of messages: it would garble them and hide nothing."""


def abandon(stream: TextIO) -> None:
    """Send what is left in a stream that cannot be written to the null device.

    Otherwise the interpreter would fail when it flushes the stream at exit.
    """
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass


def _wrapped(text: str, stream: TextIO | None, indent: str = "  ") -> list[str]:
    """Break a text into indented lines that fit the terminal.

    Text in backquotes stays on one line. Where the stream is not a terminal, one line is returned.
    """
    if stream is None or not stream.isatty():
        return [f"  {text}"]
    import textwrap  # only mistakes at a terminal pay for it

    joined = "`".join(part.replace(" ", "\0") if number % 2 else part for number, part in enumerate(text.split("`")))
    lines = textwrap.wrap(
        joined,
        max(_columns(stream) - 1, 40),
        initial_indent="  ",
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]


def _columns(stream: TextIO | None) -> int:
    try:
        return os.get_terminal_size(stream.fileno() if stream is not None else 2).columns or 80
    except (OSError, ValueError):
        return 80


def wants_colour(stream: TextIO | None) -> bool:
    """Colour only for a terminal that can show it and a person who has not declined it (https://no-color.org)."""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
