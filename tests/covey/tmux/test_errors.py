"""The errors that follow from the output and the exit code of tmux and ssh."""

from __future__ import annotations

import pytest

from covey.tmux.errors import (
    TmuxError,
    TmuxGoneError,
    TmuxProtocolError,
    TmuxRefusedError,
    TmuxUnreachableError,
    failure,
)


@pytest.mark.parametrize(
    ("words", "code", "meaning"),
    [
        ("no server running on /tmp/s\n", 1, TmuxGoneError),
        ("error connecting to /tmp/s (No such file or directory)\n", 1, TmuxGoneError),
        ("error connecting to /tmp/s (Connection refused)\n", 1, TmuxGoneError),
        ("server exited\n", 1, TmuxGoneError),
        ("server exited unexpectedly\n", 1, TmuxProtocolError),
        ("lost server\n", 1, TmuxProtocolError),
        ("error connecting to /tmp/s (Permission denied)\n", 1, TmuxUnreachableError),
        ("can't find pane: %7\n", 1, TmuxRefusedError),
        ("ssh: connect to host h port 22: Connection refused\n", 255, TmuxUnreachableError),
        ("sh: 1: tmux: not found\n", 127, TmuxUnreachableError),
        ("", 1, TmuxUnreachableError),
        ("", 0, TmuxProtocolError),
        ("", -9, TmuxProtocolError),
    ],
)
def test_last_words_are_understood(words: str, code: int, meaning: type[TmuxError]) -> None:
    found = failure(words, code)
    assert type(found) is meaning
    assert str(found)
