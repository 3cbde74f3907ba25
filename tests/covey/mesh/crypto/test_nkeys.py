"""Nkey texts, and signatures that hold in one domain only."""

from __future__ import annotations

import base64
import random

import pytest

from covey.mesh.crypto.errors import ForgedError, MalformedError, MeshCryptoError
from covey.mesh.crypto.nkeys import (
    DOMAINS,
    SIGNED_PREFIX,
    Prefix,
    SigningKey,
    decode_mesh_id,
    decode_public,
    decode_seed,
    encode_mesh_id,
    encode_public,
    encode_seed,
    verify,
)

# Made with the package nkeys 0.2.1 (of nats-io): prefix, seed, its text, the public key, the signature of b"nonce".
KNOWN: list[tuple[Prefix, str, str, str, str]] = [
    (
        "O",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "SOAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAF7TI",
        "OA5WUJ54Z23KILLCUOUNAKTPBVZWKMQVO4O6EQ5GHLAERIMLLHNCSKTE",
        "fee20f7abb48891e88a5fd38f5063c529d77cfee174662f34ee84d81004235f64140235f08243636b4057bae94741ee269774db8e64ce6740ca35d142e4f8a0d",
    ),
    (
        "O",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "SOAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H2AJA",
        "OAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3QZVT",
        "f874eae1de830c754d6fc32c4d1019b5221ad2f5c0ff2b996e5c1303b253e7063398a071276c2961f8c787b85ca6d66589d6d5c3fe992f2b9b8e6ff20e4f8e09",
    ),
    (
        "O",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "SOAP77777777777777777777777777777777777777777777777777YLDY",
        "OB3KCWJAISTOJ5IREZN4U45GATMQWBJJ2HPWAK7DBIM2SJLWMDI7KDH2",
        "229b9e38307cbdbd44f567a72dbe481ceb8d4ba52cc1d4c35e14f509e18f60512020722acabf22b75945fd94b02f395d61cdb39bf7c4a35108263d2466777a0a",
    ),
    (
        "A",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "SAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHT5A",
        "AA5WUJ54Z23KILLCUOUNAKTPBVZWKMQVO4O6EQ5GHLAERIMLLHNCS47C",
        "fee20f7abb48891e88a5fd38f5063c529d77cfee174662f34ee84d81004235f64140235f08243636b4057bae94741ee269774db8e64ce6740ca35d142e4f8a0d",
    ),
    (
        "A",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "SAAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4HYMHI",
        "AAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3QPZV",
        "f874eae1de830c754d6fc32c4d1019b5221ad2f5c0ff2b996e5c1303b253e7063398a071276c2961f8c787b85ca6d66589d6d5c3fe992f2b9b8e6ff20e4f8e09",
    ),
    (
        "A",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "SAAP777777777777777777777777777777777777777777777777772HNQ",
        "AB3KCWJAISTOJ5IREZN4U45GATMQWBJJ2HPWAK7DBIM2SJLWMDI7KVL4",
        "229b9e38307cbdbd44f567a72dbe481ceb8d4ba52cc1d4c35e14f509e18f60512020722acabf22b75945fd94b02f395d61cdb39bf7c4a35108263d2466777a0a",
    ),
    (
        "U",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "SUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEQ",
        "UA5WUJ54Z23KILLCUOUNAKTPBVZWKMQVO4O6EQ5GHLAERIMLLHNCTYM5",
        "fee20f7abb48891e88a5fd38f5063c529d77cfee174662f34ee84d81004235f64140235f08243636b4057bae94741ee269774db8e64ce6740ca35d142e4f8a0d",
    ),
    (
        "U",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y",
        "UAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3RLKK",
        "f874eae1de830c754d6fc32c4d1019b5221ad2f5c0ff2b996e5c1303b253e7063398a071276c2961f8c787b85ca6d66589d6d5c3fe992f2b9b8e6ff20e4f8e09",
    ),
    (
        "U",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "SUAP777777777777777777777777777777777777777777777777775UUA",
        "UB3KCWJAISTOJ5IREZN4U45GATMQWBJJ2HPWAK7DBIM2SJLWMDI7LRYD",
        "229b9e38307cbdbd44f567a72dbe481ceb8d4ba52cc1d4c35e14f509e18f60512020722acabf22b75945fd94b02f395d61cdb39bf7c4a35108263d2466777a0a",
    ),
]


@pytest.mark.parametrize(("prefix", "raw", "seed", "public", "signature"), KNOWN)
def test_keys_have_the_texts_and_signatures_that_the_nkeys_package_gives(
    prefix: Prefix, raw: str, seed: str, public: str, signature: str
) -> None:
    key = SigningKey.from_seed(seed)

    assert (key.prefix, key.seed_bytes.hex()) == (prefix, raw)
    assert encode_seed(prefix, bytes.fromhex(raw)) == key.seed == seed
    assert decode_seed(seed) == (prefix, bytes.fromhex(raw))
    assert key.public == encode_public(prefix, key.public_bytes) == public
    assert decode_public(public, prefix) == key.public_bytes
    assert key.sign_raw(b"nonce").hex() == key.sign_nonce(b"nonce").hex() == signature


def test_a_text_with_any_one_character_changed_is_refused() -> None:
    _, _, seed, public, _ = KNOWN[-2]
    chance = random.Random(1)
    for text, decode in ((public, lambda text: decode_public(text, "U")), (seed, decode_seed)):
        for place in range(len(text)):
            wrong = chance.choice([letter for letter in "ABCXYZ234567" if letter != text[place]])
            with pytest.raises(MalformedError):
                decode(text[:place] + wrong + text[place + 1 :])


@pytest.mark.parametrize(
    "text",
    ["", "U", "U" * 56, "é" * 56, "U" * 55 + "=", "u" + KNOWN[-1][3][1:], KNOWN[-1][3] + "A", KNOWN[-1][3] + "\n"],
)
def test_what_is_not_the_text_of_a_public_key_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        decode_public(text, "U")


def test_the_unused_bits_of_a_seed_must_be_zero_so_that_it_has_one_text() -> None:
    seed = KNOWN[-1][2]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    other = seed[:-1] + letters[letters.index(seed[-1]) + 1]
    assert base64.b32decode(other + "======") == base64.b32decode(seed + "======")
    with pytest.raises(MalformedError):
        decode_seed(other)


def test_the_key_of_an_account_is_not_taken_for_a_user() -> None:
    with pytest.raises(MalformedError):
        decode_public(SigningKey.generate("A").public, "U")


def test_a_public_key_is_not_taken_for_a_seed() -> None:
    key = SigningKey.generate("U")
    with pytest.raises(MalformedError):
        decode_seed(key.public)
    with pytest.raises(MalformedError):
        decode_public(key.seed, "U")


def test_no_error_and_no_repr_holds_a_seed() -> None:
    key = SigningKey.generate("U")
    assert key.seed not in repr(key)
    with pytest.raises(MalformedError) as refused:
        decode_seed(key.seed[:-1] + ("A" if key.seed[-1] != "A" else "Q"))
    assert key.seed[5:20] not in str(refused.value)


def test_a_mesh_id_is_the_public_key_of_its_authority_in_52_characters() -> None:
    key = SigningKey.generate("A")
    mesh = encode_mesh_id(key.public_bytes)
    assert len(mesh) == 52
    assert mesh == mesh.lower()
    assert decode_mesh_id(mesh) == key.public_bytes
    for wrong in (mesh.upper(), mesh[:-1], mesh + "a", "1" * 52, ""):
        with pytest.raises(MalformedError):
            decode_mesh_id(wrong)


def test_a_signature_holds_in_its_own_domain_only() -> None:
    key = SigningKey.generate("U")
    for domain in DOMAINS:
        signature = key.sign(domain, b"data")
        verify(key.public_bytes, domain, b"data", signature)
        for other in DOMAINS - {domain}:
            with pytest.raises(ForgedError):
                verify(key.public_bytes, other, b"data", signature)


def test_a_signature_of_other_data_another_key_or_another_length_is_refused() -> None:
    key = SigningKey.generate("U")
    signature = key.sign("ask", b"data")
    for public, data, given in (
        (key.public_bytes, b"datb", signature),
        (SigningKey.generate("U").public_bytes, b"data", signature),
        (key.public_bytes, b"data", signature[:-1]),
        (key.public_bytes, b"data", b""),
        (key.public_bytes, b"data", signature + b"x"),
        (key.public_bytes[:-1], b"data", signature),
        (b"", b"data", signature),
        (bytes(32), b"data", bytes(64)),
    ):
        with pytest.raises(ForgedError):
            verify(public, "ask", data, given)


def test_a_broker_cannot_get_a_record_signed_as_a_nonce() -> None:
    key = SigningKey.generate("U")
    for nonce in (
        SIGNED_PREFIX + b"ask\0{}",
        b"covey-mesh/2/anything",
        b"eyJhbGciOiJlZDI1NTE5In0.eyJzdWIiOiJVIn0",
        b"",
        b"a" * 129,
        b"two\nlines",
    ):
        with pytest.raises(ForgedError):
            key.sign_nonce(nonce)
    with pytest.raises(ForgedError):
        key.sign_raw(SIGNED_PREFIX + b"ask\0{}")


def test_the_signature_of_a_nonce_verifies_in_no_domain() -> None:
    key = SigningKey.generate("U")
    nonce = b"PXoWU7zWAMt75FY"
    for domain in DOMAINS:
        with pytest.raises(ForgedError):
            verify(key.public_bytes, domain, nonce, key.sign_nonce(nonce))


def test_a_domain_that_is_not_listed_is_an_error_of_the_program() -> None:
    key = SigningKey.generate("U")
    for domain in ("", "asks", "ask\0"):
        with pytest.raises(ValueError, match="domain"):
            key.sign(domain, b"")
        with pytest.raises(ValueError, match="domain"):
            verify(key.public_bytes, domain, b"", bytes(64))


def test_a_key_of_a_wrong_length_is_refused() -> None:
    for make in (lambda: SigningKey("U", b"short"), lambda: encode_public("U", b""), lambda: encode_mesh_id(b"x" * 33)):
        with pytest.raises(MeshCryptoError):
            make()
