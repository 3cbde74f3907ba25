"""What the guard lets pass does nothing denied in four shells: a short run; the long one is `./run lab guarded`."""

from __future__ import annotations

import secrets
import shutil

import pytest

from lab.guarded.compare import compare, run
from lab.shells.compare import SHELLS

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        not shutil.which("bwrap") or "bash" not in SHELLS, reason="bubblewrap is needed to run commands"
    ),
]


def test_the_sandbox_sees_what_is_done() -> None:
    texts = [
        "rm -rf ~",
        "cd ..; rm -r work",
        "find ~ -delete",
        "sudo ls",
        "echo x > /dev/sda",
        "git rebase -x 'sudo ls' HEAD~1",
        "rm -rf build; rm ../x; ls; echo 'sudo ls'",
    ]
    found = [result["bash"] for result in run(texts)]
    assert found == [["rm"], ["rm"], ["deleted"], ["sudo"], ["device"], ["sudo"], []]


@pytest.mark.parametrize("seed", [1, secrets.randbelow(1_000_000)], ids=["always the same", "another each time"])
def test_what_passes_does_nothing_denied(seed: int) -> None:
    found = compare(200, seed)
    assert found.passed == (), seed
    assert found.tried
