"""The start of monitoring while the server is busy: tmux must survive it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.covey.tmux.conftest import BRISK, Tmux, environment, watching

STARTS = 25
CHURN = (
    'while tmux -u -S "$0" new-session -d -s "$1" "exec sleep 1000"; '
    'do tmux -u -S "$0" rename-session -t "=$1" "$1+"; tmux -u -S "$0" kill-session -t "=$1+"; done'
)


@contextmanager
def churning(tmux: Tmux, name: str) -> Iterator[None]:
    """Create, rename and kill sessions as fast as programs can."""
    churn = subprocess.Popen(
        ["sh", "-c", CHURN, tmux.socket, name], env=environment(), stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
        assert churn.poll() is None, "no server, no more sessions"
    finally:
        os.killpg(churn.pid, signal.SIGKILL)
        churn.wait()


async def test_the_server_survives_watches_that_begin_and_end_while_sessions_come_and_go(tmux: Tmux) -> None:
    server = tmux.start("user")
    with ExitStack() as all_of_them:
        for name in ("a", "b"):
            all_of_them.enter_context(churning(tmux, name))
        for _ in range(STARTS):
            async with watching(tmux, BRISK) as reader:
                assert reader.watch.health.identity
                assert reader.watch.health.identity.pid == server
                assert "user" in {pane.session_name for pane in reader.watch.panes.values()}
    assert tmux.pid == server
