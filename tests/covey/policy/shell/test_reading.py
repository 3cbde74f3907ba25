"""Shell texts: which commands are certainly in them, and when there may be others."""

# ruff: noqa: E501 - lists of commands

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.shell.reading import read
from covey.policy.shell.simple import LONGEST
from covey.policy.tool_call import SHELL, ToolCall
from covey.policy.wildcard import UNKNOWN

pytestmark = pytest.mark.once  # the release of tmux makes no difference

RULES = [
    {"name": "all", "effect": "allow", "tool": "Bash"},
    {"name": "no rm", "effect": "deny", "command": "rm *"},
    {"name": "no push", "effect": "deny", "command": "git push*"},
]
POLICY = Policy(RULES, home="/home/me")
HOSTILE = [
    "(", "$(", "`", "'", '"', "{", "${", "$((", "[[", "<<E\n", "<<'E'\n", "f(){", "if ", "case a in ", "a|", "a;", "\\", "$'",
    "#", "a=(", "!(", "<(", '"$(', "${a:-", "for x in ", "select x in ", "bash -c '", "eval ", "sudo ", "find . -exec ",
    "xargs ", "cd x;", "rm ", "a b ", "\0", "\u200b", "$(ls ", "a[", "time ",
]  # fmt: skip


def effect(command: str) -> str:
    request = PolicyRequest(
        agent="claude", tool="Bash", target="host", folder="/srv/app", call=ToolCall(kind=SHELL, command=command)
    )
    return POLICY.decide(request).effect


@pytest.mark.parametrize(
    "text",
    [
        "rm x", "ls; rm x", "ls && rm x", "ls|rm x", "ls\nrm x", "(rm x)", "{ rm x; }", "f() { rm x; }; f", "echo $(rm x)",
        "echo $( (a) ; rm x )", 'echo "a $(rm x) b"', "echo `rm x`", 'echo "`rm x`"', "cat <(rm x)", "if true; then rm x; fi",
        "for a in b; do rm x; done", "! rm x", "A=1 rm x", "A=1 B=2 rm x", "sudo -u root rm x", "env A=1 rm x", "nice -n 5 rm x",
        "bash -c 'rm x'", "sudo sh -c 'ls; rm x'", "/bin/sh -c 'rm x'", "ssh host 'rm x'", "eval 'rm x'", "find . -exec rm x ;",
        "xargs rm x", "r'm' \"x\"", "\\rm x", "case a in b) rm x;; esac", "2>&1 rm x", ">f rm x", "2>/dev/null rm x", "A=1 >f rm x",
        "# '\nrm x #'", "nohup rm x", "timeout 5 rm x", "cat <<E\n$(rm x)\nE", "cat <<E\nE\nrm x", "echo \\'; rm x #'",
    ],
)  # fmt: skip
def test_a_denied_command_is_denied_wherever_it_is(text: str) -> None:
    assert effect(text) == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "$'a\\'b'; r$@m x #'", "`echo \\`r$z''m x\\``", "${a:-\"'\"}; r?? x #'", "env -vS'rm x'",
        "env --split-string='rm x'", "=rm x", "echo 'rm x' | sh", "echo 'rm x' | bash -s", ". <(cat x)", "source /dev/stdin",
        "bash <(cat x)", "bash -s file", "bash -", "echo x > f; bash ./f", "sed -i s/x/y/ f; source f", "sh <<EOF\nls\nEOF", "taskset 1 rm x", "setpriv --nnp rm x", "prlimit rm x", "setarch -R rm x",
        "choom -n 0 -- rm x", "fakeroot rm x", "perf stat rm x", "dbus-run-session rm x", "python -c 'x'", "perl -e 'x'", "node -e x", "python3 <<E\nx\nE", "awk 'BEGIN{system(\"x\")}'",
        "awk '{print|\"x\"}'", "sed '1e x'", "sed 's/a/b/e' f", "xargs env", "find . -exec sh -c $x ;",
        "git -c alias.x='!y' x", "git -c core.pager=x log", "git rebase -x y", "make -f - <<E\nx:\n\t$y\nE", "vim -c x", "echo x | base64 -d | sh",
        "printf 'r\\155' > f", "$x y", "/bin/r? x", "{r,}m x", "${x}m", "alias x=y", "hash -p x y", "PATH=x y; echo q > y", "enable -f x",
        "trap x EXIT", "PROMPT_COMMAND=x ls", "BASH_ENV=x ls", "LD_PRELOAD=x ls", "GIT_SSH_COMMAND=$x git fetch", "repeat 2 $x",
        "noglob $x", "$(<f)", "ls >(sh)", "echo (ls)", "ls; and $x", "begin; ls; end", "echo 'rm'", "ls # rm", "cat <<'E'\nrm x\nE",
        "ls\\\nx", "r\\x6d x", "ls\r", "ls\u00a0x", "ls\0", "ls \u202e", "sort --compress-program=x f", "tar --to-command=$x -xf f",
        "rg --pre x y", "x=($y b); ls", "f() { ls; }", "(( x ))", "[[ -n x && $x ]]", "select x in y; do ls; done", "echo ${x@P}",
        "cp x y; ./y", "tool 'r*'", "tool '/bin/r?'", "tool /bin/[q-s]m", "tool {r,q}m", "cat x | tool", "git -C x push", "git --no-pager push", "echo git push", "a='git pu''sh'",
        "x" * (LONGEST + 1), "a;" * 1000, "$(" * 60, "echo 'x", "a\\",
    ],
)  # fmt: skip
def test_what_may_run_a_denied_command_is_asked(text: str) -> None:
    assert effect(text) == "ask"


@given(st.text(st.characters(min_codepoint=0x80, exclude_categories=["Cs"]) | st.sampled_from("x{}<>;$'\"\\ \n=-&|(#")))
@example("xJ\x13{\U000fec04\U0003da48\x93\xd3")
def test_no_character_ends_the_process_of_the_parser(text: str) -> None:
    """Its scanner looks up each character in a table of 256 entries."""
    read(text)


def test_characters_beyond_ascii_are_read_as_they_are() -> None:
    commands = read("git commit -m \"🎉 fix 'é'\" && cat ю/ÿ1fÿ 中* $'ü' >\U0010ffff").commands
    assert [one.words for one in commands] == [
        ("git", "commit", "-m", "🎉 fix 'é'"),
        ("cat", "ю/ÿ1fÿ", f"中{UNKNOWN}", "ü"),
    ]
    assert effect("git commit -m '🎉 é'") == "allow"
    assert effect("echo é; rm 🎉") == "deny"
    assert effect("echo 🎉 | r''m é") == "deny"
    denied = Policy([RULES[0], {"name": "no", "effect": "deny", "path": "~/🔒/"}], home="/home/me")
    call = ToolCall(kind=SHELL, command="cat ~/'🔒'/x")
    assert denied.decide(PolicyRequest(agent="claude", tool="Bash", folder="/", call=call)).effect == "deny"


def test_words_behind_a_redirection_are_words_of_the_command() -> None:
    """The grammar takes them for more targets of the redirection."""
    assert [one.words for one in read("env 2>&1 >o a b").commands][:2] == [("env", "a", "b"), ("a", "b")]
    assert effect("env >o rm x") == "deny"
    assert effect("env >o r$@m x") == "ask"
    assert effect("ls &> o r$@m x") == "ask"  # where that is `ls & > o r$@m x`
    assert effect("npm test > o 2>&1") == "allow"


def test_what_only_the_shell_knows_is_unknown() -> None:
    assert read("$x -rf $HOME/a").commands[0].words == (UNKNOWN, "-rf", f"{UNKNOWN}/a")
    assert read('cat "$(ls a)b"').commands[-1].words in (("ls", "a"), ("cat", f"{UNKNOWN}b"))
    assert read("bash -c 'cat $x'").commands[-1].words == ("cat", UNKNOWN)


def test_relative_paths_may_be_in_every_folder_that_a_text_goes_to() -> None:
    assert read("cd a && cd b; cat x").folders >= {"", "a", "a/b"}
    assert UNKNOWN in read("cd $x; cat y").folders
    assert read("make -C ~/x").folders == {"", "~/x"}


@example("[ x & rc x ]]|")
@example("\ud800")
@example("echo \ud800 '\udfff\0")
@given(st.text(max_size=200) | st.text(alphabet="ab =;&|<>(){}$`'\"\\*?[]#!~\n\t-@\0\ud800", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert effect(text) in ("allow", "deny", "ask")
    assert all(command.words for command in read(text).commands)


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_take_no_longer_than_a_hundred_ordinary_ones(unit: str) -> None:
    ordinary = _time_of(["cd src && git add . && git commit -m 'a b' 2>&1 | tail -3"] * 100)
    for length in (600, 3000, LONGEST):
        assert _time_of([(unit * length)[:length]]) < max(ordinary, 0.1) * 4


def _time_of(texts: list[str]) -> float:
    begin = time.thread_time()
    for text in texts:
        effect(text)
    return time.thread_time() - begin


@pytest.mark.parametrize(
    "command",
    [
        r"test -v 'a[0+$(r${z}m x)]'",
        r"[ -v 'a[0+$(r${z}m x)]' ]",
        r"a='b[0+$(r${z}m x)]'; echo $((a))",
        r"y=1; a='b[0+$(r${z}m x)]'; echo ${y:a}",
        r"read -r 'a[0+$(r${z}m x)]' < f",
        r"read -r PS4 <<< '$(r${z}m x)'; set -x; true",
        r'a=m; e="-exec r$a x ;"; find . $e',
        r"find . $(printf '%s' '-exec r'; printf 'm x ;')",
        r"""a=r; b=m; printf '%s\n' -exec "$a$b" x ';' | xargs find .""",
        r'o=--exec; git stash; git rebase "$o=$a$b x" HEAD~1',
        r'k=core.fsmonitor; a=m; git config "$k" "r$a x"; git status',
        r"printf 'r%s x' m > y; chmod +x y; GIT_EXTERNAL_DIFF=./y git diff",
        r'z=foo; cp DIR/r? "./$z"; ./foo x',
        r'o="--expression=1e r${a}m x"; sed p "$o" f',
        r'o=--compress-program; sort "$o=r$a" f',
        r"ZIPOPT='-T -TT ./y' zip a b",
    ],
)
def test_what_is_evaluated_later_or_may_be_an_option_is_asked(command: str) -> None:
    """Most of these ran a denied command in a shell of a hostile hour, while the answer was to allow it."""
    assert effect(command) == "ask"
