"""`covey service`, as a person or an agent uses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.covey.conftest import Covey


def test_the_verbs_plan_install_tell_and_remove(covey: Covey) -> None:
    plan = covey.run("service", "install", "--dry-run").result
    assert not Path(plan["path"]).exists()
    assert covey.run("service", "install").result["changed"] is True
    assert covey.run("service", "install", "--yes").result["changed"] is False
    assert Path(plan["path"]).read_text() == plan["text"]
    assert covey.run("service", "status").result["installed"] is True
    assert covey.run("service", "uninstall", "--yes").result["changed"] is True
    assert covey.run("service", "status").result["installed"] is False
