"""A peer whose clock is wrong by `COVEY_LAB_SKEW_S` seconds: `python lab/mesh/skewed_peer.py <home> <slug>`."""

from __future__ import annotations

import os
import sys
import time

SKEW_S = float(os.environ["COVEY_LAB_SKEW_S"])
_true_time, _true_time_ns = time.time, time.time_ns
time.time = lambda: _true_time() + SKEW_S  # before anything else takes it
time.time_ns = lambda: _true_time_ns() + int(SKEW_S * 1e9)

from covey.mesh.__main__ import main  # noqa: E402 - the clock comes first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
