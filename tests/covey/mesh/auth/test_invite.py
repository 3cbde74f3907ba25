"""Invites as text: what a person may do to them on the way, and what is refused in plain words."""

from __future__ import annotations

import base64
import hashlib
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.auth.invite import Invite
from covey.mesh.auth.jwt import user_jwt
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from murli import AgentError

NOW = 1_800_000_000
USER, SIGNER, ACCOUNT = SigningKey.generate("U"), SigningKey.generate("A"), SigningKey.generate("A")
INVITE = Invite(
    slug="team",
    mesh=encode_mesh_id(ACCOUNT.public_bytes),
    urls=["tls://192.0.2.7:4222", "wss://mesh.example.org:8443"],
    ca=bytes(range(200)) * 2,
    account=ACCOUNT.public,
    invite="i2345",
    seed=USER.seed,
    jwt=user_jwt(
        SIGNER, USER.public, "i2345", issuer_account=ACCOUNT.public, expires_at=NOW + 3600, issued_at=NOW
    ),
    role="member",
    expires_at=NOW + 3600,
)  # fmt: skip
LINE = INVITE.encode()


def decoded(text: str) -> Invite:
    return Invite.decode(text, now=NOW)


def refusal(text: str, now: float = NOW) -> str:
    with pytest.raises(AgentError) as caught:
        Invite.decode(text, now=now)
    assert caught.value.suggestion
    return caught.value.message


def line_of(plain: bytes, version: str = "1") -> str:
    """An invite with a right checksum around any content."""
    data = zlib.compress(plain)
    data += hashlib.blake2b(data, digest_size=5, person=b"covey-invite").digest()
    return f"covey{version}{base64.b32encode(data).decode().rstrip('=').lower()}"


def test_an_invite_comes_back_as_it_was() -> None:
    assert decoded(LINE) == INVITE


def test_the_line_is_one_word_that_a_terminal_takes() -> None:
    assert LINE.isalnum()
    assert LINE.islower()
    assert len(LINE) < 2048


@pytest.mark.parametrize(
    "changed",
    [
        LINE.upper(),
        f"  {LINE}\n",
        f"`{LINE}`",
        f'"{LINE}"',
        f"<{LINE}>.",
        "\n".join(LINE[start : start + 60] for start in range(0, len(LINE), 60)),
        "\r\n  ".join(LINE[start : start + 7] for start in range(0, len(LINE), 7)),
        LINE[:100] + "\u200b\u00a0" + LINE[100:],
    ],
)
def test_white_space_case_and_quotes_do_not_matter(changed: str) -> None:
    assert decoded(changed) == INVITE


@given(st.integers(0, len(LINE) - 1), st.sampled_from("abcdefghijklmnopqrstuvwxyz234567"))
def test_a_changed_letter_is_noticed(place: int, letter: str) -> None:
    changed = LINE[:place] + letter + LINE[place + 1 :]
    if changed != LINE:
        assert refusal(changed)


@given(st.integers(0, len(LINE) - 1))
def test_a_part_is_noticed(length: int) -> None:
    assert refusal(LINE[:length])


@given(st.text(max_size=200))
def test_any_other_text_is_refused_in_plain_words(text: str) -> None:
    assert refusal(text)
    assert refusal(f"covey1{text}")


@given(st.binary(max_size=300))
def test_any_other_content_is_refused_in_plain_words(plain: bytes) -> None:
    assert "damaged" in refusal(line_of(plain))


def test_each_refusal_says_what_is_wrong() -> None:
    assert "not an invite" in refusal("hello")
    assert "not an invite" in refusal("")
    assert "damaged" in refusal(LINE[:-10])
    assert "newer version" in refusal("covey2" + LINE[6:])
    assert "expired at 2027-01-15T09:00:00" in refusal(LINE, NOW + 3600)


def test_a_bomb_is_not_unpacked() -> None:
    assert "damaged" in refusal(line_of(bytes(10_000_000)))


def test_fields_of_a_later_minor_version_are_left_unread() -> None:
    wire = [INVITE.slug, INVITE.mesh, INVITE.urls, b"", INVITE.account, "i1", bytes(32), b"{}", bytes(64), "member"]
    invite = decoded(line_of(msgspec.msgpack.encode([*wire, NOW + 1, "new field"])))
    assert invite.invite == "i1"


def test_the_secret_is_not_shown() -> None:
    assert INVITE.seed not in repr(INVITE)
    assert INVITE.jwt not in repr(INVITE)
