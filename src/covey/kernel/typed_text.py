"""Texts that are typed into programs: what a terminal or a composer would change or hide is taken out before."""

from __future__ import annotations

import re
import unicodedata

from covey.kernel.composed import composed

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters without a shape: marks of width and direction, and tags, in which a text can be hidden. Composers drop or
replace them. The joiners of emoji and of scripts are none of them."""
_MENTION = re.compile(r"(?<![\w.+-])@(?=\S)")
HARMLESS_AT = "\uff20"
"""A wide @, which means nothing to an agent's composer."""


def typed_text(text: str) -> tuple[str, int]:
    """Return a text as it is typed, and how many characters were taken out.

    Those are controls but TAB and LF, and invisible ones. Composed characters stand for decomposed ones, as composers
    show them.
    """
    visible, invisible = _INVISIBLE.subn("", text)
    clean, controls = _CONTROLS.subn("", visible)
    return composed(clean), invisible + controls


def without_mentions(text: str) -> str:
    """Return a text of somebody else's in which no `@file` makes an agent read a file: mail addresses stay."""
    return _MENTION.sub(HARMLESS_AT, text)


def compared(text: str) -> str:
    """Return what two texts have in common if one is the other as a composer shows it: no blanks, no format marks."""
    shown = "".join(one for one in text if not one.isspace() and unicodedata.category(one) != "Cf")
    return composed(shown)
