"""When a process has come to rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab.processes import rested

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells what a process is using")


async def test_a_process_that_computes_is_waited_for_until_it_rests_and_no_longer_than_allowed(tmp_path: Path) -> None:
    done = tmp_path / "done"
    program = (
        "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass\n"
        f"open({str(done)!r}, 'w')\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as busy:
        try:
            await rested(busy.pid, 0.0)
            assert not done.exists(), "it was not waited for"
            await rested(busy.pid, 60.0)
            assert done.exists()
        finally:
            busy.kill()
