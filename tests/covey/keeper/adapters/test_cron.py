"""Messages at the times of a cron expression; the test moves the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from covey.adapter import Channel
from covey.keeper.adapters import catalog, cron, program
from covey.kernel.cron import next_time
from tests.covey.keeper.adapters.conftest import Session, Start, until


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


class EndedError(Exception):
    """The test has seen enough."""


class MovedClock:
    """A clock that is moved by each sleep, or to what the test says."""

    def __init__(self, start: float, jumps: list[float], sleeps: int) -> None:
        self.time = start
        self._jumps = jumps
        self._sleeps = sleeps

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        if not self._sleeps:
            raise EndedError
        self._sleeps -= 1
        self.time = self._jumps.pop(0) if self._jumps else self.time + seconds


def sent(session: Session, clock: MovedClock, count: int, **settings: str) -> list[str]:
    """Run the adapter's loop, and return the times of its messages as the clock had them."""
    adapter = program.Adapter("cron", Path(session.folder), catalog.completed("cron", {"message": "due", **settings}))
    with Channel("cron", folder=session.folder, receives=False) as channel:
        session.read("cron")
        with pytest.raises(EndedError):
            cron.send_at_times(channel, adapter, clock.now, clock.sleep)
        found = [session.message("cron") for _ in range(count)]
        assert session.silent("cron")
    assert {message["content"] for message in found} <= {"due"}
    return [datetime.fromtimestamp(message["ts"], UTC).isoformat()[11:19] for message in found]


def test_a_message_is_sent_at_each_time(session: Session) -> None:
    clock = MovedClock(at("2026-03-02T08:59:50"), [], 50)
    assert sent(session, clock, 3, schedule="*/10 9 * * *", timezone="UTC") == ["09:00:00", "09:10:00", "09:20:00"]


def test_times_that_passed_while_the_machine_slept_are_made_up_for_once(session: Session) -> None:
    clock = MovedClock(at("2026-03-02T09:00:30"), [at("2026-03-02T13:12:30")], 3)
    assert sent(session, clock, 2, schedule="* * * * *", timezone="UTC") == ["13:12:30", "13:13:00"]


def test_a_clock_that_is_set_back_does_not_delay_the_next_time(session: Session) -> None:
    clock = MovedClock(at("2026-03-02T09:30:00"), [at("2026-03-01T09:59:30")], 3)
    assert sent(session, clock, 1, schedule="0 * * * *", timezone="UTC") == ["10:00:00"]


@pytest.mark.parametrize(
    ("after", "following"),
    [
        ("2026-03-02T09:00:00", "2026-03-03T08:00:00"),
        ("2026-03-29T00:00:00", "2026-03-29T07:00:00"),
        ("2026-10-24T07:00:00", "2026-10-25T08:00:00"),
    ],
)
def test_times_follow_the_wall_clock_of_the_zone(after: str, following: str) -> None:
    assert next_time("0 9 * * *", "Europe/Berlin", at(after)) == at(following)


def test_in_an_hour_that_comes_twice_time_does_not_go_back() -> None:
    moment = at("2026-10-24T23:00:00")
    for _ in range(6):
        later = next_time("30 * * * *", "Europe/Berlin", moment)
        assert later > moment
        moment = later


def test_the_program_waits_and_ends_when_told(session: Session, start: Start) -> None:
    adapter = start("cron", schedule="0 0 29 2 *", message="x", name="leap")
    until((session.folder / "in.leap").exists)
    adapter.end()
    assert list(session.folder.iterdir()) == []
    assert [line["msg"] for line in adapter.lines()] == ["adapter started", "adapter ended"]
