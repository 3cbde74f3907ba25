"""When reminders are due, and what their messages say."""

from __future__ import annotations

from covey.mesh.services.document import Document
from covey.mesh.services.reminders.reminder import Due, Reminder, message_id, read_reminder, text_of

DAY_S = 86_400.0


def test_a_reminder_at_a_time_is_due_once() -> None:
    reminder = Reminder(message="go", at=100.0, created_at=10.0)
    assert reminder.due(10.0, 99.0) is None
    assert reminder.due(10.0, 100.0) == Due(100.0, 0)
    assert reminder.due(100.0, 1000.0) is None
    assert (reminder.next_after(10.0), reminder.next_after(100.0)) == (100.0, float("inf"))


def test_what_was_missed_is_made_up_for_by_one_message_that_says_so() -> None:
    reminder = Reminder(message="stand up", cron="0 9 * * *", created_at=0.0)
    due = reminder.due(0.0, 3 * DAY_S)
    assert due == Due(2 * DAY_S + 9 * 3600, 2)
    assert due is not None
    assert text_of(reminder, due, 3 * DAY_S) == (
        "stand up\n\n(due at 1970-01-03T09:00:00.000Z, 15 h ago; 2 earlier ones were missed)"
    )
    assert text_of(reminder, Due(100.0, 0), 101.0) == "stand up"


def test_each_time_of_each_reminder_has_a_message_of_its_own() -> None:
    assert len({message_id(key, at) for key in ("U1/a", "U1/b") for at in (1.0, 2.0)}) == 4
    assert message_id("U1/a", 1.0) == message_id("U1/a", 1.0)


def test_documents_that_are_no_reminders_are_left_out() -> None:
    for value in (
        {"message": "x"},
        {"message": "x", "created_at": 0, "cron": "never"},
        {"message": "x", "created_at": 0, "cron": "* * * * *", "tz": "Nowhere/Here"},
        {"message": "x", "created_at": 0, "at": 1e300},
        {"message": 7, "created_at": 0},
    ):
        assert read_reminder(Document("reminder", "U1/a", value, 1, "U1", 0.0)) is None
