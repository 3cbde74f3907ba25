"""Many beats due at the same moment: no more run at a time than may, and all of them finish."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from tests.covey.beats.pretended import Pretended, logged, until
from tests.covey.conftest import Covey

BEATS, LIMIT = 50, 5
PATIENCE_S = 280


@pytest.mark.timeout(600)
def test_fifty_beats_that_are_due_at_once_respect_the_limit_and_all_finish(covey: Covey) -> None:
    agent = Pretended(covey.folder / "bin")
    agent.wish(waits=True)
    covey.home.mkdir()
    config = f"[beats]\nmax_concurrent = {LIMIT}\njitter_s = 0\n"
    for number in range(BEATS):
        workspace = covey.folder / f"w{number}"
        workspace.mkdir()
        (workspace / "HEARTBEAT.md").write_text("---\ninterval: 1d\n---\nLook.\n")
        config += f'\n[[beats.workspace]]\npath = "{workspace}"\n'
    (covey.home / "config.toml").write_text(config)
    assert covey.run("up", PATH=f"{agent.folder}:{os.environ['PATH']}").code == 0
    until(lambda: len(agent.starts) == LIMIT, "as many as may run at a time", seconds=PATIENCE_S)
    with closing(sqlite3.connect(f"file:{covey.node / 'node.db'}?mode=ro", uri=True)) as database:
        states = dict(database.execute("SELECT state, count(*) FROM beat_run GROUP BY state").fetchall())
    assert states == {"running": LIMIT, "queued": BEATS - LIMIT}
    assert len(agent.starts) == LIMIT, "nobody begins while so many run"
    agent.let_go()
    until(lambda: len(logged(covey.home)) == BEATS, "the last of them", seconds=PATIENCE_S)
    with closing(sqlite3.connect(f"file:{covey.node / 'node.db'}?mode=ro", uri=True)) as database:
        every = "SELECT began_at, ended_at FROM beat_run"

        def all_ended() -> bool:  # the log has a run a moment before its end is stored
            return all(ended is not None for _, ended in database.execute(every))

        until(all_ended, "the end of the last of them is stored", seconds=PATIENCE_S)
        spans = database.execute(every).fetchall()
    moments = sorted([(began, 1) for began, _ in spans] + [(ended, -1) for _, ended in spans])
    most = running = 0
    for _, change in moments:
        running += change
        most = max(most, running)
    assert most <= LIMIT
    assert sorted(agent.starts) == sorted({line["run"] for line in logged(covey.home)})
    assert {line["outcome"] for line in logged(covey.home)} == {"ok"}
