"""The processes of another machine, read through a shell there; those in panes with their arguments and programs."""

from __future__ import annotations

import re
import secrets
import shlex
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.hosts.errors import ProcessesError
from covey.hosts.processes import PS, PS_ARGUMENTS, Process, ProcessTable, from_ps, parse_stat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.hosts.shell import Shell

READ_S = 5.0
_IN_C = "LC_ALL=C TZ=UTC0 "
# `head` names each file: a process may have a line break in its name, but not a whole heading.
_READ = f"""if [ -r /proc/self/stat ]; then
  echo proc; cat /proc/sys/kernel/random/boot_id || echo; cat /proc/uptime; getconf CLK_TCK || echo 100
  head -n 9 /proc/[0-9]*/stat
else
  echo ps; sysctl -n kern.bootsessionuuid || echo; date +%s; {_IN_C}{shlex.join(PS)}
fi"""
# In one line of the shell: that it is still this process, and the signal. `set --` has the fields from the state on.
_IF_SAME = """same=
if [ -r /proc/self/stat ]; then
  stat=$(cat /proc/{pid}/stat); set -- ${{stat##*) }}
  case $1 in ''|Z|X) ;; *) [ "${{20}}" = {started} ] && same=1;; esac
else
  set -- $(LC_ALL=C TZ=UTC0 ps -o lstart= -p {pid}); [ "$*" = '{since}' ] && same=1
fi
[ -n "$same" ] && {{ {then}; }} && echo yes"""
_HEADING = re.compile(rb"^==> /proc/[0-9]+/stat <==\n", re.MULTILINE)
_Key = tuple[int, int, int, str]


class RemoteProcesses:
    """What `ProcessTable.read` is here. What it has learnt about a process is not asked for again."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._known: dict[_Key, Process] = {}

    async def read(self, panes: Iterable[int]) -> ProcessTable:
        """Return the processes there: on Linux from /proc, elsewhere from `ps`.

        Those that descend from the first processes of `panes` are described.
        """
        told = await self._shell.run(_READ, deadline_s=READ_S)
        kind, _, rest = told.partition(b"\n")
        head, _, rest = rest.partition(b"\n")
        boot = head.decode(errors="replace").strip()
        if kind == b"ps":
            now, _, listing = rest.decode(errors="replace").partition("\n")
            arguments = await self._shell.run(_IN_C + shlex.join(PS_ARGUMENTS), deadline_s=READ_S)
            return from_ps(listing, arguments.decode(errors="replace"), boot=boot, now=_number(now))
        uptime, _, rest = rest.partition(b"\n")
        rate, _, stats = rest.partition(b"\n")
        ticks = _number(rate)
        processes = [process for line in _HEADING.split(stats)[1:] if (process := _parse(line)) is not None]
        table = ProcessTable(
            processes,
            boot=boot,
            now=_number(uptime.partition(b" ")[0]) * ticks,
            rate=ticks,
            look=lambda process: self._known.get(_key(process), process),
        )
        await self._describe(table, panes)
        return table

    async def signal(self, pid: int, started: int, name: str) -> bool:
        """Send a signal, such as INT, to the process that was started then. Returns False if it is not there any more.

        Raises `HostError` if the machine does not answer; then it is not known whether the signal was sent.
        """
        return await self._if_same(pid, started, f"kill -{name} {pid}")

    async def lives(self, pid: int, started: int) -> bool:
        """Return whether the process that was started then is still there."""
        return await self._if_same(pid, started, ":")

    async def _if_same(self, pid: int, started: int, then: str) -> bool:
        since = " ".join(time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(started)).split())
        script = _IF_SAME.format(pid=pid, started=started, since=since, then=then)
        return (await self._shell.run(script, deadline_s=READ_S)).strip() == b"yes"

    async def _describe(self, table: ProcessTable, panes: Iterable[int]) -> None:
        family = [process for pid in set(panes) if (process := table.get(pid)) is not None]
        for process in family:
            family += table.children(process.pid)
        keys = {_key(process): process for process in family}
        self._known = {key: known for key, known in self._known.items() if key in keys or _lives(table, key)}
        strange = [process for key, process in keys.items() if key not in self._known]
        if not strange:
            return
        seal = secrets.token_hex(16)
        script = (
            f"for p in {' '.join(str(process.pid) for process in strange)}; do "
            f'echo {seal} $p; readlink "/proc/$p/exe" || echo; cat "/proc/$p/cmdline"; echo; done'
        )
        told = await self._shell.run(script, deadline_s=READ_S)
        described = {
            pid: (exe, argv) for block in told.split(f"{seal} ".encode())[1:] for pid, exe, argv in [_described(block)]
        }
        for process in strange:
            exe, argv = described.get(process.pid, ("", ()))
            if argv:  # without arguments it was gone, between fork and exec, or is none of ours
                self._known[_key(process)] = replace(process, exe=exe, argv=argv)


def _key(process: Process) -> _Key:
    return process.pid, process.started, process.image, process.name


def _lives(table: ProcessTable, key: _Key) -> bool:
    process = table.get(key[0])
    return process is not None and _key(process) == key


def _parse(line: bytes) -> Process | None:
    try:
        return parse_stat(line)
    except ValueError as error:
        raise ProcessesError(f"the processes cannot be listed: this is not what /proc says: {error}") from error


def _described(block: bytes) -> tuple[int, str, tuple[str, ...]]:
    pid, _, rest = block.partition(b"\n")
    exe, _, arguments = rest.partition(b"\n")
    argv = arguments.removesuffix(b"\n").rstrip(b"\0")
    words = tuple(argv.decode(errors="replace").split("\0")) if argv else ()
    return int(pid), exe.decode(errors="replace").removesuffix(" (deleted)"), words


def _number(text: bytes | str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ProcessesError(f"the processes cannot be listed: {text[:40]!r} is no number") from None
