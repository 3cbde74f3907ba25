"""The daemon's log: one JSON object a line, without secrets, in files that rotate by size and age.

The caller makes the finished line, so that what is logged is what was true at that moment, and puts it into a bounded queue; one thread writes. A plain write
would be cheaper by a thread, but a disk that stalls (a network home, a full write-back cache) would then stall the event loop with it. Nothing here raises
into the caller: what cannot be written is dropped, counted, and the count is logged as soon as something can be written again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from typing import TYPE_CHECKING, Any

from covey.kernel.clock import SystemClock, timestamp
from covey.kernel.log_file import LogFile
from covey.kernel.redact import REDACTED, Redactor

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.config import Config
    from covey.kernel.seat import Seat

LONGEST_LINE = 65_536
QUEUE_BYTES = 8 << 20
FLUSH_S = 2.0
_OWN = {"ts", "level", "msg", "logger"}
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """A record as one line: ts, level, msg, logger, then whatever `extra` held, then the traceback as `error`."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """The line, whatever the record holds."""
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
        if self._redactor.holds_secret(
            line
        ):  # put together by the encoding itself, which no search of the parts could see
            line = json.dumps({"ts": entry["ts"], "level": entry["level"], "msg": REDACTED})
        return line.encode("utf-8", "backslashreplace").decode()  # what is no Unicode is written as JSON escapes it


class LogWriter(logging.Handler):
    """Takes records and writes them in the background. `dropped` counts the lines that were lost."""

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
        self._busy = self._closing = False
        self._changed = (
            threading.Condition()
        )  # on a re-entrant lock: a signal handler may log while its own thread is in here
        self._unreported, self._reason = 0, ""
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
            if (
                self._thread is None
            ):  # not before there is something to write, so that a process may fork before it logs
                self._thread = threading.Thread(target=self._run, name="covey-log", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything is written, though not for ever."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._busy, FLUSH_S)

    def close(self) -> None:
        """Write what is waiting and let go of the file."""
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
                lines, self._waiting, self._size, self._busy = self._waiting, [], 0, True
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
"""What this process keeps out of its log: `redactor.register(secret)` for each secret that it holds."""
_writer: LogWriter | None = None


def configure(seat: Seat, config: Config) -> LogWriter:
    """Log to the home's file as the configuration says; called again, change the limits and the level. Everything that uses `logging` is caught."""
    global _writer  # noqa: PLW0603 - logging is one per process, and so is this
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
        _writer = LogWriter(LogFile(seat.log_file, **limits), redactor)
        root.addHandler(_writer)
    else:
        _writer.file.limit(**limits)
    root.setLevel(config.get("log.level").upper())
    return _writer


def close() -> None:
    """Write what is waiting and stop logging to the file."""
    global _writer  # noqa: PLW0603
    if _writer is not None:
        logging.getLogger().removeHandler(_writer)
        _writer.close()
        _writer = None


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 - arguments that do not fit their message
        with contextlib.suppress(Exception):
            return f"{record.msg} (with arguments that do not fit: {record.args!r}: {error})"
        return f"a message that cannot be shown ({type(error).__name__})"
