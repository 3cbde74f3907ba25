"""Texts of others, so that nothing in them acts on a terminal, hides, or looks like something else.

There are two strengths: `visible` for what a person decides on, where nothing is left out and everything that could
deceive is spelt out; `shown` for what a person only reads. Names, paths and commands are texts of others too. Where
lines of ours are among those of a text, `unmarked` keeps the two apart.

In `visible`, letters of a person's own script stay, and so do emoji. What is spelt out, such as `\\u0456`:
controls, marks of direction and width, blanks other than the space, fillers, tags, variation selectors, private and
unassigned characters; marks without a letter, across a letter, or more than four on one; letters and signs that are
ASCII in another form (full-width, mathematical) or look like an ASCII sign; Cyrillic, Greek and similar letters in a
word that has Latin ones, and words of nothing but such letters that look Latin, if no word beside them is clearly of
that script.

Not spelt out: the dotless i and other Latin letters of living languages, and letters that are written from right to
left.
"""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST_MARKS = 4
"""Combining marks that a letter has in real scripts."""
_ESCAPES = (
    r"(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links, clipboard: up to their end, or all
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_JOINERS = "\u200c\u200d"
"""Parts of emoji, and of the spelling of Persian and of the languages of India."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Mc", "Me"})
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0\U0001d159"
_BLANK_MARKS = "\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\U00016fe4"
_EMOJI_STYLES = "\ufe0e\ufe0f"
_SIGNS = frozenset(
    "\u02d7\u2010\u2011\u2012\u2013\u2015\u2043\u2212\u2796\ufe58"  # -
    "\u2044\u2215\u27cb\u29f8\u2571\u3033"  # /
    "\u2216\u29f5\u29f9\u2572"  # \
    "\u00a6\u01c0\u2223\u23d0\u2502\u2503\u2758\ufe31"  # |
    "\u02d0\u02f8\u0589\u05c3\u204f\u2236\ua789"  # : ;
    "\u00b8\u066b\u201a\ua4f8\ua4f9"  # , .
    "\u00b4\u02b9\u02ba\u02bb\u02bc\u02bd\u02c8\u02ca\u02cb\u055a\ua78c"  # ' " `
    "\u2018\u2019\u201b\u201c\u201d\u201f\u2032\u2033\u2035\u2036\u275b\u275c\u275d\u275e\u301d\u301e"
    "\u02c2\u02c3\u1438\u1433\u2039\u203a\u276e\u276f"  # < >
    "\u2768\u2769\u276a\u276b\u2772\u2773\u2774\u2775"  # ( ) [ ] { }
    "\u066a\u066d\u204e\u2217\u266f\u01c3\u02c6\u02cd\u02dc\u2053\u223c\ua78a"  # % * # ! ^ _ ~ =
)
"""Signs that look like one of ASCII, which shells, paths and addresses give a meaning; other forms are found below."""
_OWN_FORMS = frozenset("²³¹¼½¾ªº™№℃…")
"""Characters that Unicode describes with ASCII ones and that look like none of them."""
_TWINS = frozenset(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u04ae"
    "\u050c\u051a\u051c\u0430\u0435\u043e\u0455\u0440\u0441\u0443\u0445\u0456\u0458\u04bb\u0501\u051b"
    "\u051d\u04af\u0475\u04c0\u04cf"  # Cyrillic
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b9"
    "\u03bd\u03bf\u03ba\u03c1\u03b3\u03c5\u03f2\u03f3"  # Greek
    "\u0585\u0578\u057d\u0570\u0581\u053c\u054d\u0555"  # Armenian
)
"""Letters of other scripts that look like Latin ones."""
_SELDOM = frozenset({"COPTIC", "CHEROKEE", "LISU", "DESERET", "OSAGE", "GOTHIC", "OLD"})
"""First words of the names of letters, of scripts of which so many look Latin that every letter counts as a twin."""
_ODD_LATIN = frozenset("\u0251\u0261\u0269")
"""Second forms of a, g and i."""

_DOT_LETTERS = frozenset("\u02d1\u0660\u06f0\u119e\u1427\u2d42\u2d48\u2d57\u318d\ua78f")
"""Letters and digits that are drawn as a dot."""
_BEGINNING = r"^([ \t]*)([^\x00-\x7f])"

# What a character is, as one letter, so that texts can be searched for runs of them.
_BREAK, _ASCII_SIGN, _DIGIT, _LATIN, _WIDE, _LETTER, _MARK, _SIGN = "n", " ", "0", "a", "w", "l", "m", "."
_SPELT = "x"
"""Spelt out wherever it is."""
_WIDE_FORM = "f"
"""ASCII in a wide form: spelt out unless a wide letter is beside it."""
_CLEAR = {"CYRILLIC": "C", "GREEK": "G", "ARMENIAN": "R"}
"""Letters of scripts that have twins; the twins are the same in lower case."""
_RARE = "s"
_WORD = f"[{_DIGIT}{_LATIN}{_WIDE}{_LETTER}{_MARK}CcGgRrs]+"
_OTHERS = frozenset("CcGgRrs")
_LONE_MARKS = f"(?<![{_DIGIT}{_LATIN}{_WIDE}{_LETTER}{_MARK}CcGgRrs]){_MARK}+|(?<={_MARK * MOST_MARKS}){_MARK}+"
_MOST_KNOWN = 20_000
_SPELT_BEFORE = r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}"


class _Kinds(dict[int, str]):
    """What characters are, by their number: found when it is first asked for, and kept for a limited number."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        kind = self[code] = _kind(chr(code))
        return kind


_kinds = _Kinds()


def visible(text: str) -> str:
    """Return a text of several lines for a person who decides: what could hide or deceive is spelt out.

    Line breaks stay, and a tab is four blanks. Applied twice, it changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\t", "    ")
    import re  # most texts do not need it, and it is slow to import

    # What is spelt out already is no part of a word, so that a second time changes nothing.
    kinds = re.sub(_SPELT_BEFORE, lambda found: "\u00b7" * len(found[0]), text).translate(_kinds)
    letters = list(text)
    for place in _deceiving(kinds):
        letters[place] = _spelt(text[place])
    return "".join(letters)


def visible_line(text: str) -> str:
    """Return a text as `visible` does, on one line: a line break is spelt out too."""
    return visible(text).replace("\n", "\\x0a")


def unmarked(text: str) -> str:
    """Return a text in which no line begins with a sign other than those of ASCII: such a sign is spelt out.

    So a line that begins with a bullet, a bar or an arrow is one of ours, whatever else looks like these. Lines may be
    indented.
    """
    if text.isascii():
        return text
    import re  # most texts do not need it, and it is slow to import

    return re.sub(
        _BEGINNING,
        lambda found: found[0] if _is_word(found[2]) else f"{found[1]}{_spelt(found[2])}",
        text,
        flags=re.MULTILINE,
    )


def _is_word(letter: str) -> bool:
    """Return whether a character is a letter or a digit that looks like one."""
    return unicodedata.category(letter)[0] in "LN" and letter not in _DOT_LETTERS


def shown(text: str) -> str:
    """Return a text of several lines for a reader: without what a terminal would obey or not show. Tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    import re  # most texts do not need it, and it is slow to import

    text = re.sub(_ESCAPES, "", text, flags=re.DOTALL).replace("\r\n", "\n")
    return "".join(_shown_letters(text))


def shown_values(value: Any) -> Any:
    """Return a JSON value with all its texts as `shown` returns them; names of members are on one line."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {visible_line(name): shown_values(one) for name, one in value.items()}
    return [shown_values(one) for one in value] if isinstance(value, list) else value


def _shown_letters(text: str) -> Iterator[str]:
    before, marks = " ", 0
    for letter in text:
        category = "" if " " <= letter <= "~" or letter in "\n\t" else unicodedata.category(letter)
        found = letter
        if category in _MARKS and not _is_selector(letter):
            marks += 1
            found = letter if marks <= MOST_MARKS and _carries_marks(before) else ""
        elif category:
            found = _shown(letter, category, before)
        if found and category not in _MARKS:
            before, marks = found, 0
        yield found


def _shown(letter: str, category: str, before: str) -> str:
    if category == "Cs":  # half a character, as broken file names have them
        return "\ufffd"
    if letter in _JOINERS or letter in _EMOJI_STYLES:
        return letter if before > "\x7f" and before not in _JOINERS else ""
    if category == "Cf" or _is_selector(letter):
        return ""
    return " " if category in {"Cc", "Zs", "Zl", "Zp"} or letter in _BLANK_LETTERS else letter


def _deceiving(kinds: str) -> Iterator[int]:
    """Yield the places of what is spelt out in a text whose characters are of these kinds."""
    import re

    for found in re.finditer(f"{_SPELT}|(?<!{_WIDE}){_WIDE_FORM}(?!{_WIDE})|{_LONE_MARKS}", kinds):
        yield from range(*found.span())
    if _OTHERS.isdisjoint(kinds):
        return
    last, last_end = "", 0
    words = [(found[0], *found.span()) for found in re.finditer(_WORD, kinds)]
    for number, (word, start, end) in enumerate(words):
        before = last if _BREAK not in kinds[last_end:start] else ""
        after = ""
        if number + 1 < len(words) and _BREAK not in kinds[end : words[number + 1][1]]:
            after = words[number + 1][0]
        last, last_end = word, end
        if _looks_latin(word, before, after):
            yield from (place for place in range(start, end) if kinds[place] in _OTHERS)


def _looks_latin(word: str, before: str, after: str) -> bool:
    """Return whether a word of these kinds has letters that a reader takes for Latin ones, between these words."""
    scripts = _other_scripts(word)
    if not scripts:
        return False
    if _LATIN in word or len(scripts) > 1:
        return True
    (script,) = scripts
    beside = (one for one in (before, after) if _LATIN not in one and _other_scripts(one) == scripts)
    return script not in word and not any(script in one for one in beside)


def _other_scripts(word: str) -> set[str]:
    return {kind.upper() for kind in word if kind in _OTHERS}


def _kind(letter: str) -> str:
    """Return what a character is."""
    if letter <= "~":
        return _ascii_kind(letter)
    category = unicodedata.category(letter)
    if category in _UNSEEN or letter in _BLANK_LETTERS or letter in _SIGNS or _is_selector(letter):
        return _SPELT
    if category in _MARKS:
        return _SPELT if _is_across(letter) else _MARK
    if form := _other_form(letter):
        return form
    if category[0] == "L":
        return _letter_kind(letter)
    return _DIGIT if category[0] == "N" else _SIGN


def _ascii_kind(letter: str) -> str:
    if letter == "\n":
        return _BREAK
    if letter < " ":
        return _SPELT
    return _LATIN if letter.isalpha() else _DIGIT if letter.isdigit() else _ASCII_SIGN


def _letter_kind(letter: str) -> str:
    name = unicodedata.name(letter, "")
    script = name.partition(" ")[0]
    if script == "LATIN":
        return _SPELT if letter in _ODD_LATIN or "SMALL CAPITAL" in name else _LATIN
    if script in _SELDOM:
        return _RARE
    if script in _CLEAR:
        return _CLEAR[script].lower() if letter in _TWINS else _CLEAR[script]
    return _WIDE if unicodedata.east_asian_width(letter) == "W" else _LETTER


def _other_form(letter: str) -> str:
    """Return the kind of a character that is ASCII in another form; empty if it is not."""
    decomposition = unicodedata.decomposition(letter)
    if not decomposition or letter in _OWN_FORMS:
        return ""
    plain = unicodedata.normalize("NFKC", letter)
    if plain == letter or not any("!" <= one <= "~" for one in plain):
        return ""
    return _WIDE_FORM if decomposition.startswith("<wide>") else _SPELT


def _spelt(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - as Python does


def _is_selector(letter: str) -> bool:
    """Return whether a mark only selects a form of the letter before it, or has no shape at all."""
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef" or letter in _BLANK_MARKS


def _is_across(mark: str) -> bool:
    """Return whether a mark strikes through a letter or surrounds it."""
    return "\u0334" <= mark <= "\u0338" or "\u20d0" <= mark <= "\u20ff" or unicodedata.category(mark) == "Me"


def _carries_marks(letter: str) -> bool:
    return letter.isalnum() if letter <= "~" else unicodedata.category(letter)[0] in "LN"
