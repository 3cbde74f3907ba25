"""The log: one JSON object a line, no secrets, bounded files, and never in the way of the program."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock, timestamp
from covey.kernel.config.config import Config, set_value
from covey.kernel.home import Home
from covey.kernel.logs import logs
from covey.kernel.logs.log_file import LogFile
from covey.kernel.logs.logs import LONGEST_LINE, JsonLines, LogWriter
from covey.kernel.logs.redact import REDACTED, Redactor
from covey.node.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY = 86_400.0


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer to write than a user would wait."""
    monkeypatch.setattr(logs, "FLUSH_S", 60.0)


MADE: list[LogFile] = []


def log_file(path: Path, **limits: int) -> LogFile:
    """A file that is closed after the test."""
    MADE.append(LogFile(str(path), **limits))
    return MADE[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()


class Bench:
    """A logger of its own that writes to a file of its own."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.clock = ManualClock()
        self.redactor = Redactor()
        self.file = LogFile(str(path), **{name: value for name, value in options.items() if name.startswith("max_")})
        self.writer = LogWriter(
            self.file,
            self.redactor,
            clock=self.clock,
            **{name: value for name, value in options.items() if not name.startswith("max_")},
        )
        self.log = logging.Logger("covey.test")
        self.log.addHandler(self.writer)

    def entries(self) -> list[dict[str, Any]]:
        self.writer.flush()
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "daemon.log")
    yield made
    made.writer.close()


def line(number: int, moment: float = 0.0) -> bytes:
    return json.dumps({"ts": timestamp(moment), "level": "info", "msg": f"{number:04d}"}).encode() + b"\n"


def messages(path: Path) -> list[str]:
    return [json.loads(text)["msg"] for text in path.read_text().splitlines()]


# --- lines ---


def test_a_record_is_one_json_object_with_its_extras(bench: Bench) -> None:
    bench.log.info("%s is %d", "answer", 42, extra={"pane": "%14", "nested": {"a": [1, None]}})
    (entry,) = bench.entries()
    assert list(entry) == ["ts", "level", "msg", "logger", "pane", "nested"]
    moment = datetime.fromisoformat(entry.pop("ts"))
    assert moment.tzinfo == UTC
    assert entry == {
        "level": "info",
        "msg": "answer is 42",
        "logger": "covey.test",
        "pane": "%14",
        "nested": {"a": [1, None]},
    }


def test_an_exception_comes_with_its_traceback_and_without_its_secret(bench: Bench) -> None:
    try:
        fail("bad password=" + "hunter" + "2")
    except RuntimeError:
        bench.log.exception("it failed")
    (entry,) = bench.entries()
    assert entry["level"] == "error"
    assert "test_logs.py" in entry["error"]
    assert f"RuntimeError: bad password={REDACTED}" in entry["error"]
    assert "hunter2" not in bench.path.read_text()


def test_a_record_is_one_line_whatever_it_holds(bench: Bench) -> None:
    bench.log.info('a\nb\r\n{"msg": "forged"}\u2028\x00\x1b[31m\udcff\U0001f426')
    assert bench.entries()[0]["msg"] == 'a\nb\r\n{"msg": "forged"}\u2028\x00\x1b[31m\udcff\U0001f426'
    assert bench.path.read_bytes().count(b"\n") == 1
    assert "\U0001f426".encode() in bench.path.read_bytes()


def test_arguments_that_do_not_fit_are_shown_and_not_raised(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    class Sulky:
        def __str__(self) -> str:
            raise RuntimeError

        __repr__ = __str__

    bench.log.info("%d items", "token=abcdef")
    bench.log.info(Sulky())
    bench.log.info("x %s", Sulky(), extra={"sulky": Sulky(), "set": {1}, "big": 10**5000})
    first, second, third = bench.entries()
    assert first["msg"].startswith("%d items (with arguments that do not fit: (")
    assert "abcdef" not in first["msg"]
    assert second["msg"] == "a message that cannot be shown (RuntimeError)"
    assert (third["sulky"], third["set"]) == ("<Sulky>", [1])
    assert capsys.readouterr() == ("", "")
    assert bench.writer.dropped == 0


def test_an_extra_cannot_take_the_place_of_our_own_fields(bench: Bench) -> None:
    bench.log.info("x", extra={"ts": 1, "level": 2, "logger": 3})
    (entry,) = bench.entries()
    assert (entry["level"], entry["level_"], entry["ts_"], entry["logger_"]) == ("info", 2, 1, 3)


def test_a_line_has_an_end(bench: Bench) -> None:
    bench.log.info("x" * 10_000_000)
    bench.log.info("y", extra={f"k{number}": "z" * 10_000 for number in range(100)})
    first, second = bench.entries()
    assert first["msg"].endswith("x …")
    assert second["left_out"][0] == "k0"
    assert max(len(text) for text in bench.path.read_bytes().splitlines()) <= LONGEST_LINE


class Shy:
    """An object whose text is a secret."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def fail(text: str) -> None:
    raise RuntimeError(text)


def say(log: logging.Logger, text: str, place: str) -> None:
    """Log a text in one of the places where it could be."""
    extras = {
        "extra": text,
        "name": {text: 1},
        "nested": {"a": [{"b": (text,)}]},
        "bytes": text.encode(errors="replace"),
        "list": [text, 1, text],
        "object": Shy(text),
    }
    if place == "message":
        log.info(text.replace("%", "%%"))
    elif place == "argument":
        log.info("got %s and %r", text, [text])
    elif place == "logger":
        log.handle(logging.LogRecord(text, logging.INFO, "", 0, "got", (), None))
    elif place == "exception":
        try:
            fail(text)
        except RuntimeError:
            log.exception("got")
    else:
        log.info("got", extra={"what": extras[place]})


SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=40).filter(
    lambda text: text not in REDACTED and text.strip()
)
PLACES = st.sampled_from(
    ["message", "argument", "logger", "exception", "extra", "name", "nested", "bytes", "list", "object"]
)


@given(secret=SECRETS, before=st.text(max_size=20), after=st.text(max_size=20), place=PLACES)
def test_a_registered_secret_never_reaches_the_file(secret: str, before: str, after: str, place: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory) / "daemon.log")
        bench.redactor.register(secret)
        say(bench.log, before + secret + after, place)
        (entry,) = bench.entries()
        bench.writer.close()
        assert secret.encode() not in bench.path.read_bytes()
        assert secret not in repr(entry)


def test_a_secret_that_only_the_encoding_puts_together_takes_the_line_with_it() -> None:
    redactor = Redactor()
    redactor.register('"msg": "x", "logger"')
    assert json.loads(JsonLines(redactor).format(logging.makeLogRecord({"msg": "x"})))["msg"] == REDACTED


# --- files ---


def test_the_file_is_private_and_a_loose_one_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    before = os.umask(0)
    try:
        log_file(path).write([line(1)], 0)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o666)
        log_file(path).write([line(2)], 0)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert messages(path) == ["0001", "0002"]


def test_a_file_that_is_full_gives_way_to_a_new_one_and_the_oldest_goes(tmp_path: Path) -> None:
    path, size = tmp_path / "daemon.log", len(line(0))
    file = log_file(path, max_bytes=3 * size, max_files=3)
    assert file.write([line(number) for number in range(14)], 0) == (14, "")
    assert {name.name: messages(name) for name in tmp_path.iterdir()} == {
        "daemon.log": ["0012", "0013"],
        "daemon.log.1": ["0009", "0010", "0011"],
        "daemon.log.2": ["0006", "0007", "0008"],
    }
    assert all(stat.S_IMODE(name.stat().st_mode) == 0o600 for name in tmp_path.iterdir())


def test_no_file_grows_beyond_its_limit_and_no_line_is_split(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    file = log_file(path, max_bytes=1000, max_files=100)
    wanted = [b"%d %s\n" % (number, b"x" * (number * 37 % 300)) for number in range(200)]
    for start in range(0, 200, 7):
        file.write(wanted[start : start + 7], 0)
    files = sorted(tmp_path.iterdir(), key=lambda name: -int(name.suffix[1:]) if name.suffix != ".log" else 0)
    assert b"".join(name.read_bytes() for name in files) == b"".join(wanted)
    assert max(name.stat().st_size for name in files) <= 1000


def test_a_line_larger_than_a_file_gets_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    log_file(path, max_bytes=10, max_files=3).write([b"a\n", b"b" * 50 + b"\n", b"c\n"], 0)
    assert [name.read_bytes()[:1] for name in (path, tmp_path / "daemon.log.1", tmp_path / "daemon.log.2")] == [
        b"c",
        b"b",
        b"a",
    ]


def test_a_single_file_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    log_file(path, max_bytes=2 * len(line(0)), max_files=1).write([line(number) for number in range(5)], 0)
    assert {name.name: messages(name) for name in tmp_path.iterdir()} == {"daemon.log": ["0004"]}


def test_an_old_file_gives_way_too_also_after_a_restart(tmp_path: Path) -> None:
    path, start = tmp_path / "daemon.log", 1_767_225_600.0
    log_file(path).write([line(1, start)], start)
    log_file(path).write([line(2, start + 13 * DAY)], start + 13 * DAY)
    assert messages(path) == ["0001", "0002"]
    log_file(path).write([line(3, start + 15 * DAY)], start + 15 * DAY)
    assert messages(path) == ["0003"]
    assert messages(tmp_path / "daemon.log.1") == ["0001", "0002"]


def test_rotated_files_are_deleted_when_they_are_old_or_too_many(tmp_path: Path) -> None:
    path, now = tmp_path / "daemon.log", 1_767_225_600.0
    for name, age in (
        ("daemon.log.1", 1),
        ("daemon.log.2", 15),
        ("daemon.log.7", 1),
        ("daemon.log.bak", 99),
        ("other.log.2", 99),
    ):
        (tmp_path / name).write_text("x\n")
        os.utime(tmp_path / name, (now - age * DAY, now - age * DAY))
    log_file(path).write([line(1, now)], now)
    assert sorted(name.name for name in tmp_path.iterdir()) == [
        "daemon.log",
        "daemon.log.1",
        "daemon.log.bak",
        "other.log.2",
    ]


def test_a_file_that_was_moved_or_deleted_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    file = log_file(path)
    file.write([line(1)], 0)
    path.rename(tmp_path / "kept")
    file.write([line(2)], 0)
    path.unlink()
    file.write([line(3)], 0)
    assert messages(tmp_path / "kept") == ["0001"]
    assert messages(path) == ["0003"]


def test_a_line_torn_by_a_crash_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    path.write_bytes(line(1) + b'{"ts": "2026')
    log_file(path).write([line(2)], 0)
    assert path.read_bytes() == line(1) + b'{"ts": "2026\n' + line(2)


def test_a_rotation_that_fails_is_tried_again_later_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    file = log_file(path, max_bytes=2 * len(line(0)), max_files=2)
    (tmp_path / "daemon.log.1").mkdir()
    (tmp_path / "daemon.log.1" / "in the way").write_text("")
    assert file.write([line(number) for number in range(4)], 0) == (4, "")
    (tmp_path / "daemon.log.1" / "in the way").unlink()
    (tmp_path / "daemon.log.1").rmdir()
    file.write([line(4)], 30)
    assert messages(path) == ["0000", "0001", "0002", "0003", "0004"]
    file.write([line(5)], 60)
    assert messages(path) == ["0005"]


@pytest.mark.parametrize("place", ["missing/daemon.log", "folder"])
def test_a_place_that_cannot_be_written_is_reported_and_not_raised(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    written, problem = log_file(tmp_path / place).write([line(1)], 0)
    assert written == 0
    assert problem


def test_a_pipe_that_nobody_reads_does_not_hold_us_up(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    os.mkfifo(path)
    assert log_file(path).write([line(1)], 0)[0] == 0


# --- a disk without space, for real ---

FULL_DISK = """
import json, logging, os, resource, sys
from covey.kernel.logs import logs
from covey.kernel.logs.log_file import LogFile
from covey.kernel.logs.logs import LogWriter
from covey.kernel.logs.redact import Redactor
logs.FLUSH_S = 60.0
path = sys.argv[1]
writer = LogWriter(LogFile(path, max_bytes=1 << 30), Redactor())
log = logging.Logger("covey.test")
log.addHandler(writer)
log.info("first"); writer.flush()
size = os.path.getsize(path)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, hard))
for number in range(5):
    log.info("lost %d", number)
    writer.flush()
assert os.path.getsize(path) == size, "a part of a line was left behind"
assert writer.dropped == 5, writer.dropped
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
log.info("last"); writer.close()
print(json.dumps([json.loads(line) for line in open(path)]))
"""


def test_a_full_disk_loses_lines_counts_them_and_says_so_afterwards(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "daemon.log")], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    first, report, last = json.loads(done.stdout)
    assert (first["msg"], last["msg"]) == ("first", "last")
    assert (report["level"], report["msg"], report["lost"], report["reason"]) == (
        "warning",
        "log lines were lost",
        5,
        "File too large",
    )


def test_a_disk_that_stalls_holds_nobody_up_and_the_queue_stays_bounded(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "daemon.log", queue_bytes=2000)
    stalled, go_on = threading.Event(), threading.Event()
    write = bench.file.write

    def stall(lines: list[bytes], now: float) -> tuple[int, str]:
        stalled.set()
        go_on.wait(60)
        return write(lines, now)

    bench.file.write = stall  # type: ignore[method-assign]
    bench.log.info("first")
    assert stalled.wait(60)
    for number in range(1000):
        bench.log.info("number %d", number)
    lost = bench.writer.dropped
    assert lost > 900
    go_on.set()
    bench.writer.flush()
    bench.log.info("last")
    entries = bench.entries()
    bench.writer.close()
    assert sum(entry["msg"].startswith("number") for entry in entries) + lost == 1000
    assert [entry["lost"] for entry in entries if "lost" in entry] == [lost]
    assert entries[-1]["msg"] == "last"


def test_many_threads_write_whole_lines_and_lose_none(bench: Bench) -> None:
    def work(name: int) -> None:
        for number in range(200):
            bench.log.info("%d.%d", name, number)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = bench.entries()
    for name in range(8):
        assert [entry["msg"] for entry in entries if entry["msg"].startswith(f"{name}.")] == [
            f"{name}.{number}" for number in range(200)
        ]


def test_what_is_logged_last_is_written_before_the_process_ends(tmp_path: Path) -> None:
    script = """
import logging, sys
from covey.kernel.logs import logs
from covey.kernel.logs.log_file import LogFile
from covey.kernel.logs.logs import LogWriter
from covey.kernel.logs.redact import Redactor
logs.FLUSH_S = 60.0
logging.getLogger().addHandler(LogWriter(LogFile(sys.argv[1]), Redactor()))
for number in range(1000):
    logging.warning("%04d", number)
sys.exit(3)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "daemon.log")], check=False)
    assert done.returncode == 3
    assert messages(tmp_path / "daemon.log") == [f"{number:04d}" for number in range(1000)]


def test_after_closing_nothing_is_written_and_nothing_is_raised(bench: Bench) -> None:
    bench.log.info("before")
    bench.writer.close()
    bench.writer.close()
    bench.log.info("after")
    assert messages(bench.path) == ["before"]
    assert bench.writer.dropped == 1


# --- the daemon's own ---


def test_the_daemon_logs_to_its_home_and_a_reload_changes_level_and_limits(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    home.node.prepare()
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        writer = logs.configure(home.node, Config.load(home.node, SETTINGS))
        logging.getLogger("covey.kernel").info("shown")
        logging.getLogger("covey.kernel").debug("hidden")
        set_value(home.node, SETTINGS, "log.level", "debug")
        assert logs.configure(home.node, Config.load(home.node, SETTINGS)) is writer
        logging.getLogger("another.library").debug("shown too")
        logs.redactor.register("the-token-of-this-daemon")
        logging.getLogger("x").warning("the-token-of-this-daemon")
        logs.close()
        logs.close()
        logging.getLogger("x").warning("after")
    finally:
        root.setLevel(level)
    assert root.handlers == handlers
    assert messages(Path(home.node.log_file)) == ["shown", "shown too", REDACTED]
