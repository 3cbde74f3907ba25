"""The programs that matter here: what does harm, and what runs others.

Which programs take their words as data is known to `covey.policy.shell.programs`, and is not repeated here.
"""

from __future__ import annotations

ROOT = frozenset({
    "sudo", "sudoedit", "sudo-rs", "doas", "su", "pkexec", "run0", "runuser", "gosu", "su-exec", "please", "super",
    "calife", "dzdo", "ksu", "newgrp", "nsenter",
})  # fmt: skip
"""Ask for the rights of root or of somebody else."""
POWER = frozenset({
    "shutdown", "reboot", "halt", "poweroff", "kexec", "telinit", "pm-suspend", "pm-hibernate",
    "rtcwake",
})  # fmt: skip
FORMATS = frozenset({
    "mke2fs", "mkdosfs", "mkntfs", "mkswap", "newfs", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "cfdisk", "fdisk",
    "gdisk", "parted", "pvcreate", "pvremove", "vgremove", "lvremove", "zpool", "hdparm", "nvme", "badblocks",
    "cryptsetup", "mdadm", "diskutil", "newfs_apfs", "newfs_hfs",
})  # fmt: skip
"""Write file systems and partitions. All that begin with `mkfs` belong to them."""
SHREDS = frozenset({
    "shred", "srm", "wipe", "scrub", "nwipe",
})  # fmt: skip
SYSTEMCTL_VERBS = frozenset({
    "poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency", "exit", "hibernate", "suspend",
})  # fmt: skip
SYSTEMCTL_TARGETS = frozenset(
    f"{name}.target" for name in ("poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "shutdown", "exit")
)
SHELLS = frozenset({
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh",
})  # fmt: skip
INTERPRETERS = {
    "python": "c",
    "pypy": "c",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "nodejs": "ep",
    "bun": "ep",
    "deno": "",
    "php": "rBRE",
    "lua": "e",
    "luajit": "e",
    "rscript": "e",
    "r": "e",
    "osascript": "e",
    "tclsh": "",
    "wish": "",
    "guile": "c",
    "ghc": "e",
    "julia": "eE",
    "elixir": "e",
    "groovy": "e",
    "swift": "e",
}
"""Interpreters, by their names without a version, and the letters of the options that bring a program."""
FINDS = frozenset({"find", "gfind", "bfs", "fd", "fdfind"})
SEDS = frozenset({"sed", "gsed"})
AWKS = frozenset(["awk", "gawk", "mawk", "nawk"])
RUNNERS = frozenset({
    "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "gtimeout", "stdbuf", "setsid",
    "xargs", "busybox", "toybox", "time", "watch", "unbuffer", "taskset", "chrt", "setpriv", "prlimit", "setarch",
    "linux32", "linux64", "choom", "fakeroot", "flock", "parallel", "strace", "ltrace", "script", "unshare",
    "nsenter", "chroot", "proot", "bwrap", "firejail", "dbus-run-session", "dbus-launch", "systemd-run",
    "systemd-inhibit", "caffeinate", "numactl", "catchsegv", "valgrind", "perf", "hyperfine", "retry", "entr",
    "ssh", "mosh", "docker", "podman", "kubectl", "rlwrap", "expect", "tmux", "screen", "at", "batch", "coproc",
    "noglob", "nocorrect",
})  # fmt: skip
"""Run what their words say. A program that is in none of these lists may do that as well."""
RESERVED = frozenset({
    "!", "{", "}", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "time", "coproc", "]]", "]",
    "esac",
})  # fmt: skip
"""Words of the shell before or after a command."""
DATA = frozenset(["for", "select", "case", "function", "in", "[", "[[", "foreach"])
"""Words of the shell after which there is no command."""
LOOPS = frozenset(["for", "while", "until", "select", "function", "repeat", "foreach"])
NAMES_ONLY = frozenset({
    "make", "gmake", "bmake", "just", "rake", "man", "info", "whatis", "apropos", "tldr", "apt",
    "apt-get", "apt-cache", "dnf", "yum", "apk", "pacman", "zypper", "port", "nvm", "asdf", "mise", "conda", "mamba",
    "hash",
})  # fmt: skip
"""Run something by their options only: a word that is the name of a program is a target, a page or a package."""
SIGNALS = frozenset({"pkill", "killall"})
"""Name programs that run already."""
SHELL_INPUT = frozenset({"at", "batch", "crontab", "ed", "ex", "ssh", "mosh", "tmux", "screen", "parallel"})
"""Run what is written to them, among others by a shell."""
CLIENTS = frozenset({"psql", "mysql", "mariadb", "sqlite3"})
"""Run what is written to them, which may be commands of a shell in a here-document."""
LINKS = frozenset({"ln", "link", "mount", "bindfs"})
"""Make another folder of a name."""
COPIES = frozenset({"cp", "mv", "ln", "install", "rsync", "tee", "dd"})
"""Write files, which a later command of the same text may run."""
DEVICE_READERS = frozenset({
    "ls", "stat", "file", "df", "du", "lsblk", "blkid", "findmnt", "mount", "lsof", "grep", "egrep", "rg", "echo",
    "printf", "cat", "test", "[", "[[", "smartctl",
})  # fmt: skip
"""May name a device as long as nothing is redirected."""


def family(program: str) -> str:
    """Return the name of a program without its folder and version, in lower case: `python3.11` is `python`.

    zsh looks for the program of a word that begins with `=`.
    """
    name = program.rpartition("/")[2].casefold().lstrip("=")
    base = name.rstrip("0123456789.-")
    return base if base in INTERPRETERS else name


def is_harmful(name: str) -> str:
    """Return what a program does that is never allowed, as a sentence; empty if nothing by its name alone."""
    if name in ROOT:
        return f"{name} asks for the rights of another user"
    if name in POWER:
        return f"{name} stops the machine"
    if name in FORMATS or name.startswith("mkfs"):
        return f"{name} writes file systems or partitions"
    if name in SHREDS:
        return f"{name} destroys files so that nobody can restore them"
    return ""


def is_denied(name: str) -> bool:
    """Return whether a name stands for a program that does harm: to be refused wherever it may be run."""
    return bool(is_harmful(name)) or name in {"rm", "dd"}


def is_watched(name: str) -> bool:
    """Return whether a program is judged by its words: its name in what a program may run is looked at."""
    return is_denied(name) or (name not in _LETTERS and (is_carrier(name) or name in _JUDGED))


def is_carrier(name: str) -> bool:
    """Return whether a program does what it is told by its words, which may be harm."""
    return name in SHELLS or name in INTERPRETERS or name in AWKS | SEDS | FINDS


_LETTERS = frozenset({"r"})
"""Names of interpreters that are too short to mean them."""
_JUDGED = frozenset({"unlink", "eval", "source", "trap", "xargs", "init", "systemctl", "loginctl"})
