"""What an agent runs at each of its hooks: hands the payload to the daemon, or leaves it in the spool.

Says nothing, never fails, and is quick about it. Only a payload that asks for a decision may wait: the daemon is asked
as well, and what it decides is printed. Without a decision nothing is printed, and the agent asks at its terminal.

Copied into Covey's home and started by the launcher beside it (see script.py): `covey_hook.py <home> <pid of the
caller> <agent> [payload]`. It must work under any Python from 3.8 on, without site-packages, so it imports only what is
built into the interpreter; even `os` would cost it a tenth of its time.
"""

import posix
import sys
import time

DEADLINE_S = 1.0
"""For reaching the daemon and giving it all."""
ANSWER_S = 0.3
"""For its answer. A daemon that is busier than that finds the payload in its spool, under the same id."""
READ_S = 2.0
"""For the payload to arrive, if the agent forgets to close our input."""
LARGEST_READ = 32 * 1024 * 1024
LARGEST_BODY = 256 * 1024
LONGEST_TEXT = 2000
"""What is left of each text in a payload that is larger."""
ASKS = (b'"PermissionRequest"', b'"permissionRequest"', b'"request_user_input"')
"""A payload that asks for a decision has one of these; the daemon knows whether it really does."""
HELD_S = 3540
"""How long a decision is waited for: less than the agents wait for the hook."""
LARGEST_ASKED = 1_000_000
"""A larger request is left to the terminal: nobody could be shown all of it."""
BEGIN_S, SILENCE_S = 2.0, 15.0
"""For the daemon to begin with its answer, and between its signs of life after that."""
LOOK_S = 0.5
"""Between two looks whether the agent still waits."""
DECISION = b"event: covey.decision\ndata: "
SPOOL_FILES = 16_384
SPOOL_BYTES = 32 * 1024 * 1024
ANCESTORS = 8
NAP_S = 0.01


def main(home: bytes, caller: int, agent: bytes, given: "bytes | None") -> None:
    at, pid = time.time_ns(), posix.getpid()
    body = given if given is not None else read()
    if not body.strip():
        return
    whole = body
    if len(body) > LARGEST_BODY:
        body = shortened(body)
    name = b"%020d-%d" % (at, pid)
    environ = posix.environ
    about = [
        b"Host: covey",
        b"Connection: close",
        b"Content-Type: application/json",
        b"X-Covey-Id: " + name,
        b"X-Covey-At: %d" % (at // 1_000_000),
        b"X-Covey-Pid: " + b" ".join(b"%d" % one for one in ancestors(caller)),
        b"X-Covey-Pane: " + header_value(environ.get(b"TMUX_PANE", b"")),
        b"X-Covey-Tmux: " + header_value(environ.get(b"TMUX", b"")),
        b"X-Covey-Host: " + header_value(posix.uname().nodename.encode()),
    ]
    request = post(b"/v1/hooks/" + agent, about, body)
    try:
        delivered = deliver(home + b"/node/sock", request)
    except OSError:
        delivered = False
    if not delivered:
        spool(home, name, request)
    if len(whole) <= LARGEST_ASKED and any(mark in whole for mark in ASKS):
        about.append(b"Covey-Deadline-Ms: %d" % (1000 * HELD_S))
        write(decision(home + b"/node/sock", post(b"/v1/hooks/%s/decision" % agent, about, whole)))


def post(path: bytes, about: "list[bytes]", body: bytes) -> bytes:
    head = [b"POST %s HTTP/1.1" % path, *about, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def decision(path: bytes, request: bytes) -> bytes:
    """Return what the daemon has the agent told; nothing if it has no decision, breaks off or falls silent."""
    from _socket import AF_UNIX, SOCK_STREAM, socket  # noqa: PLC0415 - as in `deliver`

    launcher = posix.getppid()
    sock = socket(AF_UNIX, SOCK_STREAM)
    sock.settimeout(BEGIN_S)
    sock.connect(path)
    sock.sendall(request)
    sock.settimeout(LOOK_S)
    answer, silent_until = b"", time.monotonic() + BEGIN_S
    while posix.getppid() == launcher and time.monotonic() < silent_until:
        try:
            part = sock.recv(1 << 18)
        except OSError as error:
            if error.errno is not None:  # broken, and not merely silent
                return b""
            continue
        answer += part
        silent_until = time.monotonic() + SILENCE_S
        found, _, rest = answer.partition(DECISION)
        decided, ended, _ = rest.partition(b"\n\n")
        if ended and found.startswith(b"HTTP/1.1 200 "):
            return decided
        if not part:
            return b""
    return b""


def write(text: bytes) -> None:
    while text:
        text = text[posix.write(1, text) :]


def read() -> bytes:
    """All that comes on standard input; what has come so far, if its end does not come."""
    import _signal  # type: ignore[import-not-found]  # noqa: PLC0415 - not needed for a payload that comes as an argument

    def late(*_: object) -> None:
        raise TimeoutError

    parts: list[bytes] = []
    size = 0
    try:
        if posix.isatty(0):
            return b""
        _signal.signal(_signal.SIGALRM, late)
        _signal.setitimer(_signal.ITIMER_REAL, READ_S)
        while True:
            part = posix.read(0, 1 << 18)
            if not part:
                break
            size += len(part)
            if size <= LARGEST_READ:  # the rest is taken and dropped: the agent would stumble over a closed pipe
                parts.append(part)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
    except OSError:
        pass
    return b"".join(parts)


def deliver(path: bytes, request: bytes) -> bool:
    """Whether the daemon has it, or has refused it for good."""
    from _socket import AF_UNIX, SOCK_STREAM, socket  # noqa: PLC0415 - where it is a file of its own, its absence is no reason to lose the payload

    sock = socket(AF_UNIX, SOCK_STREAM)
    limit = time.monotonic() + DEADLINE_S
    sock.settimeout(DEADLINE_S)
    while True:
        try:
            sock.connect(path)
            break
        except BlockingIOError:  # more callers than it lets wait
            if time.monotonic() > limit:
                return False
            time.sleep(NAP_S)
    sock.settimeout(max(NAP_S, limit - time.monotonic()))
    try:  # noqa: SIM105 - contextlib is slow to import
        sock.sendall(request)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it may have answered before it had read everything
    sock.settimeout(ANSWER_S)
    status = sock.recv(64)[9:10]
    return status in (b"2", b"4")


def spool(home: bytes, name: bytes, request: bytes) -> None:
    """Write the request to the spool, whole or not at all. The oldest are removed when there is no more room."""
    folder = home + b"/node/spool"
    for one in (home + b"/node", folder):
        try:  # noqa: SIM105 - as above
            posix.mkdir(one, 0o700)
        except FileExistsError:
            pass
    make_room(folder, len(request))
    # The size is in the name, so that nobody has to look at every file to know how much there is.
    partial, whole = folder + b"/." + name, folder + b"/%s-%d.hook" % (name, len(request))
    descriptor = posix.open(partial, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    try:
        while request:
            request = request[posix.write(descriptor, request) :]
        posix.rename(partial, whole)
    except OSError:
        posix.unlink(partial)
    finally:
        posix.close(descriptor)


def make_room(folder: bytes, size: int) -> None:
    names = [name for name in posix.listdir(folder) if name.endswith(b".hook")]
    sizes = [int(name[:-5].rpartition(b"-")[2]) if name[:-5].rpartition(b"-")[2].isdigit() else 0 for name in names]
    files, total = len(names) + 1, sum(sizes) + size
    if files <= SPOOL_FILES and total <= SPOOL_BYTES:
        return
    dropped = 0
    for name, its in sorted(zip(names, sizes)):  # noqa: B905 - the system's Python may be older than `strict`
        if files <= SPOOL_FILES and total <= SPOOL_BYTES:
            break
        try:
            posix.unlink(folder + b"/" + name)
            dropped += 1
        except FileNotFoundError:
            pass
        files, total = files - 1, total - its
    descriptor = posix.open(folder + b"/dropped", posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND, 0o600)
    posix.write(descriptor, b"." * dropped)  # one sign for each
    posix.close(descriptor)


def shortened(body: bytes) -> bytes:
    """Return a payload with its long texts cut; only its top-level scalars if that is not enough.

    Other text is cut off.
    """
    import json  # noqa: PLC0415 - seldom needed, and as slow as all the rest

    def cut(value: object) -> object:
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            return value[:LONGEST_TEXT] + "…"
        if isinstance(value, dict):
            return {name: cut(one) for name, one in value.items()}
        return [cut(one) for one in value] if isinstance(value, list) else value

    try:
        value = cut(json.loads(body))
        small = json.dumps(value).encode()
        if len(small) > LARGEST_BODY and isinstance(value, dict):
            small = json.dumps({name: one for name, one in value.items() if not isinstance(one, (dict, list))}).encode()
    except (ValueError, RecursionError):
        small = body
    return small[:LARGEST_BODY]


def ancestors(pid: int) -> "list[int]":
    """Return the caller and its ancestors, nearest first; one of them is the agent. Without /proc, the caller alone."""
    found: list[int] = []
    try:
        while pid > 1 and len(found) < ANCESTORS:
            found.append(pid)
            descriptor = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY)
            pid = int(posix.read(descriptor, 4096).rpartition(b")")[2].split()[1])
            posix.close(descriptor)
    except (OSError, ValueError, IndexError):
        pass
    return found


def header_value(value: bytes) -> bytes:
    """A value that can stand in a header."""
    return bytes(byte for byte in value[:512] if byte >= 0x20 and byte != 0x7F)  # noqa: PLR2004 - ASCII


if __name__ == "__main__":
    try:
        where, who, what, *more = (one.encode(sys.getfilesystemencoding(), "surrogateescape") for one in sys.argv[1:])
        main(where, int(who), what, more[-1] if more else None)
    except BaseException:  # noqa: BLE001, S110 - an agent must never stumble over us
        pass
    posix._exit(0)  # noqa: SLF001 - without taking the interpreter down, which takes a tenth of the time
