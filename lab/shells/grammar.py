"""Commands that run something denied, hidden in all ways that we know, in several shells' syntax."""

# ruff: noqa: E501, PLR2004 - lists of forms, and how often each kind of them is made; chance is for tests

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

NAMES = (
    "rm", "r''m", '"r"m', "r\\m", "\\rm", "'rm'", 'r""m', "$'rm'", "$'r\\155'", "$'\\x72m'", "r$@m", "r${z}m", "r$z''m",
    "/bin/rm", "/bin/r?", "/bin/[r]m", "/usr/bin/r*m", "{rm,}", "r{m,}", "$(echo rm)", "$(echo r)m", "`echo r`m",
    "$(printf 'r\\155')", "$(printf r%s m)", "`printf '\\162m'`", "$(echo mr|rev)", "$(echo cm0K|base64 -d)", "=rm",
    "$a", "${a}", '"$a"', "${b}m", "r$c", "$b$c", "${a:-x}", "${q:-rm}", "${q:=rm}", "r\\\nm", '"r\\\nm"', "(echo rm)",
    "(echo r)m", "r\\x6d", "(printf 'r\\155')", "command rm", "env rm", "nohup rm", "exec rm", "builtin command rm",
    "env -S'rm'", "env -S'r''m'", "nice -n 1 rm", "timeout 2 rm", "env X=1 rm", "$(echo qz|tr qz rm)", "$(echo xrm|cut -c2-)",
    "${d%x}", "${e#x}", "${f/y/m}", "noglob rm", "time rm", "! rm", "setarch -R rm", "taskset 1 rm", "stdbuf -oL rm",
    "$(<g)", "$(cat g)", "!r", "RM", "xargs rm", "r''$'m'", "$'\\u0072m'", "~+/rm", "./rm", "$0m", "${a@L}", "${(L)a}",
)  # fmt: skip
BEFORE = (
    "a=rm", "b=r c=m", "b=r;c=m", "d=rmx", "e=xrm", "f=ry", "export a=rm", "set a rm", "set b r; set c m", "echo r''m>g",
    "printf 'r\\155'>g", "b=$(echo r)", "c=$(echo m)", "a=$(echo cm0K|base64 -d)", "a=`printf 'r\\155'`", "read a <<<r\\m",
    "for c in m; do :; done", "for b in r x; do :; done", "z=", "a='r''m'", 'a="$b$c"', 'declare a=r""m',
    "a=(rm x)", "printf -v a 'r\\155'", "let z=1", "unset a", "c=m",
)  # fmt: skip
AROUND = (
    "{}", "{}", "{}", "{}; ls", "ls; {}", "ls && {}", "no || {}", "ls | {}", "{} | ls", "ls\n{}", "{}\nls", "ls & {}", "({})",
    "{{ {}; }}", "if true; then {}; fi", "if {}; then ls; fi", "for i in 1; do {}; done", "while {}; do break; done",
    "until ! {}; do break; done", "case x in x) {};; esac", "case x in y) ls;; *) {};; esac", "f() {{ {}; }}; f",
    "function f {{ {}; }}; f", "echo $({})", 'echo "$({})"', "echo `{}`", 'echo "`{}`"', "echo ${{q:-$({})}}", "x=$({})",
    "x=$({}) ls", "cat <({})", "ls > >({})", "! {}", "time {}", "2>&1 {}", ">o {}", "2>/dev/null {}", "<g {}", "A=1 {}",
    "A=1 >o B=2 {}", '[ -n "$({})" ]', "[[ -n $({}) ]]", "[[ -n x && -n x ]] && {}", "[[ x || {} ]]", "(( 1 )) && {}",
    "echo $(( $({}) ))", "# '\n{} #'", '# "\n{} #"', "echo '#' # `\n{} #`", "$'a\\'b'; {} #'", "echo 'a\\'; {} #'",
    "echo 'a\\'b'; {} #'", "echo \\'; {} #'", "echo \\\\'; {}; '", "echo ${{a:-\"'\"}}; {} #'", "echo \"${{a:-'}}\"; {} #'\"",
    "cat <<E\n'\nE\n{} #'", "cat <<'E'\n\"\nE\n{} #\"", "cat <<E\n$({})\nE", "cat <<E\n`{}`\nE", "cat <<\\E\n$(\nE\n{} #)",
    "cat <<-E\n\tx\n\tE\n{}", "cat <<E; {}\nx\nE", "cat <<'E' | sh\n{}\nE", "sh <<E\n{}\nE", "cat <<'E F'\nE\nE F\n{}",
    "echo x <<E >o && {}\nq\nE", "cat <<A <<B\nA\nB\nx\nB\n{}", "begin; {}; end", "echo ({})", 'echo "({})"', "ls; and {}",
    "not {}", "if true; {}; end", "for i in 1; {}; end", "switch a; case a; {}; end", "while true; {}; break; end",
    "repeat 1 {}", "repeat 1; {}", "if true {{ {} }}", "for i (1) {}", "for i in 1; {{ {} }}", "foreach i (1) {}; end",
    "() {{ {} }}", "coproc {}", "eval '{}'", 'eval "{}"', "eval {}", "bash -c '{}'", 'sh -c "{}"', "bash -ec '{}'",
    "zsh -c '{}'", "bash -c 'eval \"{}\"'", "dash -c '{}' x y", "fish -c '{}'", "echo '{}' | sh", "echo '{}' | bash -s",
    'echo "{}" | zsh', "bash <(echo '{}')", "bash <<<'{}'", ". <(echo '{}')", "echo '{}' >s; . ./s", "echo '{}' >s; bash s",
    "echo '{}' >s; source ./s", "printf '%s' '{}' >s; chmod +x s; ./s", "trap '{}' EXIT", "alias ls='{}'\nls", "env -S '{}'",
    "env -vS'{}'", "env --split-string='{}'", "find . -exec {} ;", "find . -exec {} \\;", "find . -exec sh -c '{}' \\;",
    "echo x | xargs {}", "echo '{}' | xargs env", "echo x | xargs -I% {}", "echo '{}' | xargs -I% sh -c %",
    "awk 'BEGIN{{system(\"{}\")}}'", "awk 'BEGIN{{print|\"{}\"}}'", "awk 'BEGIN{{\"{}\"|getline}}'", "sed '1e{}' g", "sed 's/.*/{}/e' g",
    "sed -n '1{{e {}\n}}' g", "timeout 1 sh -c '{}'", "nohup {}", "nice {}", "setsid -w {}", "stdbuf -o0 {}", "env {}", "env -i {}",
    "env X=1 {}", "command {}", "builtin eval '{}'", "exec {}", "flock o {}", "flock o -c '{}'", "script -qc '{}' o", "taskset 1 {}",
    "setarch -R {}", "choom -n 0 -- {}", "prlimit -n100 {}", "setpriv --nnp {}", "runuser -c '{}'", "su -c '{}'", "sort --compress-program='{}' g",
    "tar cf o --to-command='{}' g", "tar cf o --checkpoint=1 --checkpoint-action=exec='{}' g", "split --filter='{}' g",
    "x='{}'; $x", "x='{}'; eval $x", "x='{}'; bash -c \"$x\"", "x='{}'; \"$x\"", "a[$({})]=1", "let 'x=a[$({})]'", "[[ 'a[$({})]' -eq 1 ]]",
    "echo $[ $({}) ]", "test -v 'a[$({})]'", "printf -v 'a[$({})]' x", "x='$({})'; echo ${{x@P}}", "PS4='$({})'; set -x; ls",
    "{}&", "{};", ";{}", "ls;;{}", "ls|& {}", "ls &> o {}", "ls >& o; {}", "echo a\\\n; {}", "echo a \\\n{}", "ls \\\n&& {}", "ls #\\\n{}",
    "echo a#b; {}", "echo \\#; {}", "echo ''#; {}", "echo $#; {}", "echo ${{#}}; {}", "echo $$; {}", "echo $$'a\\'; {}; #'", "echo {{; {}",
    "echo }}; {}", "echo ] [; {}", "echo a=b; {}", "a=b; {}", "select i in 1; do {}; done <g", "for((i=0;i<1;i++)); do {}; done",
    "case a in (a) {};; esac", "case 'x' in x) ls;& y) {};; esac", 'echo "a\\""; {} #"', 'echo "a\\\\"; {} #"', 'echo "\\`{}\\`"',
    "echo $'\\''; {} #'", 'echo $"a"; {}', 'echo "$(echo "a")"; {}', "echo \"$(echo ')')\"; {}", "echo $(case x in x) {};; esac)",
    "echo `echo \\`{}\\``", "echo `echo '`; {} #'`", "cat <<E\n${{q:-$({})}}\nE", "cat <<\"E\"\n'\nE\n{}", "cat <<E\n\\$({})\nE\n{}",
    "[ x ] && {}", "[ x && {} ]", "[[ a < b ]] && {}", "[[ a =~ (a|{}) ]]", "echo x >o{}", "{}<g", "{}>o", "mapfile -C '{}' -c 1 a <g",
    "python3 -c 'import os; os.system(\"{}\")'", "perl -e 'system(\"{}\")'", "echo 'import os; os.system(\"{}\")' | python3 -", "make -f - <<E\nx:\n\t{}\nE",
    "git log; {}", "git status\n{}", 'git commit -m "$({})"', "git log --format='{}'", "git commit -m \"$(cat <<'E'\nit's\nE\n)\"; {}",
    "git commit -m \"$(cat <<'E'\nit's ) (\nE\n{}\n)\"", 'echo "$(cat <<E\n$({})\nE\n)"', "\u00a0{}", "ls\r{}", "ls\u2028{}", "ls\v{}", "ls\f{}",
    "hash -p /bin/rm ls; ls x", "enable -n echo; {}", "ENV=s; {}", "PATH=.:$PATH {}", "IFS=x; {}", "set -- {}; $@", 'set -- {}; "$@"',
    "set rm; $1 x", "shopt -s expand_aliases\nalias q='{}'\nq", "alias -g Q='; {}'\nls Q", "precmd() {{ {}; }}", "echo ~{}", "echo *(e:'{}':)",
    'echo "${{(e):-\\$({})}}"', "ls =({})", "echo <->; {}", "echo x^y; {}", "echo x\\c; {}", "echo x >|o; {}", "echo x >!o; {}", "ls 2>&1 >&2 {}",
)  # fmt: skip
ENDS = ("x", "x", "-f x", "x y", "", "'a b'", "$a", "*", "x >o", "x 2>&1")
PUSHES = ("git push", "g''it push", "git 'push'", "git $p", "git -C . push", "$g push", "git --no-pager push", "git -c user.name=x push",
          "git pu\\sh", "git p{ush,}", "$(echo git) push", "git $(echo push)", "command git push", "/usr/bin/git push", "git push -f", "git  push")  # fmt: skip
SECRETS = (
    "~/.ssh/id", "$HOME/.ssh/id", "${HOME}/.ssh/id", '"$HOME"/.ssh/id', '"$HOME/.ssh/id"', "~/.s*h/id", "~/.ss?/id", "~/.[s]sh/id", "~/'.ssh'/id",
    "~/.s\\sh/id", "~/{.ssh,x}/id", "~/.ssh/../.ssh/id", "~/./.ssh//id", "~/x/../.ssh/id", "/home/me/.ssh/id", "/home/*/.ssh/id", "/home/me/.*/id",
    "$(echo ~/.ssh/id)", "$(echo ~)/.ssh/id", "$s", '"$s"', "$t/id", "$h/.ssh/id", ".ssh/id", "../me/.ssh/id", "../../home/me/.ssh/id", "id", "./id",
    "*/id", "*", ".*/id", "l/id", "$PWD/.ssh/id", "~+/.ssh/id", "~me/.ssh/id", "/proc/self/cwd/.ssh/id", "$OLDPWD/.ssh/id", "~-/.ssh/id",
)  # fmt: skip
PLACES = ("", "", "", "cd; ", "cd ~; ", "cd $HOME && ", "cd ~/.ssh; ", "cd ~/.s*; ", "cd /home/me;", "cd /home; cd me; ", "cd ..; ", "pushd ~; ", "cd ~ && cd .ssh && ",
          "s=~/.ssh/id; ", "t=~/.ssh; ", "h=~; ", "h=$HOME; ", "t=.ssh; cd ~; ", "for s in ~/.s*/*; do :; done; ", "s=$(echo ~/.s*/id); ", "ln -s ~/.s* l; ",
          "ln -s ~ l; cd l; ", "cd -P ~; ", "cd -- ~; ", "cd /tmp; cd - ; ", "CDPATH=~; cd .ssh; ", "HOME=/home; ", "export s=~/.ssh/id; ", "read s <<<~/.ssh/id; ")  # fmt: skip
READERS = ("cat {}", "cat <{}", "head -1 {}", "cat -- {}", "grep . {}", "cat x {}", "tail -n1 {}", "cp {} o; cat o", "cat `echo {}`", 'echo "$(<{})"', "sed -n p {}",
           "env --chdir=$HOME cat {}", "env -C ~ cat {}", "awk 1 {}", "sort {}", "dd if={}", "find {} -exec cat X \\;", "echo {} | xargs cat", "for i in {}; do cat $i; done",
           "while read l; do echo $l; done <{}", "bash -c 'cat {}'", "cat 0<{}", "tee o <{}; cat o", "diff {} /dev/null", 'cat "$(echo {})"', "exec 3<{}; cat <&3")  # fmt: skip
BENIGN = ("", "", "", "echo", "ls", "cat", "echo '", 'echo "', "printf '%s' '", "grep x", "git log", "git log --", "echo x;", "test -f", "[ x =", "head -1",
          "echo \\'", "wc -l <", "ls >", "git commit -m", "sed -n p", "find . -name", "echo #", "echo x #", "cd", "mkdir -p", "make", "npm run", "xargs", "xargs ls")  # fmt: skip
"""What may stand in front of a name: most of it makes data of it."""
HIDDEN = tuple(name for name in NAMES if "rm" not in "".join(sign for sign in name if sign not in "'\"\\\n"))
"""Names that no search finds: only what a shell makes of them."""
PLAIN = tuple(
    form for form in AROUND if not any(word in form for word in ("sh", "eval", "exec", "-S", "env", "alias", "trap"))
)
_SIGNS = "'\"\\`$(){}[];&|<>#!=*?~ \n\tarmxE@^%,:-"


def command(chance: Random) -> str:
    """Return one command. Some run what is denied in no shell: they are there for what is around them."""
    kind = chance.random()
    if kind < 0.12:
        text = chance.choice(PLACES) + chance.choice(READERS).replace("{}", chance.choice(SECRETS))
    elif kind < 0.2:
        text = chance.choice(("", "p=push; ", "g=git; ", "g=git p=push; ", "set p push; ")) + chance.choice(PUSHES)
    else:
        names = HIDDEN if chance.random() < 0.7 else NAMES
        text = f"{chance.choice(BENIGN)} {chance.choice(names)} {chance.choice(ENDS)}".strip()
    forms = PLAIN if chance.random() < 0.6 else AROUND
    for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3))):
        text = around(chance.choice(forms), text, chance)
    for _ in range(chance.choice((0, 0, 1, 2))):
        text = chance.choice(BEFORE) + chance.choice(("; ", "\n", " && ")) + text
    for _ in range(chance.choice((0, 0, 0, 0, 1, 2, 4))):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(("", chance.choice(_SIGNS))) + text[at + chance.choice((0, 1)) :]
    return text


def around(form: str, text: str, chance: Random) -> str:
    """Put a text into a form, now and then quoted for where it stands."""
    whole = form.replace("{{", "\2").replace("}}", "\3")
    before, hole, after = whole.partition("{}")
    if hole and before.endswith("'") and chance.random() < 0.5:
        text = text.replace("'", "'\\''")
    elif hole and before.endswith('"') and chance.random() < 0.5:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return (before + (text if hole else "") + after).replace("\2", "{").replace("\3", "}")
