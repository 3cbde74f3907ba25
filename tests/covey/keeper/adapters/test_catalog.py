"""The settings of adapters: what is refused, and how."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from covey.keeper.adapters import catalog
from tests.covey.keeper.adapters.conftest import Start

GOOD: dict[str, dict[str, Any]] = {
    "cron": {"schedule": "0 9 * * 1-5", "message": "good morning", "timezone": "Europe/Berlin"},
    "webhook": {"secret": "HOOK_SECRET", "template": "{event}: {repository[full_name]}", "port": 8080},
    "file": {"folder": "~/inbox", "pattern": "**/*.md", "outbox": "~/outbox"},
    "mail": {"imap": "mail.example", "user": "me", "password": "/run/pw", "allowed_from": ["you@mail.example"]},
    "apprise": {"urls": "~/.config/urls", "name": "phone"},
}


def test_every_kind_has_a_program_and_good_settings_have_no_problem() -> None:
    folder = Path(catalog.__file__).parent
    for kind in catalog.KINDS:
        assert (folder / f"{kind}.py").is_file()
        assert catalog.check(kind, GOOD[kind]) == []
        assert catalog.completed(kind, GOOD[kind])["name"] == GOOD[kind].get("name", kind)


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        ("cron", {}, "the adapter cron needs schedule"),
        ("cron", {"message": " "}, "message is empty"),
        ("cron", {"schedule": "* * * *"}, "five fields"),
        ("cron", {"schedule": "0 0 30 2 *"}, "schedule"),
        ("cron", {"schedule": "99 * * * *"}, "not a cron expression"),
        ("cron", {"timezone": "Mars/Base"}, "timezone 'Mars/Base' is not known"),
        ("cron", {"timezone": "../../etc/passwd"}, "is not known"),
        ("cron", {"shedule": "1"}, "shedule is not a setting of the adapter cron"),
        ("cron", {"name": "../x"}, "name has to be"),
        ("webhook", {"port": "80"}, "port has to be a whole number"),
        ("webhook", {"port": True}, "port has to be a whole number"),
        ("webhook", {"port": 70_000}, "between 0 and 65535"),
        ("webhook", {"secret": "s3cr3t!value"}, "secret has to be the name of an environment variable"),
        ("webhook", {"template": "{a.__class__}"}, "template has {a.__class__}"),
        ("webhook", {"template": "{a:>{b}}"}, "template has {a}"),
        ("webhook", {"template": "{a!r}"}, "template has {a}"),
        ("webhook", {"template": "{a"}, "template cannot be read"),
        ("webhook", {"reply_url": "file:///etc/passwd"}, "reply_url has to begin"),
        ("file", {"folder": "inbox"}, "folder has to be a path"),
        ("file", {"pattern": "../*"}, "stay below the folder"),
        ("file", {"outbox": "~/inbox/out"}, "outbox cannot be in the folder"),
        ("file", {"include_bytes": -1}, "cannot be negative"),
        ("mail", {"imap": ""}, "needs imap, smtp, or both"),
        ("mail", {"allowed_from": []}, "imap needs allowed_from"),
        ("mail", {"allowed_from": "you@mail.example"}, "has to be a list of texts"),
        ("mail", {"smtp": "mail.example"}, "smtp needs to"),
        ("mail", {"imap_security": "plain"}, "has to be one of tls, starttls, none"),
        ("mail", {"every_s": 0}, "every_s has to be 1 or more"),
        ("apprise", {"urls": "ntfy://topic"}, "urls has to be the name of an environment variable"),
    ],
)
def test_what_is_wrong_is_said(kind: str, settings: dict[str, Any], problem: str) -> None:
    given = {**GOOD[kind], **settings} if settings else {}
    problems = catalog.check(kind, given)
    assert problem in problems[0]
    assert "s3cr3t" not in " ".join(problems)


def test_a_kind_that_is_not_there_is_refused_with_those_that_are() -> None:
    assert "use one of cron, webhook, file, mail, apprise" in catalog.check("pigeon", {})[0]


def test_secrets_come_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "from the environment")
    (tmp_path / "secret").write_text("from a file\n")
    (tmp_path / "empty").touch()
    assert catalog.secret("HOOK_SECRET") == "from the environment"
    assert catalog.secret(str(tmp_path / "secret")) == "from a file"
    for where in ("NOT_SET_ANYWHERE", str(tmp_path / "missing"), str(tmp_path / "empty"), str(tmp_path)):
        with pytest.raises(ValueError, match="hold the secret"):
            catalog.secret(where)


def test_checking_imports_nothing_heavy() -> None:
    heavy = ("uvicorn", "msgspec", "cronsim", "imaplib")
    script = f"import sys, covey.keeper.adapters.catalog; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_wrong_settings_end_the_program_with_one_sentence(start: Start, kind: str) -> None:
    adapter = start(kind, bogus="s3cr3t")
    assert adapter.process.wait(30) == 2
    (line,) = adapter.lines()
    assert "bogus is not a setting" in line["msg"]
    assert "s3cr3t" not in adapter.log.read_text()


def test_a_session_that_is_not_there_ends_the_program(start: Start, tmp_path: Path) -> None:
    (tmp_path / "session").rmdir()
    adapter = start("cron", schedule="* * * * *", message="x")
    assert adapter.process.wait(30) == 1
    assert "covey keep list" in adapter.lines("cannot go on")[0]["msg"]
