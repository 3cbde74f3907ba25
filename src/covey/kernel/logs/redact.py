"""Removal of secrets from what is about to be written or shown: by registered value, by the name of a field, by shape.

On the start path of the command line: nothing is imported until the first text is searched. Hiding a little too much is
fine; a secret in a log is not.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Any

REDACTED = "[redacted]"
SHORTEST_SECRET = 4
"""Registering a shorter value would blank half of every line."""
LONGEST_TEXT = 16_384
_LONGEST_LOOK = 4 * LONGEST_TEXT
_DEEPEST, _WIDEST, _LONGEST_NUMBER_BITS = 8, 1000, 256
_MOST_LETTERS = 4 * _LONGEST_LOOK
"""Of all texts in one value together: searching more would delay the caller."""

_SECRET_WORDS = {
    "authorization", "bearer", "cookie", "cookies", "credential", "credentials", "jwt", "otp", "passphrase", "passwd",
    "password", "passwords", "pwd", "secret", "secrets",
}  # fmt: skip
_SECRET_ENDINGS = (
    "accesskey", "accountkey", "apikey", "authkey", "encryptionkey", "masterkey", "passphrase", "passwd", "password",
    "privatekey", "secret", "secretkey", "sessionkey", "signingkey", "sshkey", "token", "tokenvalue",
)  # fmt: skip
_ABOUT_A_SECRET = {"count", "dir", "expires", "expiry", "file", "length", "name", "path", "policy", "present", "type"}
"""Endings of names such as `password_file` and `token_count`, which describe a secret and do not hold one."""
_WHOLE_LINE = {"authorization", "cookie", "cookies"}
_LONGEST_COMMAND = 500
"""How far behind the name of a program its option for a password is looked for."""
_verdicts: dict[str, bool] = {}


def is_sensitive(key: str) -> bool:
    """Return whether the value of a field with this name is a secret.

    The name may be written in any way: apiKey, API_KEY, x-api-key, PGPASSWORD.
    """
    verdict = _verdicts.get(key)
    if verdict is None:
        words = _words(key)
        joined = "".join(words)
        verdict = (
            bool(words)
            and words[-1] not in _ABOUT_A_SECRET
            and (
                not _SECRET_WORDS.isdisjoint(words)
                or joined.endswith(_SECRET_ENDINGS)
                or (words[-1] == "pass" and len(words) > 1 and key.isupper())  # SMTP_PASS, but not first_pass
            )
        )
        if len(_verdicts) < _WIDEST:  # names come from outside: the cache is bounded
            _verdicts[key] = verdict
    return verdict


class Redactor:
    """Removes secrets. Safe to use from several threads."""

    def __init__(self) -> None:
        self._needles: tuple[str, ...] = ()
        self._longest = 0

    def register(self, secret: str) -> bool:
        """Hide this value from now on, as it is and as `repr`, JSON, URLs and base64 write it.

        Returns False if the value is too short to hide.
        """
        if len(secret) < SHORTEST_SECRET or secret in REDACTED:
            return False
        self._needles = tuple(dict.fromkeys((*self._needles, *_spellings(secret))))
        self._longest = max(map(len, self._needles))
        return True

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        return _hide_shapes(self._hide_values(text))

    def excerpt(self, text: str, *, end: bool = False) -> str:
        """Return the beginning (or the end) of a text without secrets.

        The text is searched first and cut afterwards: half a secret would not be recognised.
        """
        found = self.text(text[-_LONGEST_LOOK:] if end else text[:_LONGEST_LOOK])
        if len(text) > _LONGEST_LOOK:  # where the search stopped there may be half a secret
            found = found[self._longest :] if end else found[: max(len(found) - self._longest, 0)]
        elif len(found) <= LONGEST_TEXT:
            return found
        return f"… {found[-LONGEST_TEXT:]}" if end else f"{found[:LONGEST_TEXT]} …"

    def value(self, value: object, key: str = "") -> Any:
        """Return a copy that JSON can hold, without secrets, bounded in depth, width and length.

        Texts are searched; the value of a field with a sensitive name is replaced.
        """
        return _Copy(self).of(value, key, 0)

    def holds_secret(self, text: str) -> bool:
        """Return whether a registered secret is in the text."""
        return any(needle in text for needle in self._needles)

    def _hide_values(self, text: str) -> str:
        spans = sorted(span for needle in self._needles for span in _occurrences(text, needle))
        if not spans:
            return text
        parts: list[str] = []
        end = 0
        for start, stop in spans:
            if start >= end:  # a span that overlaps the one before is hidden together with it
                parts += [text[end:start], REDACTED]
            end = max(end, stop)
        return "".join([*parts, text[end:]])


class _Copy:
    """Copies one value; `_left` is the number of letters that may still be searched."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._left = _MOST_LETTERS

    def of(self, value: object, key: str, depth: int) -> Any:  # noqa: PLR0911 - one return per kind of value
        if value is None or isinstance(value, bool):
            return value
        if key and value != "" and _hides(key, value):
            return REDACTED
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, (int, float)):
            return self._number(value)
        if isinstance(value, (bytes, bytearray)):
            return self._text(bytes(value[:_LONGEST_LOOK]).decode(errors="replace"))
        if depth >= _DEEPEST:
            return "…"
        if isinstance(value, dict):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._sequence(value, depth)
        try:
            return self._text(str(value))
        except Exception:  # noqa: BLE001 - a value that cannot be shown must not cost the line
            return f"<{type(value).__name__}>"

    def _text(self, text: str) -> str:
        if self._left <= 0:
            return "…"
        self._left -= min(len(text), _LONGEST_LOOK)
        return self._redactor.excerpt(text)

    def _number(self, value: float) -> Any:
        if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER_BITS:
            return f"<number of {value.bit_length()} bits>"
        shown = str(value)
        if self._redactor.holds_secret(shown):
            return REDACTED
        return shown if shown in ("inf", "-inf", "nan") else value

    def _mapping(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        items = list(value.items())
        found = {self._text(str(name)): self.of(item, str(name), depth + 1) for name, item in items[:_WIDEST]}
        if len(items) > _WIDEST:
            found["…"] = len(items) - _WIDEST
        return found

    def _sequence(self, value: list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any], depth: int) -> list[Any]:
        """Return the items; in a command line, the word after `--token` is hidden."""
        items = list(value)
        found, before = [], ""
        for item in items[:_WIDEST]:
            follows_flag = (
                before.startswith("--") and "=" not in before and isinstance(item, str) and is_sensitive(before)
            )
            found.append(REDACTED if follows_flag else self.of(item, "", depth + 1))
            before = item if isinstance(item, str) else ""
        if len(items) > _WIDEST:
            found.append(f"… {len(items) - _WIDEST} more")
        return found


def _occurrences(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + 1)


def _spellings(secret: str) -> list[str]:
    """Return the likely spellings of a secret, each long enough to hide."""
    found = [secret]
    if not (secret.isascii() and secret.replace("-", "").replace("_", "").isalnum()):
        import json
        from urllib.parse import quote, quote_plus

        encoded = secret.encode("utf-8", "backslashreplace")
        found += [repr(secret)[1:-1], json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
        found += [quote(encoded, safe=""), quote(encoded), quote_plus(encoded)]
        found += [line.strip() for line in secret.splitlines() if len(line.strip()) >= 2 * SHORTEST_SECRET]
    from base64 import b64encode

    found.append(b64encode(secret.encode("utf-8", "backslashreplace")).decode().rstrip("="))
    return [spelling for spelling in found if len(spelling) >= SHORTEST_SECRET and spelling not in REDACTED]


def _words(key: str) -> list[str]:
    """Return the words of a name: `someApiKey` and `SOME-API_KEY` are some, api, key."""
    spaced = []
    for before, letter in zip(" " + key, key, strict=False):
        if letter.isupper() and not before.isupper():
            spaced.append(" ")
        spaced.append(letter.lower() if letter.isalnum() else " ")
    return "".join(spaced).split()


def _hides(key: str, value: object) -> bool:
    """Return whether a value is hidden because of its name.

    `tokens` is special: a number is a count, which agents report often; any other value is a list of secrets.
    """
    if is_sensitive(key):
        return True
    words = _words(key)
    return bool(words) and words[-1] == "tokens" and not isinstance(value, (int, float, dict))


class _Shapes:
    """The patterns, compiled for the first text.

    They are possessive throughout, so that no text, however hostile, makes a search slow.
    """

    def __init__(self) -> None:
        import re

        from covey.kernel.logs.known_secrets import KNOWN

        self.name = re.compile(r"""(?<![\w.\-])([\w.\-]++)(\\*+["']?[ \t]*+(?:=>|:=|[:=])[ \t]*+|[ \t]++)""", re.ASCII)
        self.quoted = re.compile(
            r"""\[redacted\]                                                                # hidden already
                | (?: "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'
                    | \\++"[^"\n]*+" | \\++'[^'\n]*+' )++                                  # JSON inside of JSON
                  [^\s&"',;:)}\]>\\]*+                                                     # the same word for a shell
            """,
            re.VERBOSE,
        )
        self.bare = re.compile(
            r"""(?:(?:bearer|basic|token|digest|negotiate)[ \t]++)?+[^\s&"]++|["'][^\s&]*+""", re.IGNORECASE
        )
        self.line = re.compile(r"[^\r\n]++")
        self.block = re.compile(
            r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY(?: BLOCK)?|JWT|SEED)-----.*?"
            r"(?:-{5,6}END [A-Z0-9 ]*(?:PRIVATE KEY(?: BLOCK)?|JWT|SEED)-{5,6}|\Z)",
            re.DOTALL,
        )
        self.user = re.compile(r"(?<![a-zA-Z0-9+.\-])([a-zA-Z][a-zA-Z0-9+.\-]*+://)([^\s/?#\"'<>\\]*)@")
        self.bearer = re.compile(
            r"\b(bearer)([ \t]++)(?:(?=[^\s\d]{0,64}\d)[^\s\"',;]{6,}+|[^\s\"',;]{16,}+)", re.IGNORECASE
        )
        self.separate = re.compile(
            r"""(?![/.~\-])(?=[^\s\d]{0,64}\d)(?=[^\sA-Za-z]{0,64}[A-Za-z])[A-Za-z0-9+/=_.~!@\#$%^*\-]{8,}+""", re.ASCII
        )
        self.login = re.compile(
            r"""(?<![\w\-])((?:-[uU]|--user|--proxy-user)(?:[ \t=]|["'],[ ]?["'])*+["']?)
                ([^\s:"',=/]++:)(?![ \t]|[0-9]++(?![^\s"']))[^\s"']++""",
            re.VERBOSE,
        )
        self.password_option = re.compile(
            r"""(?<![\w\-])(?:
                  (?:mysql|mariadb|mysqldump|mariadb-dump|mysqladmin|mysqlimport)(?![\w.]) (?P<mysql>)
                | (?:sshpass|docker[ ]login|podman[ ]login|helm[ ]registry[ ]login)(?![\w\-]) (?P<login>)
                | redis-cli(?![\w\-]) (?P<redis>)
            )""",
            re.VERBOSE,
        )
        self.option_of = {
            "mysql": re.compile(r"(?<!\S)(-p)([^\s\-][^\s]*+)"),
            "login": re.compile(r"(?<!\S)(-p[ \t]*+)([^\s\-][^\s]*+)"),
            "redis": re.compile(r"(?<!\S)(-a[ \t]++)([^\s\-][^\s]*+)"),
        }
        self.given_to_openssl = re.compile(r"(?<!\S)(-pass(?:in|out)?[ \t]++[\"']?pass:)[^\s\"']++")
        self.webhook = re.compile(
            r"""\b(hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/
                 |discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/
                 |[a-z0-9\-]{1,60}\.webhook\.office\.com/webhookb2/
                 |api\.telegram\.org/(?:file/)?bot
                )[^\s"'<>)\]}]++""",
            re.VERBOSE,
        )
        self.signature = re.compile(r"([?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[A-Za-z0-9%+/=_\-]{16,}+")
        self.known = re.compile(KNOWN, re.VERBOSE)
        self.given_to_snyk = re.compile(
            r"(\bsnyk(?:[ \t]++(?:auth|config[ \t]++set[ \t]++api=)|[a-z_\-]{0,16}(?:=|:[ \t]?))[ \t]*+[\"']?)"
            r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            re.IGNORECASE,
        )


_shapes: list[_Shapes] = []


def _hide_shapes(text: str) -> str:
    if not _shapes:
        _shapes.append(_Shapes())
    shapes = _shapes[0]
    if "-----BEGIN" in text:
        text = shapes.block.sub(REDACTED, text)
    text = _hide_named(text, shapes)
    if "://" in text:
        text = shapes.user.sub(_without_password, text)
    text = shapes.bearer.sub(rf"\1\2{REDACTED}", text)
    text = shapes.webhook.sub(rf"\1{REDACTED}", text)
    text = shapes.signature.sub(rf"\1{REDACTED}", text)
    text = shapes.known.sub(REDACTED, text)
    if "snyk" in text.lower():
        text = shapes.given_to_snyk.sub(rf"\1{REDACTED}", text)
    return _hide_options(text, shapes)


def _hide_options(text: str, shapes: _Shapes) -> str:
    """Hide the passwords in `curl -u ann:…`, `mysql -p…`, `sshpass -p …` and `openssl -passin pass:…`.

    Only in the text of these programs: elsewhere `-u 1000:1000` and `-p 8080:80` are no secrets.
    """
    if "curl" in text:
        text = shapes.login.sub(rf"\1\2{REDACTED}", text)
    if "pass:" in text:
        text = shapes.given_to_openssl.sub(rf"\1{REDACTED}", text)
    parts: list[str] = []
    done = 0
    for found in shapes.password_option.finditer(text):
        start = max(found.end(), done)
        line = text.find("\n", start, start + _LONGEST_COMMAND)
        end = line if line >= 0 else min(len(text), start + _LONGEST_COMMAND)
        option = shapes.option_of[found.lastgroup or ""].search(text, start, end)
        if option:
            parts += [text[done : option.start(2)], REDACTED]
            done = option.end()
    return "".join([*parts, text[done:]])


def _hide_named(text: str, shapes: _Shapes) -> str:
    """Hide the values of `password=…`, `"token": "…"`, `Authorization: Bearer …`, `--api-key …`, `API_KEY …`."""
    parts: list[str] = []
    done = 0
    at = 0
    while found := shapes.name.search(text, at):
        name, between = found.groups()
        at, start = found.end(1), found.end()
        is_flag = not between.strip()
        if not _hides(name, ""):
            continue  # before its value is searched: that may be the rest of the text
        if is_flag and not name.startswith("--"):  # a name in a sentence, unless what follows looks like a secret
            value = shapes.separate.match(text, start) if _WHOLE_LINE.isdisjoint(_words(name)) else None
        else:
            value = _value_at(text, start, name, shapes)
        if (
            value is None
            or not _hides(name, _number_or_text(value.group()))
            or (is_flag and value.group().startswith("-"))
        ):
            continue
        parts += [text[done:start], REDACTED]
        done = at = value.end()
    return "".join([*parts, text[done:]])


def _value_at(text: str, start: int, name: str, shapes: _Shapes) -> re.Match[str] | None:
    quoted = shapes.quoted.match(text, start)
    if quoted:
        return quoted
    return (shapes.bare if _WHOLE_LINE.isdisjoint(_words(name)) else shapes.line).match(text, start)


def _number_or_text(text: str) -> object:
    return 0 if text.rstrip(",;.)}]").isdecimal() else text


def _without_password(found: re.Match[str]) -> str:
    """Return the match without its password: `user:password@` keeps the user.

    A lone name before the `@` of a web address is a token, elsewhere (ssh) it is a user.
    """
    scheme, user = found.groups()
    name, colon, _ = user.partition(":")
    if colon:
        return f"{scheme}{name}:{REDACTED}@"
    return f"{scheme}{REDACTED}@" if scheme.lower().startswith("http") and user else found.group()
