"""Small IMAP and SMTP servers on loopback: the commands that imaplib and smtplib give, and the mail in memory."""

from __future__ import annotations

import re
import socketserver
import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass
class Mail:
    """A mail in the mailbox."""

    uid: int
    content: bytes
    flags: set[str] = field(default_factory=set)


class _Server(socketserver.ThreadingTCPServer):
    """Serves in the background; everything is recorded in `world`."""

    daemon_threads = True
    allow_reuse_address = True
    world: Any

    def __init__(self, handler: type[socketserver.BaseRequestHandler], world: Any, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.world = world
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()
        self.port: int = self.server_address[1]

    def end(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class Imap:
    """A mailbox of one user, and its server."""

    def __init__(self, user: str, password: str, port: int = 0) -> None:
        self.account = (user, password)
        self.validity = 1
        self.mails: list[Mail] = []
        self.looks = 0
        self._server = _Server(_ImapHandler, self, port)
        self.port = self._server.port

    def put(self, content: str) -> Mail:
        uid = max((mail.uid for mail in self.mails), default=0) + 1
        self.mails.append(Mail(uid, content.replace("\n", "\r\n").encode()))
        return self.mails[-1]

    def close(self) -> None:
        self._server.end()


class _ImapHandler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        world: Imap = self.server.world  # type: ignore[attr-defined]
        self.wfile.write(b"* OK ready\r\n")
        while line := self.rfile.readline().decode().strip():
            tag, _, rest = line.partition(" ")
            answer = self._answer(world, rest)
            self.wfile.write(f"{tag} {answer}\r\n".encode())

    def _answer(self, world: Imap, command: str) -> str:
        name, _, rest = command.partition(" ")
        if name == "CAPABILITY":
            self.wfile.write(b"* CAPABILITY IMAP4rev1\r\n")
        elif name == "LOGIN":
            given = tuple(word.strip('"') for word in rest.split(" ", 1))
            if given != world.account:
                return "NO wrong user or password"
        elif name == "SELECT":
            self.wfile.write(f"* {len(world.mails)} EXISTS\r\n* OK [UIDVALIDITY {world.validity}] ok\r\n".encode())
        elif name == "UID":
            self._uid(world, rest)
        elif name == "LOGOUT":
            world.looks += 1
            self.wfile.write(b"* BYE\r\n")
        else:
            return f"BAD {name}"
        return "OK done"

    def _uid(self, world: Imap, command: str) -> None:
        name, *words = command.split()
        if name == "SEARCH":
            uids = [mail.uid for mail in world.mails]
            if found := re.search(r"UID (\d+):\*", command):
                first = int(found[1])
                uids = [uid for uid in uids if uid >= first or uid == max(uids)]  # n:* has the last one in any case
            self.wfile.write(f"* SEARCH {' '.join(map(str, uids))}\r\n".encode())
            return
        mail = next(mail for mail in world.mails if mail.uid == int(words[0]))
        if name == "STORE":
            mail.flags.add(words[-1].strip("()"))
        elif "RFC822.SIZE" in command:
            self.wfile.write(f"* 1 FETCH (UID {mail.uid} RFC822.SIZE {len(mail.content)})\r\n".encode())
        else:
            self.wfile.write(f"* 1 FETCH (UID {mail.uid} BODY[] {{{len(mail.content)}}}\r\n".encode())
            self.wfile.write(mail.content + b")\r\n")


class Smtp:
    """A server that takes mail; `refusals` are its next answers to RCPT."""

    def __init__(self, port: int = 0) -> None:
        self.taken: list[tuple[str, str, str]] = []
        self.refusals: list[str] = []
        self._server = _Server(_SmtpHandler, self, port)
        self.port = self._server.port

    def close(self) -> None:
        self._server.end()


class _SmtpHandler(socketserver.StreamRequestHandler):
    _ANSWERS: ClassVar = {
        "EHLO": "250-localhost\r\n250 AUTH PLAIN",
        "AUTH": "235 welcome",
        "MAIL": "250 ok",
        "RCPT": "250 ok",
        "RSET": "250 ok",
        "QUIT": "221 bye",
    }

    def handle(self) -> None:
        world: Smtp = self.server.world  # type: ignore[attr-defined]
        self._say("220 ready")
        sender = to = ""
        while line := self.rfile.readline().decode().strip():
            name = line[:4].upper()
            if name == "MAIL":
                sender = line.partition("<")[2].partition(">")[0]
            if name == "RCPT":
                to = line.partition("<")[2].partition(">")[0]
            if name == "RCPT" and world.refusals:
                self._say(world.refusals.pop(0))
            elif name == "DATA":
                self._say("354 go on")
                lines = []
                while (part := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(part.removeprefix(b"."))
                world.taken.append((sender, to, b"".join(lines).decode().replace("\r\n", "\n")))
                self._say("250 taken")
            else:
                self._say(self._ANSWERS.get(name, "502 not known"))

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())
