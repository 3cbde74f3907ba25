"""Adapters of the configuration, as processes of a real daemon."""

from __future__ import annotations

import json
from pathlib import Path

from covey.keeper.adapter_output import last_line
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept

TABLE = '[[keeper.adapter]]\nkind = "webhook"\nsession = "api"\nname = "hooks"\nsecret = "NO_SUCH_SECRET"\n'


def test_an_adapter_that_ends_again_and_again_is_named_by_the_doctor_and_its_session(kept: Kept) -> None:
    (kept.covey.home / "config.toml").write_text(TABLE)
    kept.begin()
    kept.start()
    found = until(lambda: kept.keep("status", "api").result["failing_adapters"])
    assert [(adapter["name"], adapter["session"]) for adapter in found] == [("adapter-api-hooks", "api")]
    until(lambda: "is not set" in kept.keep("status", "api").result["failing_adapters"][0]["last_line"])
    findings = json.loads(kept.covey.run("doctor").stdout)["result"]["findings"]
    (finding,) = [one for one in findings if one["section"] == "keeper"]
    assert finding["status"] == "fail"
    assert "adapter-api-hooks ends again and again" in finding["detail"]
    assert "is not set" in finding["detail"]
    assert Path(finding["fix"].removeprefix("tail ")).is_file()


def test_the_last_line_of_a_log_is_the_message_of_its_json_or_the_line_itself(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert last_line(log) == ""
    log.write_text('--- 1 covey starts it\n{"msg": "no route"}\n\n--- 2 covey starts it\n')
    assert last_line(log) == "no route"
    log.write_text("Traceback (most recent call last):\nOSError: \x1bx\n")
    assert last_line(log) == "OSError: ?x"
