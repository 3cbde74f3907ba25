"""The kinds of adapters with their settings, and what is wrong with settings.

Cheap to import: the configuration is checked with this.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value = str | int | bool | tuple[str, ...]
_TYPES = {str: "a text", int: "a whole number", bool: "true or false", tuple: "a list of texts"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_HIGHEST_PORT = 65_535
_FIELD = re.compile(r"\w+(?:\[[^\[\]{}]+\])*")


class Option(NamedTuple):
    """A setting of an adapter. Its type is that of its default."""

    name: str
    summary: str
    default: Value = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    secret: bool = False
    """It names an environment variable or a file, which holds the secret."""


_NAME_OPTION = Option("name", "Name of the channel; the kind of the adapter unless given.")
_SECURITY = ("tls", "starttls", "none")
KINDS: dict[str, tuple[Option, ...]] = {
    "cron": (
        Option("schedule", "When to send: a cron expression of five fields.", required=True),
        Option("message", "What to send.", required=True),
        Option("timezone", "Time zone of the schedule, such as Europe/Berlin; that of the machine unless given."),
    ),
    "webhook": (
        Option("port", "Port on 127.0.0.1; 0 for a free one, which webhook.<name>.url in the folder tells.", 0),
        Option("secret", "Environment variable or file with the secret that signs.", required=True, secret=True),
        Option("template", "Text of the message, with {fields[of]} the payload; a summary unless given."),
        Option("reply_url", "Address to which what the agent sends to the channel is posted as JSON."),
    ),
    "file": (
        Option("folder", "Folder to watch.", required=True),
        Option("pattern", "Which files, such as *.txt or **/*.md.", "*"),
        Option("include_bytes", "Files up to this length are sent with their content.", 16_384),
        Option("outbox", "Folder in which each message of the agent becomes a file."),
    ),
    "mail": (
        Option("imap", "IMAP server to read from; none unless given."),
        Option("imap_port", "Port of the IMAP server; 0 for the usual one.", 0),
        Option("imap_security", "How the connection is protected.", "tls", choices=_SECURITY),
        Option("mailbox", "Mailbox to read.", "INBOX"),
        Option("every_s", "Seconds between two looks at the mailbox.", 60),
        Option("allowed_from", "Addresses of the senders whose mail is passed on.", ()),
        Option("smtp", "SMTP server to send through; none unless given."),
        Option("smtp_port", "Port of the SMTP server; 0 for the usual one.", 0),
        Option("smtp_security", "How the connection is protected.", "starttls", choices=_SECURITY),
        Option("to", "Address to which what the agent sends to the channel is mailed."),
        Option("sender", "Address that this mail is from; the user unless given."),
        Option("user", "User at both servers."),
        Option("password", "Environment variable or file with the password.", secret=True),
    ),
    "apprise": (
        Option("urls", "Environment variable or file with apprise's addresses.", required=True, secret=True),
        Option("title", "Title of the notifications."),
    ),
}


def check(kind: str, settings: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the settings of an adapter: sentences, without any secret. Empty if they are fine."""
    if kind not in KINDS:
        return [f"there is no adapter of the kind {kind[:40]!r}: use one of {', '.join(KINDS)}"]
    found = list(_problems(kind, settings))
    return found or list(_MORE.get(kind, _nothing)(completed(kind, settings)))


def completed(kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without problems, with the defaults of those that are not given."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    defaults = {option.name: option.default for option in KINDS[kind]}
    return {**defaults, "name": kind, **given}


def secret(where: str) -> str:
    """Return the secret that an environment variable or a file holds. Raises ValueError with a sentence."""
    if not _is_path(where):
        if value := os.environ.get(where, ""):
            return value
        raise ValueError("the environment variable that is to hold the secret is not set")
    from covey.kernel.regular_file import read_regular  # noqa: PLC0415 - checking needs no file

    try:
        value = read_regular(os.path.expanduser(where), 65_536).decode().strip()  # noqa: PTH111 - as a shell has it
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the file that is to hold the secret cannot be read: {error}") from None
    if not value:
        raise ValueError("the file that is to hold the secret is empty")
    return value


def _is_path(where: str) -> bool:
    return where.startswith(("/", "~/"))


def _problems(kind: str, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with single settings."""
    options = {option.name: option for option in (_NAME_OPTION, *KINDS[kind])}
    for name, value in settings.items():
        if name not in options:
            yield f"{name} is not a setting of the adapter {kind}: it has {', '.join(options)}"
        else:
            yield from _problems_of(options[name], value)
    for name, option in options.items():
        if option.required and name not in settings:
            yield f"the adapter {kind} needs {name}: {option.summary[:1].lower()}{option.summary[1:]}"


def _problems_of(option: Option, value: Any) -> Iterator[str]:
    wanted = type(option.default)
    if wanted is tuple:
        fits = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
    else:
        fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    if not fits:
        yield f"{option.name} has to be {_TYPES[wanted]}"
    elif option.name == "name" and not _NAME.fullmatch(value):
        yield "name has to be up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit"
    elif option.required and not str(value).strip():
        yield f"{option.name} is empty"
    elif option.choices and value not in option.choices:
        yield f"{option.name} has to be one of {', '.join(option.choices)}"
    elif option.secret and value and not (_is_path(value) or _VARIABLE.fullmatch(value)):
        yield f"{option.name} has to be the name of an environment variable, or a path that begins with / or ~/"
    elif option.name.endswith("port") and not 0 <= value <= _HIGHEST_PORT:
        yield f"{option.name} has to be between 0 and {_HIGHEST_PORT}"
    elif wanted is int and value < 0:
        yield f"{option.name} cannot be negative"


def _nothing(_settings: Mapping[str, Any]) -> Iterator[str]:
    yield from ()


def _cron(settings: Mapping[str, Any]) -> Iterator[str]:
    from covey.kernel.cron import cron_problem, timezone_problem  # noqa: PLC0415 - for this kind only

    if problem := cron_problem(settings["schedule"]):
        yield f"schedule {problem}"
        if "five fields" in problem:
            return
    if problem := timezone_problem(settings["timezone"]):
        yield problem


def _webhook(settings: Mapping[str, Any]) -> Iterator[str]:
    from string import Formatter  # noqa: PLC0415 - for this kind only

    try:
        fields = list(Formatter().parse(settings["template"]))
    except ValueError as error:
        yield f"template cannot be read: {error}"
        return
    for _, field, spec, conversion in fields:
        if field is not None and (spec or conversion or not _FIELD.fullmatch(field)):
            yield f"template has {{{field[:40]}}}: a field is a name, or a name with keys such as {{sender[login]}}"
    if settings["reply_url"] and not settings["reply_url"].startswith(("http://", "https://")):
        yield "reply_url has to begin with http:// or https://"


def _file(settings: Mapping[str, Any]) -> Iterator[str]:
    for name in ("folder", "outbox"):
        if settings[name] and not _is_path(settings[name]):
            yield f"{name} has to be a path that begins with / or ~/"
    pattern = settings["pattern"]
    if not pattern or pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        yield "pattern has to stay below the folder"
    folder, outbox = (os.path.realpath(os.path.expanduser(settings[name])) for name in ("folder", "outbox"))  # noqa: PTH111
    if settings["outbox"] and f"{outbox}/".startswith(f"{folder}/"):
        yield "outbox cannot be in the folder that is watched: the agent's own messages would come back to it"


def _mail(settings: Mapping[str, Any]) -> Iterator[str]:
    if not (settings["imap"] or settings["smtp"]):
        yield "the adapter mail needs imap, smtp, or both"
    if settings["imap"] and not settings["allowed_from"]:
        yield "imap needs allowed_from: the senders whose mail the agent gets"
    if settings["imap"] and not (settings["user"] and settings["password"]):
        yield "imap needs user and password"
    if settings["smtp"] and not settings["to"]:
        yield "smtp needs to: the address that mail is sent to"
    if settings["smtp"] and not (settings["sender"] or settings["user"]):
        yield "smtp needs sender, or user: the address that mail is from"
    if settings["every_s"] < 1:
        yield "every_s has to be 1 or more"


_MORE = {"cron": _cron, "webhook": _webhook, "file": _file, "mail": _mail}
