"""The daemon's log: one JSON object a line, without secrets, in files that rotate by size and age.

The logging thread formats the line, so that it shows the values of that moment, and puts it into a bounded queue; one
thread writes. A direct write would need no thread, but a disk that stalls (a network home, a full write-back cache)
would then stall the event loop with it. Nothing here raises into the caller: a line that cannot be written is dropped
and counted, and the count is logged as soon as a line can be written again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

from covey.kernel.clock import SystemClock, timestamp
from covey.kernel.logs.log_file import LogFile
from covey.kernel.logs.redact import REDACTED, Redactor

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.config.config import Config
    from covey.kernel.seat import Seat

LONGEST_LINE = 65_536
QUEUE_BYTES = 8 << 20
FLUSH_S = 2.0
_OWN = {"ts", "level", "msg", "logger"}
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Formats a record as one line: ts, level, msg, logger, the fields of `extra`, and the traceback as `error`."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without secrets and bounded in length."""
        entry: dict[str, Any] = {
            "ts": timestamp(record.created),
            "level": record.levelname.lower(),
            "msg": self._redactor.excerpt(_message(record)),
            "logger": self._redactor.excerpt(str(record.name)),
        }
        extras = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        more = {(f"{name}_" if name in _OWN else name): value for name, value in self._redactor.value(extras).items()}
        if record.exc_info and record.exc_info[0] is not None:
            more["error"] = self._redactor.excerpt(self.formatException(record.exc_info), end=True)
        line = json.dumps({**entry, **more}, ensure_ascii=False)
        if len(line) > LONGEST_LINE:
            line = json.dumps(
                {**entry, "left_out": sorted(more)[:20], "error": more.get("error", "")}, ensure_ascii=False
            )
        # The encoding itself may have put a secret together, which no search of the parts could find.
        if self._redactor.holds_secret(line):
            line = json.dumps({"ts": entry["ts"], "level": entry["level"], "msg": REDACTED})
        return line.encode("utf-8", "backslashreplace").decode()  # lone surrogates become JSON escapes


class LogWriter(logging.Handler):
    """Writes records in the background. `dropped` is the number of lines that were lost."""

    def __init__(
        self, file: LogFile, redactor: Redactor, *, clock: Clock | None = None, queue_bytes: int = QUEUE_BYTES
    ) -> None:
        super().__init__()
        self.setFormatter(JsonLines(redactor))
        self.file = file
        self.dropped = 0
        self._clock = clock or SystemClock()
        self._queue_bytes = queue_bytes
        self._waiting: list[bytes] = []
        self._size = 0
        self._busy = False
        self._closing = False
        # Its lock is re-entrant: a signal handler may log while its own thread is in here.
        self._changed = threading.Condition()
        self._unreported = 0
        self._reason = ""
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode() + b"\n"
        except Exception as error:  # noqa: BLE001 - a record that cannot be shown is lost; the caller is not
            self._drop(1, f"a record could not be formatted: {type(error).__name__}")
            return
        with self._changed:
            if self._closing or self._size + len(line) > self._queue_bytes:
                self._drop(1, "the disk does not keep up")
                return
            self._waiting.append(line)
            self._size += len(line)
            # Started with the first line, so that a process may fork before it logs.
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="covey-log", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything is written, at most `FLUSH_S` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._busy, FLUSH_S)

    def close(self) -> None:
        """Write the queued lines and close the file."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(FLUSH_S)
        super().close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closing)
                lines = self._waiting
                self._waiting = []
                self._size = 0
                self._busy = True
            if lines:
                self._write(lines)
            elif self._closing:
                break
        self.file.close()
        with self._changed:
            self._busy = False
            self._changed.notify_all()

    def _write(self, lines: list[bytes]) -> None:
        now = self._clock.time()
        with self._changed:
            lost, reason = self._unreported, self._reason
        report = [self._report(lost, reason, now)] if lost else []
        written, problem = self.file.write([*report, *lines], now)
        with self._changed:
            if report and written:
                self._unreported -= lost
        missing = len(lines) - max(written - len(report), 0)
        if missing:
            self._drop(missing, problem)

    def _drop(self, count: int, reason: str) -> None:
        with self._changed:
            self.dropped += count
            self._unreported += count
            self._reason = reason

    def _report(self, lost: int, reason: str, now: float) -> bytes:
        entry = {
            "ts": timestamp(now),
            "level": "warning",
            "msg": "log lines were lost",
            "logger": "covey.logs",
            "lost": lost,
            "reason": reason,
        }
        return json.dumps(entry).encode() + b"\n"


redactor = Redactor()
"""Keeps secrets out of the log of this process: call `redactor.register(secret)` for each secret that it holds."""
_writer: LogWriter | None = None
_level_before = logging.WARNING


def configure(seat: Seat, config: Config) -> LogWriter:
    """Send everything that uses `logging` to the log file of the daemon, and return the writer.

    Called again, it applies the limits and the level of the new configuration.
    """
    global _writer, _level_before  # noqa: PLW0603 - logging is one per process, and so is this
    for secret in config.secrets():
        redactor.register(secret)
    limits = {
        "max_bytes": config.get("log.max_mb") << 20,
        "max_age_s": config.get("log.max_days") * 86_400,
        "max_files": config.get("log.max_files"),
    }
    root = logging.getLogger()
    if _writer is None or _writer.file.path != seat.log_file:
        close()
        _level_before = root.level
        _writer = LogWriter(LogFile(seat.log_file, **limits), redactor)
        root.addHandler(_writer)
    else:
        _writer.file.limit(**limits)
    root.setLevel(config.get("log.level").upper())
    return _writer


def close() -> None:
    """Write the queued lines and stop logging to the file; the level is the one from before."""
    global _writer  # noqa: PLW0603
    if _writer is not None:
        logging.getLogger().removeHandler(_writer)
        logging.getLogger().setLevel(_level_before)
        _writer.close()
        _writer = None


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 - arguments that do not fit their message
        with contextlib.suppress(Exception):
            return f"{record.msg} (with arguments that do not fit: {record.args!r}: {error})"
        return f"a message that cannot be shown ({type(error).__name__})"
