"""What the policy allows runs nothing denied in any of four shells: a short run; the long one is `./run lab shells`."""

from __future__ import annotations

import secrets
import shutil

import pytest

from lab.shells.compare import SHELLS, compare, run

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        not shutil.which("bwrap") or "bash" not in SHELLS, reason="bubblewrap is needed to run commands"
    ),
]


def test_the_sandbox_sees_what_is_run() -> None:
    texts = ["rm x", "git -C . push", "cat ~/.ssh/id", "git status; echo 'rm x'"]
    found = [result["bash"] for result in run(texts)]
    assert found == [["rm"], ["push"], ["secret"], []]


@pytest.mark.parametrize("seed", [1, secrets.randbelow(1_000_000)], ids=["always the same", "another each time"])
def test_what_is_allowed_runs_nothing_denied(seed: int) -> None:
    found = compare(150, seed)
    assert found.misses == (), seed
    assert found.tried
