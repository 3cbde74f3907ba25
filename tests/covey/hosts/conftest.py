"""The real sshd and tmux server of the tmux tests."""

from __future__ import annotations

from tests.covey.tmux.conftest import sshd, tmux

__all__ = ["sshd", "tmux"]
