"""Commands that run something denied, hidden in all ways that we know, in several shells' syntax."""

# ruff: noqa: E501, PLR2004 - lists of forms, and how often each kind of them is made; chance is for tests

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.shells.ordinary import ordinary_commands

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
    "/bin/[q-s]m", "/bin/{r,q}m", "/bin/{r,'q'}m", "r{l,m}", "/bin/[!a]m", "/bin/[[:alpha:]]m", "/bin/*m", "$(which r''m)",
    "setarch -R /bin/r?", "setarch -R /bin/[q-s]m", "setarch -R /bin/{r,q}m", "setarch -R $a", 'setarch -R "$a"', "setarch -R $b$c",
    "setarch -R ${x[@]}", 'setarch -R "${x[@]}"', '"${x[@]}"', "${x[0]}", "setarch -R $(command -v r''m)", "setarch -R $x",
    "taskset 1 '/bin/r?'", "flock o -c'/bin/r?'", "setarch -R $HOME/../../bin/r?", "$x", '"$x"', "setarch -R $l", "$l", "$PWD/s", "./s", "s",
)  # fmt: skip
BEFORE = (
    "a=rm", "b=r c=m", "b=r;c=m", "d=rmx", "e=xrm", "f=ry", "export a=rm", "set a rm", "set b r; set c m", "echo r''m>g",
    "printf 'r\\155'>g", "b=$(echo r)", "c=$(echo m)", "a=$(echo cm0K|base64 -d)", "a=`printf 'r\\155'`", "read a <<<r\\m",
    "for c in m; do :; done", "for b in r x; do :; done", "z=", "a='r''m'", 'a="$b$c"', 'declare a=r""m',
    "x=(r''m x)", "x=(-R r$z''m)", "x=(/bin/r?)", "x=r''m", "x='-R r'm", "x=; x+=r", "x=r; x+=m", "for x in /bin/r?; do :; done", "for x in a r''m; do :; done",
    "IFS= read -r x <<< r\\m", "IFS=, read -r b c <<< r,m", "read -ra x <<< r\\m", "x=$(nproc)", "x=$(mktemp)", "export PATH=.:$PATH", "PATH=$PWD:$PATH",
    "x=a; x=r''m", "(x=r''m)", "false && x=ls", "x=ls | cat", "x=ls &", "l=ls; l=$(echo r)m", 'cd "$(mktemp -d)"', "cp /bin/r? s", "ln -s /bin/r? s", "ln -sf /bin/rm ls",
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
    "echo '{}' >s; bash -x s", "echo '{}' >s; bash -euo pipefail s", "echo '{}' >s; sh s x", "echo '{}' | tee s; sh s", "echo '{}' >t; cp t s; sh s", "echo '{}' >t; mv t s; . ./s",
    "printf '%s' '{}' | split - s; sh saa", "printf '%s' '{}' >t; split t s; sh saa", "echo '{}' | gzip >s.gz; gunzip s.gz; sh s", "awk 'BEGIN{{print \"{}\" > \"s\"}}'; sh s",
    "sed -n 'w s' <<E\n{}\nE\nsh s", "echo '{}' >ls; chmod +x ls; ./ls", "echo '{}' >ls; chmod +x ls; PATH=.:$PATH; ls", "echo '{}' >ls; chmod +x ls; PATH=$PWD:$PATH ls",
    "cat >s <<'E'\n{}\nE\nsh s", "tee s <<'E'\n{}\nE\n. ./s", "cat >d/s <<'E'\n{}\nE\nsh d/s", "printf '{}' >*; sh g", "echo '{}' >{{s,t}}; sh s", "echo '{}' >$q; sh s", "q=s; echo '{}' >$q; sh s",
    "awk '{{print \"{}\" > \"t\"}}' g; sh t", "awk -v f=t 'BEGIN{{print \"{}\" > f}}'; . ./t", "echo 'import os; os.system(\"{}\")' >k.py; python3 -m k", "sed -i 's/.*/{}/' *; sh g",
    "echo 'import os; os.system(\"{}\")' >json.py; python3 -m json.tool g", "echo 'x: ; {}' >Makefile; make", "echo 'x: ; {}' >k; make -f k", "echo '{}' >k; setarch -R sh k", "echo '{}' >k; setarch -R ./k", "sh <s", "echo '{}' >s; sh <s",
    "tar cf t g; echo '{}' >g; sh g", "diff -u g - <<'E' | patch g\n{}\nE\nsh g", "python3 -m timeit 'import os; os.system(\"{}\")'", "bash -euo pipefail -c '{}'", "sh -o errexit -c '{}'", "bash --norc -c '{}'",
    "x='{}'; setarch -R $x", 'x=({}); setarch -R "${{x[@]}}"', 'x=({}); "${{x[@]}}"', "x=({})", "for x in {}; do setarch -R $x; done", "for x in {}; do $x; done", "for x in '{}'; do setarch -R $x y; done",
    "while IFS= read -r l; do $l; done <<< '{}'", "while IFS= read -r l; do setarch -R $l; done <<E\n{}\nE", "echo '{}' | while IFS= read -r l; do $l; done", "IFS= read -r x <<< '{}'; $x", "IFS=x {}",
    "echo '{}' | while read -r a b; do $a $b; done", "read -ra x <<< '{}'; \"${{x[@]}}\"", "find /bin -name 'r?' | xargs -I% % {}", "find . -name 's*' | xargs sh", "find /bin -name r? | xargs -n1 setarch -R",
    "[[ a =~ ^a$ ]] && {}", "[[ a =~ a;{} ]]", "[[ x =~ ^[a-z]+$ ]]; {}", "[[ x =~ ^{} ]]", "[[ a =~ ^a$ && -n x ]] && {}", '[[ a =~ "a" ]] && {}', 'grep "^x$" g; {}', 'echo "a$"; {}', 'echo "x$|"; {} #"',
    'echo "a$" "; {} #"', 'echo "a$)"; {}', 'echo "a$ {}"', "echo [a; {}; echo ]", "echo [$({})]", "echo {{a,$({})}}", "echo {{a,'b'}}; {}", "a=[; {}", "nice -n $(nproc) {}", "kill -$(nproc) 1; {}",
    "PATH=/bin {}", "PATH=/bin:$PATH; {}", "PYTHONPATH=. {}", "NODE_ENV=x {}", "sleep 0 $(date +%s); {}", "timeout $(nproc) {}", "env -i PATH=/bin {}", 'cd "$(pwd)" && {}', "x=$(which ls) && {}",
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
    "~", "..", "../..", "/home", "$HOME", "~/.s?h", "../.s*", "/home/*",
    "~/.ssh/id", "$HOME/.ssh/id", "${HOME}/.ssh/id", '"$HOME"/.ssh/id', '"$HOME/.ssh/id"', "~/.s*h/id", "~/.ss?/id", "~/.[s]sh/id", "~/'.ssh'/id",
    "~/.s\\sh/id", "~/{.ssh,x}/id", "~/.ssh/../.ssh/id", "~/./.ssh//id", "~/x/../.ssh/id", "/home/me/.ssh/id", "/home/*/.ssh/id", "/home/me/.*/id",
    "$(echo ~/.ssh/id)", "$(echo ~)/.ssh/id", "$s", '"$s"', "$t/id", "$h/.ssh/id", ".ssh/id", "../me/.ssh/id", "../../home/me/.ssh/id", "id", "./id",
    "*/id", "*", ".*/id", "l/id", "$PWD/.ssh/id", "~+/.ssh/id", "~me/.ssh/id", "~/.[r-t]sh/id", "~/.s{s,x}h/id", "~/.{s,x}sh/id", "~/.s[!a]h/id", "~/.s[[:alpha:]]h/id", "~/*/id", "~/.*/id", "/home/*/.s*/id", "~/.s{s,'x'}h/id", '~/.s["s"]h/id',
    "~/[.]s*/id", "$p/id", '"$p/id"', "${x[0]}/id", '"${x[@]}"', "$p", "**/id", "../.s*/id", "../*/id", "../.[r-t]*/id", "~/.s?h/{id,x}", "$(find ~ -name 'i?')", "$(find .. -name id)",
    "/proc/self/cwd/.ssh/id", "$OLDPWD/.ssh/id", "~-/.ssh/id",
)  # fmt: skip
PLACES = ("", "", "", "cd; ", "cd ~; ", "cd $HOME && ", "cd ~/.ssh; ", "cd ~/.s*; ", "cd /home/me;", "cd /home; cd me; ", "cd ..; ", "pushd ~; ", "cd ~ && cd .ssh && ",
          "p=~/.s*; ", "for p in ~/.s*; do :; done; ", "x=(~/.s*); ", "x=(~/.s*/id); ", "p=~; p+=/.s?h; ", 'cd "$(mktemp -d)"; cd ~; ', "cd ../*; ", "cd ~/.s[a-z]h; ", "cd ~/{.s?h,x}; ",
          "p=$(pwd)/../.s?h; ", "IFS= read -r p <<<~/.s?h; ", 'cd "$(pwd)/../.s?h"; ', "s=~/.ssh/id; ", "t=~/.ssh; ", "h=~; ", "h=$HOME; ", "t=.ssh; cd ~; ", "for s in ~/.s*/*; do :; done; ", "s=$(echo ~/.s*/id); ", "ln -s ~/.s* l; ",
          "ln -s ~ l; cd l; ", "cd -P ~; ", "cd -- ~; ", "cd /tmp; cd - ; ", "CDPATH=~; cd .ssh; ", "HOME=/home; ", "export s=~/.ssh/id; ", "read s <<<~/.ssh/id; ")  # fmt: skip
READERS = ("grep -r . {}", "grep -rh secret {}", "tar cf - {}", "cp -r {} o; cat o/id o/*/id", "find {} -name id | while read -r f; do cat $f; done", "find {} -type f | xargs cat", "cat $(find {} -name id)",
           "mv {} o; cat o/id", "cat {}", "cat <{}", "head -1 {}", "cat -- {}", "grep . {}", "cat x {}", "tail -n1 {}", "cp {} o; cat o", "cat `echo {}`", 'echo "$(<{})"', "sed -n p {}",
           "env --chdir=$HOME cat {}", "env -C ~ cat {}", "awk 1 {}", "sort {}", "dd if={}", "find {} -exec cat X \\;", "echo {} | xargs cat", "for i in {}; do cat $i; done",
           "while read l; do echo $l; done <{}", "bash -c 'cat {}'", "cat 0<{}", "tee o <{}; cat o", "diff {} /dev/null", 'cat "$(echo {})"', "exec 3<{}; cat <&3", "find ~ -name id | xargs cat",
           "find ~ -name 'i?' | xargs -n1 cat", "find .. -type f | xargs cat", "cat $(find ~ -name id)", "grep -rl . ~ | xargs cat", 'x=({}); cat "${{x[@]}}"', 'for p in {}; do cat "$p"; done', "IFS= read -r x <{}; echo $x",
           "bash {}", ". {}", "cat $PWD/{}", 'cat "$(pwd)"/{}', "head -n $(nproc) {}")  # fmt: skip
BENIGN = ("", "", "", "echo", "ls", "cat", "echo '", 'echo "', "printf '%s' '", "grep x", "git log", "git log --", "echo x;", "test -f", "[ x =", "head -1",
          "echo \\'", "wc -l <", "ls >", "git commit -m", "sed -n p", "find . -name", "echo #", "echo x #", "cd", "mkdir -p", "make", "npm run", "xargs", "xargs ls")  # fmt: skip
"""What may stand in front of a name: most of it makes data of it."""
HIDDEN = tuple(name for name in NAMES if "rm" not in "".join(sign for sign in name if sign not in "'\"\\\n"))
"""Names that no search finds: only what a shell makes of them."""
PLAIN = tuple(
    form for form in AROUND if not any(word in form for word in ("sh", "eval", "exec", "-S", "env", "alias", "trap"))
)
CARRIERS = tuple(
    text
    for text in ordinary_commands()
    if len(text) < 300 and not re.search("kill|sleep|wait|serve|dev|start|watch|tail -f|curl|wget|while|until", text)
)
"""Ordinary commands into which another is put."""
_JOINTS = ("; ", " && ", " || ", " | ", "\n", " & ")
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
    if chance.random() < 0.15:
        text = _carried(chance.choice(CARRIERS), text, chance)
    for _ in range(chance.choice((0, 0, 1, 2))):
        text = chance.choice(BEFORE) + chance.choice(("; ", "\n", " && ")) + text
    for _ in range(chance.choice((0, 0, 0, 0, 1, 2, 4))):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(("", chance.choice(_SIGNS))) + text[at + chance.choice((0, 1)) :]
    return text


def _carried(carrier: str, text: str, chance: Random) -> str:
    """Put a text in front of an ordinary command, behind it, or in place of one of its words."""
    kind = chance.random()
    if kind < 0.2:
        return f"{text}{chance.choice(_JOINTS)}{carrier}"
    if kind < 0.4:
        return f"{carrier}{chance.choice(_JOINTS)}{text}"
    words = re.split(r"( +)", carrier)
    at = chance.randrange(0, len(words), 2)
    words[at] = chance.choice(("{}", "$({})", '"$({})"', "{} ", "`{}`", "; {};", "\n{}\n", "| {} |")).replace(
        "{}", text
    )
    return "".join(words)


def around(form: str, text: str, chance: Random) -> str:
    """Put a text into a form, now and then quoted for where it stands."""
    whole = form.replace("{{", "\2").replace("}}", "\3")
    before, hole, after = whole.partition("{}")
    if hole and before.endswith("'") and chance.random() < 0.5:
        text = text.replace("'", "'\\''")
    elif hole and before.endswith('"') and chance.random() < 0.5:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
    return (before + (text if hole else "") + after).replace("\2", "{").replace("\3", "}")
