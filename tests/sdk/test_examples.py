"""The examples do what they say, on real hosts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sdk.conformance.hosts import Host, until
from sdk.generate.__main__ import SDK


def test_a_worker_joins_by_the_invite_in_its_environment_and_does_tasks() -> None:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    alice, pod = Host(folder, "alice"), Host(folder, "pod")
    working: subprocess.Popen[bytes] | None = None
    try:
        alice.run("up")
        pod.run("up")
        alice.run("mesh", "create", "team", "--name", "alice", "--yes")
        invite = alice.run("mesh", "invite", "--yes")["token"]
        good = alice.run("mesh", "task", "create", "train", "--tags", "gpu", "--yes")["id"]
        environment = pod.environment(COVEY_INVITE=invite, PYTHONPATH=str(SDK / "python"))
        command = [sys.executable, str(SDK / "examples" / "worker.py"), "gpu", "tr", "a-z", "A-Z"]
        working = subprocess.Popen(command, cwd=folder, env=environment)
        task = until(
            lambda: next(
                (one for one in [alice.run("mesh", "task", "show", good)] if one["status"] == "completed"), None
            ),
            "the end of the task",
        )
        assert task["result"] == "TRAIN"
        assert working.poll() is None
    finally:
        if working is not None:
            working.kill()
            working.wait()
        for host in (pod, alice):
            host.run("down")
        shutil.rmtree(folder, ignore_errors=True)
