"""Denied acts, hidden in the ways in which programs and shells come to run a command."""

# ruff: noqa: E501, PLR2004 - lists of forms, and how often each kind of them is made; chance is for tests

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.shells.grammar import AROUND, BEFORE, NAMES, around

if TYPE_CHECKING:
    from random import Random

PLACES = (
    "~", "~", "$HOME", '"$HOME"', "${HOME}", "/home/me", "/home/me/", "~/", "~/.", "~/*", "..", "../../me", "../", "./..",
    "/h*/me", "/home/m?", "/home/{me,x}", "~+/..", "$PWD/..", '"$(pwd)/.."', "$(echo ~)", "`echo ~`", "-- ~", "build/../..", "/", "$x", "~me",
)  # fmt: skip
OPTIONS = (
    "-rf",
    "-rf",
    "-fr",
    "-r -f",
    "-R",
    "-rfv",
    "--recursive",
    "--rec --force",
    "-f -r",
    "'-rf'",
    "-r''f",
    '"-rf"',
    "$o",
    "-r${z}f",
)
DELETING = (
    "find {} -delete", "find -O3 {} -delete", "find -H {} -delete", "find -D stat {} -delete", "find {} -name .keep -delete", "find {} -depth -delete",
    "find {} -exec {rm} -rf {{}} +", "find {} -exec env {rm} -rf {{}} +", "find {} -exec nice env {rm} -r {{}} ;", "find {} -execdir {rm} -rf .keep \\;",
    "find {} -exec timeout 1 {rm} -f {{}} \\;", "find {} -exec sh -c '{rm} -rf \"$1\"' _ {{}} \\;", "find {} -name .keep -exec {rm} {{}} +",
    "find {} -name .keep | xargs {rm} -rf", "find {} -print0 | xargs -0 {rm} -r", "find . -exec {rm} -rf {} \\;", "find -files0-from <(printf '{}') -delete",
    "echo {} | xargs {rm} -rf", "echo {} | xargs -I% {rm} -rf %", "printf '%s' {} | xargs -0 {rm} -r", "cd {} && {rm} -rf .", "cd {}; {rm} -rf ./*",
    "cd {}; find . -delete", "pushd {}; {rm} -r .", "env -C {} {rm} -rf .", "env --chdir={} {rm} -r .", "(cd {}; {rm} -rf *)", "x={}; {rm} -rf $x",
    "for i in {}; do {rm} -rf $i; done", 'set -- {}; {rm} -rf "$@"', "ln -s {} l; {rm} -rf l/*", "ln -s {} l; cd l; {rm} -rf x", "cp /bin/{rm} q; ./q -rf {}",
    "ln -s /bin/{rm} q; ./q -rf {}", "cp `command -v {rm}` q; ./q -rf {}", "alias q='{rm} -rf'\nq {}", "alias q='find'\nq {} -delete", 'q() {{ {rm} -rf "$1"; }}; q {}',
    "git -C {} ls-files; {rm} -rf {}", "env -S'{rm} -rf' {}", "env -S '{rm} -rf {}'", "env -vS'{rm} -r' {}", "flock o {rm} -rf {}", "stdbuf -o0 {rm} -rf {}", "xargs -a g {rm} -rf {}",
)  # fmt: skip
"""`{}` is a place, `{rm}` a spelling of rm."""
DEVICES = (
    "echo x > /dev/sda", "echo x >/d*v/sda", "echo x > //dev//sda", "tee /dev/sda <g", "tee /d?v/sda <g", "tee /d*/sda <g", "tee /{dev,x}/sda <g", "cp g /dev/sda", "cp g /[d]ev/sda",
    "dd if=g of=/dev/sda", "dd if=g of=//dev/sda", "dd of=/dev/s''da <g", "cd /dev; cp ~/work/g sda", "cd /; cp ~/work/g dev/sda", "x=/dev; cp g $x/sda", "x=sda; cp g /dev/$x",
    "x=/dev/sda; cp g $x", "d=dev; cp g /$d/sda", "cat g >| /dev/sda", "cat g &> /dev/sda", "cat g >>/dev/sda", "cp g ../../../dev/sda", "cp g /proc/../dev/sda", "cp g $'/d\\x65v/sda'",
    "sort -o /dev/sda g", "sort -o/dev/sda g", "sed 'w /dev/sda' g", "awk '{print > \"/dev/sda\"}' g", "tar cf /dev/sda g", "curl -o /dev/sda x", "install g /dev/sda", "mv g /dev/sda",
    "cp g /dev/{sda,}", "head g > $'/dev/sda'", "printf x | tee -a /dev/sda", "find g -fprint /dev/sda", "split g /dev/sda", "dd if=g of=/dev/${z}sda", "cp g /d\\ev/sda",
)  # fmt: skip
ROOT = (
    "sudo ls", "s''udo ls", "/usr/bin/sudo ls", "$(echo sudo) ls", "x=sudo; $x ls", "sudo", "doas ls", "su -c ls", "pkexec ls", "command sudo ls", "exec sudo ls", "r=do; su$r ls", "su{do,} ls",
    "/usr/bin/su?o ls", "shutdown now", "reboot", "halt -p", "poweroff", "mkfs.ext4 g", "mkfs -t ext4 g", "shred g", "wipefs -a g", "init 0", "telinit 6", "\\sudo ls", "su''do ls", "env sudo ls",
    "hash -p /usr/bin/sudo q; q ls", "alias q sudo; q ls", "alias q 'sudo ls'; q", "alias q=sudo\nq ls", "q() { sudo ls; }; q", "find . -exec sudo ls \\;", "xargs sudo <g", "echo sudo | xargs -I% % ls", "time sudo ls", "echo ls | xargs sudo", "systemctl poweroff", "systemctl -i reboot", "systemctl start reboot.target", "taskset 1 systemctl halt", "env - sudo ls", "exec -a x sudo ls", "command -- sudo ls", "nice -n1 -- sudo ls",
    "printf 'sudo ls' | xargs -0 -I{} sh -c {}", 'q() { env "$@"; }; q sudo ls', "python3 -m this; sudo ls", "git status | sudo tee g", "sudo -n ls", "sudo\tls", "{ sudo ls; } >o", "env >o sudo ls",
)  # fmt: skip
TEXTS = (
    "trap -- '{}' EXIT", 'trap "{}" EXIT', "trap '{}' 0", "npm exec -c '{}'", "npm x -c '{}'", "npx -c '{}'", "npm exec --call='{}'", "npm test --script-shell=\"$(echo '{}')\"", "fish -C '{}'", "fish -C '{}' -c ls",
    "fish --init-command='{}' -c ls", "fish -c'{}'", "bash +x -c '{}'", "bash -o errexit -c '{}'", "bash --norc -c '{}'", "sh -c -- '{}'", "sed '1e{}' g", "sed '1!e{}' g", "sed -n '$e {}' g", "sed '1{{e {}\n}}' g",
    "sed 's/.*/{}/e' g", "sed 's;.*;{};e' g", "sed 's|.*|{}|pe' g", "sed 'sx.*x{}xe' g", "sed -e p -e '1e {}' g", "sed -ne'1e {}' g", "sed --expression='1e {}' g", "sed 'b;e {}' g", "sed 'F;1e {}' g",
    "sed '\\,one,e {}' g", "sed -f <(echo '1e {}') g", "sed -f - g <<<'1e {}'", "echo '1e {}' | sed -f /dev/stdin g", "echo '1e {}' >s; sed -f s g", "git rebase -x '{}' HEAD~1", "git rebase --exec='{}' HEAD~1",
    "git -C . rebase -x '{}' HEAD~1", "git grep -O'{}' one", "git grep --open-files-in-pager='{}' one", "git -c alias.q='!{}' q", "git -c core.pager='{}' -p log", "git config alias.q '!{}'; git q",
    "git -c core.sshCommand='{}' fetch ssh://x/y", "git bisect start HEAD HEAD~1; git bisect run sh -c '{}'", "git submodule foreach '{}'", "git difftool -y -x '{}' HEAD~1", "git filter-branch --tree-filter '{}' HEAD",
    "git ls-remote 'ext::{}'", "git -c protocol.ext.allow=always ls-remote 'ext::sh -c \"{}\"'", "GIT_EDITOR='{}' git commit --amend", "GIT_PAGER='{}' git -p log", "GIT_EXTERNAL_DIFF='{}' git diff HEAD~1",
    "GIT_SSH_COMMAND='{}' git fetch ssh://x/y", "EDITOR='{}' git commit --amend", "env GIT_EDITOR='{}' git commit --amend", "export GIT_EDITOR='{}'; git commit --amend", "declare -x GIT_PAGER='{}'; git -p log",
    "GIT_SEQUENCE_EDITOR='{}' git rebase -i HEAD~1", "PAGER='{}' git -p log", "MANPAGER='{}' man ls", "man -P '{}' ls", "LESSOPEN='|{}' less g", "BASH_ENV=<(echo '{}') bash -c ls", "ENV='{}' sh -c ls",
    "PROMPT_COMMAND='{}' bash -ic ls", "PS1='$({})' bash -ic ls", "MAKEFLAGS=--eval='x:;{}' make x", "tar cf o --checkpoint=1 --checkpoint-action=exec='{}' g", "tar cf o --checkpoint=1 '--checkpoint-action=exec={}' g",
    "tar -cf o --to-command='{}' g", "tar cf o -I '{}' g", "tar cf o --use-compress-program='{}' g", "tar cf o g --rsh-command='{}'", "TAR_OPTIONS=\"--checkpoint=1 --checkpoint-action=exec='{}'\" tar cf o g",
    "make --eval='x:;{}' x", "make --eval 'x:;{}' x", "make -f <(printf 'x:\\n\\t{}\\n')", "make -f- <<<'x:;{}'", "printf 'x:\\n\\t{}\\n' >Makefile; make", "make SHELL='{}' x", "make CC='{}' x.o", "ed <<<'!{}'", "echo '!{}' | ed", "ed -s g <<E\n!{}\nq\nE",
    "ex <<<'!{}'", "ex -sc '!{}' -c q g", "vim -es -c '!{}' -c q", "vim -es '+!{}' +q", "vim -es --cmd 'call system(\"{}\")' -c q", "vi -es -c ':silent !{}' -c q", "echo '{}' | at now", "at now <<<'{}'", "echo '* * * * * {}' | crontab -",
    "awk 'BEGIN{{system(\"{}\")}}'", "awk -e 'BEGIN{{system(\"{}\")}}'", "awk '{{print | \"{}\"}}' g", 'awk "BEGIN{{system(\\"{}\\")}}"', "awk -f <(echo 'BEGIN{{system(\"{}\")}}')", "awk -v x='{}' 'BEGIN{{system(x)}}'",
    "python3 -c 'import os; os.system(\"{}\")'", "python3 -m timeit -n1 -r1 'import os; os.system(\"{}\")'", "python3 <<<'import os; os.system(\"{}\")'", "echo 'import os; os.system(\"{}\")' >s.py; python3 s.py", "perl -e 'system(\"{}\")'",
    "perl -ne 'system(\"{}\")' g", "node -e 'require(\"child_process\").execSync(\"{}\")'", "tclsh <<<'exec sh -c \"{}\"'", "sqlite3 x '.shell {}'", "sqlite3 x <<<'.shell {}'", "sqlite3 -cmd '.system {}' x .exit", "gdb -batch -ex 'shell {}'", "gdb -batch -ex '!{}'",
    "script -qc '{}' o", "script -q o -c '{}'", "flock o -c '{}'", "watch -x sh -c '{}'", "watch '{}'", "zip o g -T -TT '{}'", "sort --compress-program='{}' -S1 g", "split --filter='{}' g", "find g -exec sh -c '{}' ;", "xargs -I% sh -c '{}' <g",
    "echo '{}' | xargs -I% sh -c %", "setpriv --nnp sh -c '{}'", "unshare -r sh -c '{}'", "taskset 1 sh -c '{}'", "tmux new -d '{}'", "tmux -c '{}'", "ssh -o ProxyCommand='{}' x", "ssh -oProxyCommand='{}' x ls", "ssh -o LocalCommand='{}' -o PermitLocalCommand=yes x",
    "rsync -e '{}' g x:y", "scp -S '{}' g x:y", "curl --config <(echo '{}')", "less '+!{}' g", "m4 <<<'syscmd({})'", "bash --rcfile <(echo '{}') -ic ls", "bash --init-file <(echo '{}') -i -c ls", "zsh -ic '{}'", "eval -- '{}'", "command eval '{}'",
    "source <(echo '{}')", ". /dev/stdin <<<'{}'", "mapfile -C '{}; :' -c 1 a <g", "complete -C '{}' q", "bind -x '\"a\":{}'", "enable -f ./x {}", "x='{}'; trap \"$x\" EXIT", "x='{}'; bash -c \"$x\"", "x='{}'; env -S \"$x\"", "x='{}' sh -c 'eval \"$x\"'",
    "echo '{}' >s; sh s", "echo '{}' >s; chmod +x s; ./s", "cat >s <<'E'\n{}\nE\nsh s", "tee s <<<'{}'; . ./s", "printf '%s\\n' '{}' | tee s; bash s", "echo '{}' | env sh", "echo '{}' | nice bash", "echo '{}' | sudo sh", "cat <<'E' | bash\n{}\nE",
    "echo \"$(echo '{}')\" | sh", "echo '{}' | tr a a | sh", "echo '{}' | cat | dash -s", "exec 3<<<'{}'; sh <&3", "coproc sh; echo '{}' >&${{COPROC[1]}}", "printf '{}' | zsh /dev/stdin", "bash /dev/fd/3 3<<<'{}'", "sh -s <<<'{}'", "nice sh <<<'{}'",
)  # fmt: skip
"""Ways in which programs run a text."""
BESIDE = (
    "git status", "npm test 2>&1 | tail -3", "cat g > o", "git commit -qm 'x'", "make -j4", "python3 -m pytest -q", "echo done", "# tidy up", "export A=1", "set -e", "mkdir -p build",
    "cp g h", "for i in g; do wc -l $i; done", "[ -f g ] && cat g", "if [ -d src ]; then ls src; fi", "cat > s <<'E'\nx\nE", "grep -rn one .", "sed -n 1,5p g", "true ||", "time",
)  # fmt: skip
"""Ordinary commands in front of what is denied."""
_SIGNS = "'\"\\`$(){}[];&|<>#!=*?~ \n-"
SPELLINGS = tuple(name for name in NAMES if "\n" not in name)


def command(chance: Random) -> str:
    """Return one command that does something denied, in some shell."""
    text = _act(chance)
    kind = chance.random()
    if kind < 0.45:
        text = around(chance.choice(TEXTS), text, chance)
    elif kind < 0.75:
        text = around(chance.choice(AROUND), text, chance)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        text = around(chance.choice((*AROUND, *TEXTS)), text, chance)
    for _ in range(chance.choice((0, 0, 1))):
        text = (
            chance.choice((*BEFORE, *BESIDE, "o=-rf", "x=~", "cd ~", "cd /", "cd ..", "true"))
            + chance.choice(("; ", "\n", " && "))
            + text
        )
    for _ in range(chance.choice((0, 0, 0, 0, 0, 1, 2))):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(("", chance.choice(_SIGNS))) + text[at + chance.choice((0, 1)) :]
    return text


def _act(chance: Random) -> str:
    """Return something denied, without anything around it."""
    kind = chance.random()
    name = "rm" if chance.random() < 0.6 else chance.choice(SPELLINGS)
    place = chance.choice(PLACES)
    if kind < 0.35:
        return f"{name} {chance.choice(OPTIONS)} {place}"
    if kind < 0.65:
        form = chance.choice(DELETING).replace("{{", "\2").replace("}}", "\3")
        return form.replace("{rm}", name).replace("{}", place).replace("\2", "{").replace("\3", "}")
    return chance.choice(DEVICES if kind < 0.8 else ROOT)
