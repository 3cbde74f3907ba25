"""The configuration: every problem at once, no comment lost, the last good one kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.config import toml_text
from covey.kernel.config.config import Config, ConfigHolder, set_value, unset
from covey.kernel.config.file import LARGEST_FILE, ConfigError
from covey.kernel.config.settings import KERNEL, Setting, Settings
from covey.kernel.home import Home
from covey.kernel.logs.redact import REDACTED
from covey.node.settings import SETTINGS
from murli import AgentError

MORE = Settings(
    KERNEL,
    [
        Setting("beats.daily_budget", "Dollars a day.", consent=False, type="float", default=5.0, minimum=0),
        Setting("fleet.watch.hosts", "Hosts to watch.", consent=False, type="list", default=[]),
        Setting("fleet.watch.every_s", "How often.", consent=False, type="int", default=10, minimum=1),
        Setting("fleet.name", "What it is called.", consent=False, default=""),
        Setting("notify.webhook_token", "What the webhook wants to see.", consent=False, default="", sensitive=True),
        Setting("notify.retries", "How often to try again.", consent=False, type="int", default=3, maximum=9),
    ],
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(str(tmp_path / "home"))
    home.node.prepare()
    return home


def write(home: Home, text: str | bytes) -> None:
    Path(home.node.config_file).write_bytes(text if isinstance(text, bytes) else text.encode())


def content(home: Home) -> str:
    return Path(home.node.config_file).read_bytes().decode()


def names(home: Home) -> list[str]:
    return sorted(path.name for path in Path(home.path).iterdir())


def refusal(home: Home, text: str | bytes, settings: Settings = MORE) -> AgentError:
    write(home, text)
    with pytest.raises(AgentError) as caught:
        Config.load(home.node, settings)
    return caught.value


# --- reading ---


def test_without_a_file_everything_is_at_its_default(home: Home) -> None:
    config = Config.load(home.node, SETTINGS)
    assert config.get("log.level") == "info"
    assert config.get("log.max_mb") == 100
    assert config.get("http.tcp") is True
    assert {item.source for item in config.items()} == {"default"}


def test_a_value_in_the_file_holds_and_is_listed_as_coming_from_it(home: Home) -> None:
    write(home, '[log]\nlevel = "debug"\n[http]\ntcp = false\ndeadline_s = 5\n')
    config = Config.load(home.node, SETTINGS)
    assert (config.get("log.level"), config.get("http.tcp")) == ("debug", False)
    assert repr(config.get("http.deadline_s")) == "5.0"
    assert {item.key for item in config.items() if item.source == "file"} == {
        "log.level",
        "http.tcp",
        "http.deadline_s",
    }
    item = config.item("log.level")._asdict()
    assert item.pop("help")
    assert item == {"key": "log.level", "value": "debug", "default": "info", "source": "file", "restart": False}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# nothing\n",
        "[log]\n",
        "\ufeff[log]\nlevel = 'info'\n",
        '[log]\r\nlevel = "info"\r\n',
        "log.level = 'info'",
    ],
)
def test_an_empty_or_oddly_saved_file_is_as_good_as_another(home: Home, text: str) -> None:
    write(home, text)
    assert Config.load(home.node, SETTINGS).get("log.level") == "info"


def test_a_list_from_the_configuration_can_be_changed_without_changing_the_configuration(home: Home) -> None:
    write(home, "[fleet.watch]\nhosts = ['vm1']\n")
    config = Config.load(home.node, MORE)
    config.get("fleet.watch.hosts").append("vm2")
    assert config.get("fleet.watch.hosts") == ["vm1"]


def test_sensitive_values_are_used_but_not_listed(home: Home) -> None:
    write(home, "[notify]\nwebhook_token = 'hunter2hunter2'\n")
    config = Config.load(home.node, MORE)
    assert config.get("notify.webhook_token") == "hunter2hunter2"
    assert config.item("notify.webhook_token").value == REDACTED
    assert config.secrets() == ["hunter2hunter2"]
    assert "hunter2" not in repr(config.items())
    assert "hunter2" not in refusal(home, "[notify]\nwebhook_token = ['hunter2hunter2']\n").message


def test_asking_for_an_unknown_setting_names_the_nearest(home: Home) -> None:
    config = Config.load(home.node, SETTINGS)
    for verb in (config.get, config.source, config.item):
        with pytest.raises(AgentError, match=r"log\.levle is not a setting; did you mean log\.level\?") as caught:
            verb("log.levle")
        assert "store.fsync" in caught.value.valid_values


# --- what can be wrong with the file ---


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[log]\nlevle = "info"\n', 2, "log.levle is not a setting; did you mean log.level?"),
        ('[log]\n# x\n\nlevel = "loud"', 4, 'log.level has to be one of debug, info, warning, error, not "loud"'),
        ("[log]\nmax_mb = 0", 2, "log.max_mb has to be a whole number from 1 to 100000, not 0"),
        ("[log]\nmax_mb = 1.5", 2, "log.max_mb has to be a whole number from 1 to 100000, not 1.5"),
        ("[log]\nmax_mb = true", 2, "log.max_mb has to be a whole number from 1 to 100000, not true"),
        ('[http]\ntcp = "yes"', 2, 'http.tcp has to be true or false, not "yes"'),
        ("[http]\ntcp = 1", 2, "http.tcp has to be true or false, not 1"),
        ("[http]\ndeadline_s = nan", 2, "http.deadline_s has to be a number from 0.1 to 3600, not nan"),
        ("[beats]\ndaily_budget = inf", 2, "beats.daily_budget has to be a number of at least 0, not inf"),
        ("[notify]\nretries = 10", 2, "notify.retries has to be a whole number of at most 9, not 10"),
        ("[log]\nlevel = ['info']", 2, "log.level has to be one of debug, info, warning, error, not a list"),
        (
            "[fleet.watch]\nhosts = [\n 'a', # one\n 2,\n]\n",
            2,
            "fleet.watch.hosts has to be a list of texts, not a list",
        ),
        ("\nlog = 3\n", 2, "log is a section, not a setting: write [log] and its settings below"),
        ("[log.level]\nx = 1", 1, "log.level has to be one of debug, info, warning, error, not a section"),
        ("[lgo]\n", 1, "lgo is not a setting"),
        ("[[log]]\nlevel='info'", 1, "log is a section, not a setting: write [log] and its settings below"),
        ('"log.level" = "info"', 1, '"log.level" is not a setting; did you mean log.level?'),
        ("level = 'info'", 1, "level is not a setting; did you mean log.level?"),
        ("log = { level = 'info', nosuch = 1 }", 1, "log.nosuch is not a setting"),
        (
            "[log]\n[fleet]\nwatch.everys_s = 3",
            3,
            "fleet.watch.everys_s is not a setting; did you mean fleet.watch.every_s?",
        ),
        (
            "[telemetry]\notlp_endpoint = 'ftp://x'",
            2,
            "telemetry.otlp_endpoint has to be an address that begins with http:// or https://, or nothing",
        ),
        (
            '[fleet]\nname = """\nlevel = 1\n[log]\n"""\nnmae = 1',
            6,
            "fleet.nmae is not a setting; did you mean fleet.name?",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_its_key_and_what_was_expected(
    home: Home, text: str, line: int, said: str
) -> None:
    error = refusal(home, text)
    assert isinstance(error, ConfigError)
    assert [problem.line for problem in error.problems] == [line]
    assert error.problems[0].message.startswith(said)
    assert error.message.startswith(f"{home.node.config_file}, line {line}: {said}")
    assert (error.error, error.code) == ("config_error", 1)


def test_all_mistakes_are_reported_at_once(home: Home) -> None:
    error = refusal(home, '[log]\nlevle = "info"\nmax_mb = "big"\n\n[stroe]\nfsync = "off"\n')
    assert error.message.splitlines() == [
        f"{home.node.config_file} has 3 problems:",
        "  line 2: log.levle is not a setting; did you mean log.level?",
        '  line 3: log.max_mb has to be a whole number from 1 to 100000, not "big"',
        "  line 6: stroe.fsync is not a setting; did you mean store.fsync?",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[log]\nlevel = info\n",
            "line 2: column 12: expected newline or end of document after a statement; is a text missing its quotes?",
        ),
        ("[log]\nlevel = 'info", 'line 2: at the end: expected "\'"'),
        ("[log]\n[log]\n", "line 2: column 5: cannot declare ('log',) twice"),
        ("a = [1\n\n", "line 3: at the end: unclosed array"),
        ("<<<<<<< HEAD\n", "line 1: column 1: invalid statement"),
        (b"[log]\n\nlevel = 'gr\xfc\xdf'\n", "line 3: byte 0xfc is not valid UTF-8"),
        (b"\xff\xfe[\x00l\x00", "line 1: byte 0xff is not valid UTF-8"),
        (b"[log]\x00", "line 1: column 6: "),
    ],
)
def test_a_file_that_is_not_toml_is_named_with_line_and_column(home: Home, text: str | bytes, said: str) -> None:
    assert said in refusal(home, text).message


def test_absurd_values_are_refused_without_a_traceback(home: Home) -> None:
    assert refusal(home, "a = " + "[" * 5000 + "]" * 5000).error == "config_error"
    assert refusal(home, "a = " + "1" * 5000).error == "config_error"
    assert refusal(home, "# " + "x" * LARGEST_FILE).error == "config_error"
    error = refusal(home, "[log]\nlevel = '" + "x" * 5000 + "'")
    assert len(error.message) < 300


def test_a_path_that_is_not_a_regular_file_is_refused_without_blocking(home: Home) -> None:
    Path(home.node.config_file).mkdir()
    with pytest.raises(AgentError, match="it is a directory") as caught:
        Config.load(home.node, SETTINGS)
    subprocess.run(["sh", "-c", caught.value.suggestion.removeprefix("Move it away: ")], check=True)
    os.mkfifo(home.node.config_file)
    with pytest.raises(AgentError, match="it is a named pipe"):
        Config.load(home.node, SETTINGS)


def test_a_file_that_may_not_be_read_is_refused_with_the_command_that_mends_it(home: Home) -> None:
    Path(home.node.config_file).symlink_to(home.node.config_file)
    with pytest.raises(AgentError, match="cannot be read: Too many levels of symbolic links"):
        Config.load(home.node, SETTINGS)
    if os.getuid() != 0:
        Path(home.node.config_file).unlink()
        write(home, "")
        Path(home.node.config_file).chmod(0)
        with pytest.raises(AgentError) as caught:
            Config.load(home.node, SETTINGS)
        assert caught.value.suggestion == f"Let yourself read it: chmod u+r {home.node.config_file}"
    else:  # rights do not bind root: ask as somebody else
        script = f"""
import os, shlex
from covey.kernel.config.config import Config; from covey.kernel.home import Home
from covey.node.settings import SETTINGS
from murli import AgentError, permission_denied
os.setgid(12345); os.setuid(12345)
try: Config.load(Home({home.path!r}).node, SETTINGS)
except AgentError as error: print(error.error, error.suggestion)
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == f"permission_denied Let yourself read it: chmod u+r {home.node.config_file}\n"


def test_the_suggested_command_mends_the_file(home: Home) -> None:
    error = refusal(home, "[log]\nlevle = 'debug'\nlevel = 'debug'\n")
    key = error.suggestion.rpartition("covey config unset ")[2]
    unset(home.node, MORE, key)
    assert Config.load(home.node, MORE).get("log.level") == "debug"


# --- writing ---

COMMENTED = """\
# Covey on the build machine

[log]            # talkative for now
level = "debug"  # until the move
max_mb = 5
# the log goes to its own disk

# --- durability: do not touch, see ticket 41 ---
[store]
fsync = "batched_50ms"

# tail
"""


def test_an_existing_value_is_changed_in_place(home: Home) -> None:
    write(home, COMMENTED)
    assert set_value(home.node, SETTINGS, "log.level", "info") == ("log.level", "debug", "info", False)
    assert content(home) == COMMENTED.replace('"debug"', '"info"')


def test_a_new_key_stands_behind_the_last_one_of_its_section_and_not_behind_the_comment_of_the_next(home: Home) -> None:
    write(home, COMMENTED)
    set_value(home.node, SETTINGS, "log.max_days", "3")
    assert content(home) == COMMENTED.replace("max_mb = 5\n", "max_mb = 5\nmax_days = 3\n")


def test_a_new_section_stands_at_the_end(home: Home) -> None:
    write(home, COMMENTED)
    set_value(home.node, SETTINGS, "http.tcp", "false")
    assert content(home) == COMMENTED + "\n[http]\ntcp = false\n"


def test_the_first_setting_makes_the_file_private(home: Home) -> None:
    set_value(home.node, SETTINGS, "log.level", "debug")
    assert content(home) == '[log]\nlevel = "debug"\n'
    assert stat.S_IMODE(Path(home.node.config_file).stat().st_mode) == 0o600


def test_a_setting_can_be_made_before_anything_else_exists(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "fresh"))
    set_value(home.node, SETTINGS, "log.level", "debug")
    assert Config.load(home.node, SETTINGS).get("log.level") == "debug"


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644])
def test_the_mode_of_the_file_is_kept(home: Home, bits: int) -> None:
    write(home, COMMENTED)
    Path(home.node.config_file).chmod(bits)
    set_value(home.node, SETTINGS, "log.level", "info")
    assert stat.S_IMODE(Path(home.node.config_file).stat().st_mode) == bits


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("log.level = 'debug' # x\n", "log.max_mb", "7", "log.level = 'debug' # x\nlog.max_mb = 7\n"),
        ("log = { level = 'debug' }  # x", "log.max_mb", "7", 'log = { level = "debug", max_mb = 7 }  # x'),
        ("log = {}\n", "log.max_mb", "7", "log = { max_mb = 7 }\n"),
        ("[fleet]\nwatch.every_s = 3\n[log]\n", "fleet.watch.hosts", "a,b",
         '[fleet]\nwatch.every_s = 3\nwatch.hosts = ["a", "b"]\n[log]\n'),
        ("[fleet]\n[log]\n", "fleet.watch.every_s", "3", "[fleet]\n[log]\n\n[fleet.watch]\nevery_s = 3\n"),
        ("[fleet.watch]\n  every_s = 3", "fleet.watch.hosts", "a", '[fleet.watch]\n  every_s = 3\n  hosts = ["a"]\n'),
        ("[fleet.watch]\n", "fleet.name", "x", '[fleet.watch]\n\n[fleet]\nname = "x"\n'),
        ("[fleet.watch]\nhosts = [\n  'a', # first\n  'b',\n] # hosts\n", "fleet.watch.hosts", "c",
         '[fleet.watch]\nhosts = ["c"] # hosts\n'),
        ("[log]\r\nmax_mb = 5\r\n", "log.level", "debug", '[log]\r\nmax_mb = 5\r\nlevel = "debug"\r\n'),
        ("[log]\r\nmax_mb = 5", "log.level", "debug", '[log]\r\nmax_mb = 5\r\nlevel = "debug"\r\n'),
        ("[log]\r\n", "http.tcp", "false", "[log]\r\n\r\n[http]\r\ntcp = false\r\n"),
        ("[log]", "log.level", "debug", '[log]\nlevel = "debug"\n'),
        ("  [log] # here\n\n\n[store]\n", "log.level", "debug", '  [log] # here\n  level = "debug"\n\n\n[store]\n'),
        ("[log]\n'level' = \"a#b=c\" # x = #\n", "log.level", "debug", "[log]\n'level' = \"debug\" # x = #\n"),
        ('["log"]\n"level"="info"', "log.level", "debug", '["log"]\n"level"="debug"'),
        ('"=" = 1\n[fleet]\nname = """\n[log]\nlevel = 1 # x\n"""\n', "log.level", "debug",
         '"=" = 1\n[fleet]\nname = """\n[log]\nlevel = 1 # x\n"""\n\n[log]\nlevel = "debug"\n'),
        ("[fleet]\nname = '''a\n# b'''# c", "fleet.name", "d", '[fleet]\nname = "d"# c'),
        ("[[other]]\nx = 1\n[[other]]\nx = 2\n", "log.level", "debug",
         '[[other]]\nx = 1\n[[other]]\nx = 2\n\n[log]\nlevel = "debug"\n'),
    ],
)  # fmt: skip
def test_every_way_to_write_a_section_is_kept(home: Home, before: str, key: str, value: str, after: str) -> None:
    write(home, before)
    set_value(home.node, MORE, key, value)
    assert content(home) == after


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("log.level", '"debug"', "debug"),
        ("log.level", "'debug'", "debug"),
        ("log.max_mb", "1_000", 1000),
        ("beats.daily_budget", "2", 2.0),
        ("beats.daily_budget", "2.5", 2.5),
        ("http.tcp", "false", False),
        ("fleet.watch.hosts", "vm1, vm2", ["vm1", "vm2"]),
        ("fleet.watch.hosts", '["a,b", "c"]', ["a,b", "c"]),
        ("fleet.watch.hosts", "", []),
        ("fleet.name", 'say "hi"', 'say "hi"'),
        ("fleet.name", '"half', '"half'),
        ("fleet.name", "'it' 's", "'it' 's"),
        ("fleet.name", "", ""),
    ],
)
def test_a_value_is_given_as_plain_text_or_as_toml(home: Home, key: str, text: str, value: object) -> None:
    set_value(home.node, MORE, key, text)
    assert repr(Config.load(home.node, MORE).get(key)) == repr(value)


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("log.level", "loud", "log.level has to be one of debug, info, warning, error, not 'loud'"),
        ("log.max_mb", "0", "log.max_mb has to be a whole number from 1 to 100000, not '0'"),
        ("log.max_mb", "many", "log.max_mb has to be a whole number"),
        ("log.max_mb", "1\nevil = 2", "log.max_mb has to be a whole number"),
        ("http.tcp", "yes", "http.tcp has to be true or false, not 'yes'"),
        ("beats.daily_budget", "nan", "beats.daily_budget has to be a number of at least 0, not 'nan'"),
        ("fleet.watch.hosts", "[1]", "fleet.watch.hosts has to be a list of texts"),
        ("fleet.name", "\udcff", "fleet.name has to be text that is valid UTF-8"),
        (
            "telemetry.otlp_endpoint",
            "collector:4318",
            "telemetry.otlp_endpoint has to be an address that begins with http",
        ),
        ("log.levle", "info", "log.levle is not a setting; did you mean log.level?"),
    ],
)
def test_a_bad_value_is_refused_before_anything_is_touched(home: Home, key: str, text: str, said: str) -> None:
    write(home, COMMENTED)
    with pytest.raises(AgentError) as caught:
        set_value(home.node, MORE, key, text)
    assert caught.value.message.startswith(said)
    assert content(home) == COMMENTED
    assert names(home) == ["config.toml", "node"]


def test_a_sensitive_value_is_repeated_neither_when_set_nor_when_refused(home: Home) -> None:
    assert set_value(home.node, MORE, "notify.webhook_token", "hunter2") == (
        "notify.webhook_token",
        "",
        REDACTED,
        False,
    )
    assert unset(home.node, MORE, "notify.webhook_token") == ("notify.webhook_token", REDACTED, "", False)
    with pytest.raises(AgentError) as caught:
        set_value(home.node, MORE, "notify.webhook_token", "hunter2\udcff")
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("broken", ["[log]\nlevel = \n", b"[log]\nlevel = '\xff'\n", "[log]\n[log]\n"])
def test_a_file_that_does_not_parse_is_not_touched(home: Home, broken: str | bytes) -> None:
    write(home, broken)
    with pytest.raises(ConfigError):
        set_value(home.node, SETTINGS, "log.level", "info")
    with pytest.raises(ConfigError):
        unset(home.node, SETTINGS, "log.level")
    assert Path(home.node.config_file).read_bytes() == (broken if isinstance(broken, bytes) else broken.encode())


def test_a_wrong_value_can_be_mended_although_the_file_has_other_mistakes(home: Home) -> None:
    write(home, "[log]\nlevel = 'loud'\nlevle = nan\n")
    assert set_value(home.node, SETTINGS, "log.level", "info").old == "loud"
    assert unset(home.node, SETTINGS, "log.levle") == ("log.levle", None, None, False)
    assert Config.load(home.node, SETTINGS).get("log.level") == "info"


@pytest.mark.parametrize("odd", ["log = 3\n", "[[log]]\nlevel = 'info'\n", "[log.level]\nx = 1\n", "log.level.x = 1\n"])
def test_what_cannot_be_edited_safely_is_left_to_an_editor(home: Home, odd: str) -> None:
    write(home, odd)
    with pytest.raises(AgentError):
        set_value(home.node, SETTINGS, "log.level", "debug")
    assert content(home) == odd


def test_setting_what_is_set_already_does_not_write(home: Home) -> None:
    write(home, COMMENTED)
    before = Path(home.node.config_file).stat()
    set_value(home.node, SETTINGS, "log.level", "debug")
    assert Path(home.node.config_file).stat().st_ino == before.st_ino


def test_setting_the_default_explicitly_is_written_down(home: Home) -> None:
    assert set_value(home.node, SETTINGS, "log.level", "info").needs_restart is False
    assert Config.load(home.node, SETTINGS).source("log.level") == "file"


def test_an_edit_returns_whether_a_restart_is_needed(home: Home) -> None:
    assert set_value(home.node, SETTINGS, "http.tcp", "false") == ("http.tcp", True, False, True)
    assert set_value(home.node, SETTINGS, "http.tcp", "false").needs_restart is False
    assert unset(home.node, SETTINGS, "http.tcp") == ("http.tcp", False, True, True)


def test_unsetting_takes_out_one_line_and_keeps_the_comments(home: Home) -> None:
    write(home, COMMENTED)
    unset(home.node, SETTINGS, "log.max_mb")
    assert content(home) == COMMENTED.replace("max_mb = 5\n", "")
    write(home, "log = { level = 'debug', max_mb = 5 } # x\n")
    unset(home.node, SETTINGS, "log.level")
    assert content(home) == "log = { max_mb = 5 } # x\n"


def test_unsetting_what_is_not_set_changes_nothing_and_an_unknown_key_is_named(home: Home) -> None:
    assert unset(home.node, SETTINGS, "log.level") == ("log.level", "info", "info", False)
    assert not Path(home.node.config_file).exists()
    with pytest.raises(AgentError, match="did you mean log"):
        unset(home.node, SETTINGS, "log.levle")


def test_a_whole_section_is_not_unset_by_accident(home: Home) -> None:
    write(home, "[lgo]\nlevel = 1\n")
    with pytest.raises(AgentError, match="cannot be edited safely"):
        unset(home.node, SETTINGS, "lgo")
    assert content(home) == "[lgo]\nlevel = 1\n"


def test_the_file_may_be_a_link_into_a_repository_of_dotfiles(home: Home, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text(COMMENTED)
    Path(home.node.config_file).symlink_to(tmp_path / "dotfiles.toml")
    set_value(home.node, SETTINGS, "log.level", "info")
    assert Path(home.node.config_file).is_symlink()
    assert (tmp_path / "dotfiles.toml").read_text() == COMMENTED.replace('"debug"', '"info"')


def test_many_edits_at_once_are_all_kept(home: Home) -> None:
    keys = ["log.max_mb", "log.max_days", "log.max_files", "events.max_days", "events.max_mb", "http.body_limit_kb"]
    script = """
import sys
from covey.kernel.config.config import set_value
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
sys.stdin.read(1)
for value in range(2, 22):
    set_value(Home(sys.argv[1]).node, SETTINGS, sys.argv[2], str(value))
"""
    write(home, COMMENTED)
    editors = [
        subprocess.Popen([sys.executable, "-c", script, home.path, key], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for key in keys
    ]
    assert [editor.communicate(b"x")[1] for editor in editors] == [b""] * len(keys)
    config = Config.load(home.node, SETTINGS)
    assert [config.get(key) for key in keys] == [21] * len(keys)
    assert all(line in content(home).splitlines() for line in COMMENTED.splitlines() if line.startswith("#"))


def test_an_edit_that_does_not_fit_on_the_disk_leaves_the_file_as_it_was(home: Home) -> None:
    write(home, COMMENTED)
    script = """
import resource, sys
from covey.kernel.config.config import set_value
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
from murli import AgentError
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
try: set_value(Home(sys.argv[1]).node, SETTINGS, "log.level", "info")
except AgentError as error: print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", script, home.path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{home.node.config_file} could not be written: File too large; it is as it was\n"
    assert content(home) == COMMENTED
    assert names(home) == ["config.toml", "node"]


# --- reloading ---


def test_a_reload_returns_what_changed_and_what_needs_a_restart(home: Home) -> None:
    holder = ConfigHolder(home.node, SETTINGS)
    assert holder.reload() == (1, (), ())
    write(home, "[log]\nlevel = 'debug'\n[http]\ntcp = false\n")
    assert holder.reload() == (2, ("log.level", "http.tcp"), ("http.tcp",))
    assert holder.current.get("log.level") == "debug"
    assert holder.reload() == (2, (), ("http.tcp",))
    write(home, "[log]\nlevel = 'debug'\n")
    assert holder.reload() == (3, ("http.tcp",), ())


def test_a_broken_edit_keeps_the_last_good_configuration_and_says_so_until_it_is_mended(home: Home) -> None:
    write(home, "[log]\nlevel = 'debug'\n")
    holder = ConfigHolder(home.node, SETTINGS)
    for broken, said in (
        ("[log]\nlevel = ", ("line 2: at the end: invalid value; is a text missing its quotes?",)),
        ("[log]\nlevel = 1\nlvl = 2", 2),
    ):
        write(home, broken)
        with pytest.raises(ConfigError):
            holder.reload()
        assert holder.problems == said or len(holder.problems) == said
        assert holder.current.get("log.level") == "debug"
    Path(home.node.config_file).unlink()
    Path(home.node.config_file).mkdir()
    with pytest.raises(AgentError):
        holder.reload()
    assert "is a directory" in holder.problems[0]
    Path(home.node.config_file).rmdir()
    assert holder.reload().changed == ("log.level",)
    assert holder.problems == ()


# --- declaring settings ---


def test_settings_are_declared_once_and_correctly() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        Settings(KERNEL, KERNEL)
    with pytest.raises(ValueError, match="a setting and a section at once"):
        Settings([Setting("a.b", "x", consent=False, default=""), Setting("a.b.c", "x", consent=False, default="")])
    with pytest.raises(ValueError, match="not a name for a setting"):
        Setting("level", "x", consent=False, default="")
    with pytest.raises(ValueError, match=r"default of a\.b is refused by its own rules: one of x, y"):
        Setting("a.b", "x", consent=False, default="z", enum=("x", "y"))


def test_every_setting_of_the_kernel_explains_itself() -> None:
    for setting in SETTINGS:
        assert setting.help.endswith(".")
        assert "log.level" in SETTINGS
        assert setting.expected


# --- properties ---

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "log.level": st.sampled_from(["debug", "info", "warning", "error"]),
    "log.max_mb": st.integers(1, 100_000),
    "http.tcp": st.booleans(),
    "beats.daily_budget": st.floats(0, 1e300),
    "fleet.name": st.text(st.characters(exclude_categories=["Cs"])),
    "fleet.watch.hosts": st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    "fleet.watch.every_s": st.integers(1, 10**20),
}
EDITS = st.lists(st.sampled_from(sorted(VALUES)).flatmap(lambda key: st.tuples(st.just(key), VALUES[key])), max_size=8)
FILES = st.lists(
    st.sampled_from([
        "# a comment", "", "   ", "[log]", "[log] # x", "[fleet]", "[fleet.watch]", "[http]",
        "level = 'info' # = [ \" '", "max_mb = 7", "name = '''\n[log]\n'''",
        'name = "#"', "watch.every_s = 3", "fleet.name = 'dotted'", "hosts = [\n 'a', # b\n]",
        "log = { level = 'debug' }", "tcp = false", "unknown = 1979-05-27T07:32:00Z",
    ]), max_size=8,
).map("\n".join)  # fmt: skip


def is_toml(text: str) -> bool:
    try:
        return tomllib.loads(text) is not None
    except ValueError:
        return False


@given(FILES.filter(is_toml), EDITS)
def test_whatever_is_put_into_a_file_is_read_back_and_nothing_else_changes(
    text: str, edits: list[tuple[str, Any]]
) -> None:
    comments = [line for line in text.split("\n") if line.strip().startswith("#")]
    for key, value in edits:
        path = tuple(key.split("."))
        try:
            after = toml_text.put(text, path, value)
            read = tomllib.loads(after)
        except (ValueError, AttributeError, TypeError):
            return  # something that is no section stands in the way: refused by the check before, see above
        expected = tomllib.loads(text)
        inner = expected
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
        assert read == expected
        kept = [line for line in after.split("\n") if line.strip().startswith("#")]
        assert [line for line in comments if line not in kept] == []
        text = after


@given(FILES.filter(is_toml), st.sampled_from(sorted(VALUES)))
def test_putting_a_new_key_and_removing_it_gives_the_same_values(text: str, key: str) -> None:
    path = tuple(key.split("."))
    if toml_text.line_of(text, path[:1]):
        return
    after = toml_text.remove(toml_text.put(text, path, "x"), path)
    read = tomllib.loads(after)
    read.pop(path[0])
    assert read == tomllib.loads(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_being_written_as_toml(text: str) -> None:
    assert tomllib.loads(f"x = {toml_text.written(text)}") == {"x": text}
    assert tomllib.loads(f"x = {toml_text.written({text: [text]})}") == {"x": {text: [text]}}


@given(st.text())
def test_any_text_in_the_file_is_either_a_configuration_or_an_explained_error(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except ValueError:
        return
    for statement in toml_text.statements(text):
        assert statement.path
        assert document
