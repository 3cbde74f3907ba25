"""Exported keys: sealed with a passphrase; damage and a wrong passphrase are different errors."""

from __future__ import annotations

import base64
import random
import unicodedata

import pytest

from covey.mesh.crypto import passphrase
from covey.mesh.crypto.errors import MalformedError, MeshCryptoError, PassphraseError
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.passphrase import STANDARD_COST, Cost, open_text, seal_text
from tests.covey.mesh.crypto.members import NOW

CHEAP = Cost(1, 64)
WORDS = "correct horse battery"


def test_exported_keys_come_back_with_what_was_put_beside_them() -> None:
    keys = KeyPair.generate(NOW).rotated(NOW + 1)
    text = keys.exported(WORDS, {"mesh": "m", "urls": ["tls://x"]}, cost=CHEAP)
    again, extra = KeyPair.imported(text, WORDS)
    assert (again.identity.seed, again.encryption) == (keys.identity.seed, keys.encryption)
    assert extra == {"mesh": "m", "urls": ["tls://x"]}
    assert keys.identity.seed not in text


def test_the_cost_of_a_guess_is_a_quarter_of_a_gibibyte_unless_told_otherwise() -> None:
    assert STANDARD_COST.memory_kib >= 256 * 1024
    assert open_text(seal_text(b"data", WORDS), WORDS) == b"data"


def test_the_text_survives_indentation_other_line_ends_and_words_before_it() -> None:
    text = seal_text(b"data" * 100, WORDS, CHEAP)
    lines = text.splitlines()
    assert all(len(line) <= 76 for line in lines)
    assert open_text("Here it is:\r\n\r\n  " + "\r\n\r\n   ".join(lines) + "\r\n\r\n", WORDS) == b"data" * 100


def test_a_wrong_passphrase_is_told_from_damage() -> None:
    text = seal_text(b"data", WORDS, CHEAP)
    for wrong in ("correct horse batterz", "", WORDS + " ", "\ud800"):
        with pytest.raises(PassphraseError, match="not damaged"):
            open_text(text, wrong)


def test_every_kind_of_damage_is_told_as_damage() -> None:
    text = seal_text(b"data" * 50, WORDS, CHEAP)
    header, _, body = text.partition("\n")
    chance = random.Random(3)
    damaged = [text[: -chance.randrange(2, len(body))] for _ in range(50)]
    for _ in range(200):
        place = chance.randrange(len(body.rstrip()))
        damaged.append(f"{header}\n{body[:place]}{'A' if body[place] != 'A' else 'B'}{body[place + 1 :]}")
    for wrong in (*damaged, header, f"{header}\n{body}é", f"{header}\n-----\n{body}"):
        with pytest.raises(MalformedError, match="damaged"):
            open_text(wrong, WORDS)


def test_what_is_not_an_export_or_is_a_later_one_is_told_as_such() -> None:
    with pytest.raises(MalformedError, match="does not hold exported keys"):
        open_text("hello", WORDS)
    with pytest.raises(MalformedError, match="version"):
        open_text(seal_text(b"data", WORDS, CHEAP).replace("covey-mesh-keys/1", "covey-mesh-keys/2"), WORDS)


def test_a_text_that_asks_for_unbounded_work_is_refused() -> None:
    for cost in (Cost(17, 64), Cost(1, 2 * 1024 * 1024), Cost(0, 64), Cost(1, 0)):
        with pytest.raises(MeshCryptoError) as refused:
            open_text(_asking_for(cost), WORDS)
        assert "more work" in refused.value.message


def _asking_for(cost: Cost) -> str:
    """Return a whole text with this cost in it."""
    block = passphrase._PARAMETERS.pack(*cost, bytes(16), bytes(24)) + bytes(40)
    return "covey-mesh-keys/1\n" + base64.b64encode(block + passphrase._checksum(block)).decode()


def test_a_short_passphrase_is_refused_before_anything_is_sealed() -> None:
    with pytest.raises(PassphraseError, match="7 characters"):
        KeyPair.generate(NOW).exported("1234567", {})


def test_an_accented_passphrase_is_the_same_however_a_keyboard_composes_it() -> None:
    text = seal_text(b"data", unicodedata.normalize("NFD", "crème brûlée"), CHEAP)
    assert open_text(text, unicodedata.normalize("NFC", "crème brûlée")) == b"data"


def test_a_sealed_text_that_does_not_hold_keys_is_refused() -> None:
    for data in (b"", b"{}", b'{"keys":{}}', b"[" * 10_000, b'{"keys":1,"extra":2}'):
        with pytest.raises(MalformedError):
            KeyPair.imported(seal_text(data, WORDS, CHEAP), WORDS)
