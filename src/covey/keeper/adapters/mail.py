"""Passes on a mailbox, and mails what the agent says: `python -m covey.keeper.adapters.mail <folder> <settings>`.

Only mail from `allowed_from` is sent, each once: `mail.<name>.state` in the session's folder has the last one. What is
in the mailbox before the first start is not sent. A sender's address can be forged: use a mailbox whose server checks
it (SPF, DKIM), and do not let this channel approve anything.
"""

from __future__ import annotations

import contextlib
import email.policy
import imaplib
import json
import re
import smtplib
import ssl
import sys
import time
from email import message_from_bytes
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.adapter import Channel, ChannelClosed, MessageTooLong
from covey.keeper.adapters.program import LOG, Attempts, Rejected, carry, carry_in_background, run
from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from covey.keeper.adapters.program import Adapter

TIMEOUT_S = 30.0
LONGEST_MAIL = 10 << 20
LONGEST_TEXT = 100_000
_IMAP_PORT, _IMAPS_PORT, _SUBMISSION_PORT = 143, 993, 587
_FOR_GOOD = 500
"""From this code on, the answer of a mail server is final (RFC 5321)."""
_TAG = re.compile(r"<(style|script)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d+)\b")


class Thread(NamedTuple):
    """What an answer belongs to: the last mail."""

    message_id: str = ""
    references: str = ""
    subject: str = ""


class State:
    """The last mail that was sent on, in a file, and the thread that answers belong to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.validity = 0
        """The UIDVALIDITY of the mailbox; 0 if it was never seen. If it changes, the UIDs are different ones."""
        self.last = 0
        self.thread = Thread()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            stored = json.loads(read_regular(path, LONGEST_TEXT))
            self.validity, self.last = int(stored["validity"]), int(stored["last"])
            self.thread = Thread(*map(str, stored["thread"]))

    def save(self) -> None:
        """Write the file."""
        stored = {"validity": self.validity, "last": self.last, "thread": list(self.thread)}
        write_file(str(self._path), json.dumps(stored).encode(), 0o600)


def text_of(mail: EmailMessage) -> str:
    """Return the text of a mail: its plain part, or else its HTML without tags, or nothing."""
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, ValueError):  # an unknown character set
        text = bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    if part.get_content_subtype() == "html":
        text = _TAG.sub("", text)
    return "\n".join(text.splitlines()).strip()[:LONGEST_TEXT]


class Mailbox:
    """The mailbox that is looked at every now and then."""

    def __init__(self, adapter: Adapter, channel: Channel, state: State) -> None:
        self._settings = adapter.settings
        self._password = adapter.secret
        self._channel = channel
        self._state = state
        self._allowed = {address.strip().lower() for address in adapter.settings["allowed_from"]}

    def look(self) -> None:
        """Send on what is new. Raises OSError or imaplib's errors if the server fails, and ChannelClosed."""
        connection = _imap(self._settings)
        try:
            connection.login(self._settings["user"], self._password)
            # EXAMINE would leave mail unseen; a mailbox that is opened with SELECT is changed only by STORE.
            _ok(connection.select(_quoted(self._settings["mailbox"])))
            for uid in self._new(connection):
                self._take(connection, uid)
        finally:
            with contextlib.suppress(OSError, imaplib.IMAP4.error):
                connection.logout()

    def _new(self, connection: imaplib.IMAP4) -> Iterator[int]:
        """Yield the UIDs of the mails that were not looked at yet. At first, and in a new mailbox, that is none."""
        state = self._state
        validity = int((connection.response("UIDVALIDITY")[1] or [b"0"])[0] or 0)
        (found,) = _ok(connection.uid("SEARCH", f"UID {state.last + 1}:*" if validity == state.validity else "ALL"))
        uids = sorted(int(uid) for uid in (found or b"").split())
        if validity != state.validity:
            state.validity, state.last = validity, max(uids, default=0)
            state.save()
            return
        yield from (uid for uid in uids if uid > state.last)  # `n:*` has the last mail in any case

    def _take(self, connection: imaplib.IMAP4, uid: int) -> None:
        state = self._state
        mail = _fetch(connection, uid)
        sender = parseaddr(str(mail["From"] or ""))[1].lower() if mail is not None else ""
        if mail is None or sender not in self._allowed:
            LOG.warning("mail left out", extra={"uid": uid, "sender": sender, "too_long": mail is None})
        else:
            subject, identity = str(mail["Subject"] or ""), str(mail["Message-ID"] or "").strip()
            head, text = f"Mail from {sender}: {subject}", text_of(mail)
            meta = {"from": sender, "subject": subject, "message_id": identity}
            # Before the agent can answer: the answer belongs to this mail.
            state.thread = Thread(identity, f"{mail['References'] or ''} {identity}".strip(), subject)
            try:
                self._channel.send(f"{head}\n\n{text}".strip(), meta)
            except MessageTooLong:
                self._channel.send(f"{head}\n\n(its text is left out: it has {len(text)} characters)", meta)
            LOG.info("message sent", extra={"channel": self._channel.name, "uid": uid})
        state.last = uid
        state.save()
        if mail is not None and sender in self._allowed:
            connection.uid("STORE", str(uid), "+FLAGS", r"(\Seen)")


def _fetch(connection: imaplib.IMAP4, uid: int) -> EmailMessage | None:
    """Return a mail, or None if it is too long or gone."""
    sizes = b" ".join(one for one in _ok(connection.uid("FETCH", str(uid), "(RFC822.SIZE)")) if isinstance(one, bytes))
    size = _SIZE.search(sizes)
    if size is None or int(size[1]) > LONGEST_MAIL:
        return None
    for part in _ok(connection.uid("FETCH", str(uid), "(BODY.PEEK[])")):
        if isinstance(part, tuple):
            mail = message_from_bytes(part[1], policy=email.policy.default)
            return mail if isinstance(mail, EmailMessage) else None
    return None


def _imap(settings: Mapping[str, Any]) -> imaplib.IMAP4:
    host, security = settings["imap"], settings["imap_security"]
    if security == "tls":
        port = settings["imap_port"] or _IMAPS_PORT
        return imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=TIMEOUT_S)
    connection = imaplib.IMAP4(host, settings["imap_port"] or _IMAP_PORT, timeout=TIMEOUT_S)
    if security == "starttls":
        connection.starttls(ssl.create_default_context())
    return connection


def _ok(answer: tuple[str, list[Any]]) -> list[Any]:
    kind, data = answer
    if kind != "OK":
        raise imaplib.IMAP4.error(f"the server answered {kind}: {str(data)[:200]}")
    return data


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Sender:
    """Mails what the agent says, as an answer to the last mail if there is one."""

    def __init__(self, adapter: Adapter, state: State) -> None:
        self._settings = adapter.settings
        self._password = adapter.secret
        self._state = state

    def deliver(self, text: str) -> None:
        """Mail a message. Raises `Rejected` if the server does not take it, and OSError if it failed."""
        settings, thread = self._settings, self._state.thread
        mail = EmailMessage()
        mail["From"] = settings["sender"] or settings["user"]
        mail["To"] = settings["to"]
        subject = thread.subject or text.strip().partition("\n")[0][:78]
        answers = thread.message_id and not subject.lower().startswith("re:")
        mail["Subject"] = " ".join((f"Re: {subject}" if answers else subject).split())
        mail["Date"] = formatdate(localtime=True)
        mail["Message-ID"] = make_msgid()
        if thread.message_id:
            mail["In-Reply-To"], mail["References"] = thread.message_id, " ".join(thread.references.split()[-20:])
        mail.set_content(text.encode("utf-8", "replace").decode())
        try:
            with self._connected() as connection:
                connection.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            raise _failure(next(iter(error.recipients.values()))[0]) from None
        except smtplib.SMTPAuthenticationError as error:  # somebody may mend the account: the mail can wait
            raise OSError(f"the mail server does not take the password ({error.smtp_code})") from None
        except smtplib.SMTPResponseException as error:
            raise _failure(error.smtp_code) from None

    def _connected(self) -> smtplib.SMTP:
        settings, context = self._settings, ssl.create_default_context()
        if settings["smtp_security"] == "tls":
            port = settings["smtp_port"] or smtplib.SMTP_SSL_PORT
            connection: smtplib.SMTP = smtplib.SMTP_SSL(settings["smtp"], port, timeout=TIMEOUT_S, context=context)
        else:
            port = settings["smtp_port"] or (
                _SUBMISSION_PORT if settings["smtp_security"] == "starttls" else smtplib.SMTP_PORT
            )
            connection = smtplib.SMTP(settings["smtp"], port, timeout=TIMEOUT_S)
        try:
            if settings["smtp_security"] == "starttls":
                connection.starttls(context=context)
            if self._password:
                connection.login(settings["user"], self._password)
        except BaseException:
            connection.close()
            raise
        return connection


def _failure(code: int) -> Exception:
    """Return what an answer of the mail server means: for good, or for now."""
    return Rejected(f"the mail server answered {code}") if code >= _FOR_GOOD else OSError(f"it answered {code}")


def main(adapter: Adapter) -> None:
    """Run the adapter until it is ended."""
    settings = adapter.settings
    state = State(adapter.folder / f"mail.{adapter.name}.state")
    reads, writes = bool(settings["imap"]), bool(settings["smtp"])
    with Channel(adapter.name, folder=adapter.folder, sends=reads, receives=writes) as channel:
        sender = Sender(adapter, state)
        if not reads:
            carry(channel, sender.deliver)
            return
        if writes:
            carry_in_background(channel, sender.deliver)
        mailbox, attempts = Mailbox(adapter, channel, state), Attempts()
        while True:
            try:
                mailbox.look()
                attempts.succeed()
            except (OSError, imaplib.IMAP4.error, ChannelClosed) as error:
                attempts.wait("mailbox cannot be read", error)
                continue
            time.sleep(settings["every_s"])


if __name__ == "__main__":
    sys.exit(run("mail", main))
