"""Claims as a NATS server wants them."""

from __future__ import annotations

import base64

import nacl.bindings
import pytest

from covey.mesh.auth.jwt import AccountLimits, account_jwt, claims, joined, operator_jwt, split, user_jwt
from covey.mesh.auth.permissions import AUTHORITY, MEMBER, Permissions
from covey.mesh.crypto.nkeys import SigningKey

OPERATOR, ACCOUNT, USER, SIGNER = (SigningKey.generate(prefix) for prefix in ("O", "A", "U", "A"))


def member_jwt(expires_at: int | None = None) -> str:
    return user_jwt(SIGNER, USER.public, "anna", issuer_account=ACCOUNT.public, expires_at=expires_at, issued_at=100)


def test_a_token_is_signed_by_its_issuer() -> None:
    signed, _, signature = member_jwt().rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    assert nacl.bindings.crypto_sign_open(raw + signed.encode(), SIGNER.public_bytes) == signed.encode()
    assert claims(member_jwt())["iss"] == SIGNER.public


def test_a_scoped_user_brings_no_permissions_of_its_own() -> None:
    said = claims(member_jwt(200))
    assert said["sub"] == USER.public
    assert said["exp"] == 200
    assert said["nats"] == {
        "issuer_account": ACCOUNT.public, "pub": {}, "sub": {}, "type": "user", "version": 2
    }  # fmt: skip
    assert "exp" not in claims(member_jwt())


def test_a_user_of_the_account_key_names_no_issuer_account() -> None:
    jwt = user_jwt(ACCOUNT, USER.public, "owner", issuer_account=ACCOUNT.public, permissions=AUTHORITY)
    assert "issuer_account" not in claims(jwt)["nats"]
    assert claims(jwt)["nats"]["pub"] == {"allow": [">"]}


def test_no_permission_at_all_is_a_denial_of_everything() -> None:
    said = Permissions(publish=(), subscribe=()).as_claims()
    assert said["pub"] == said["sub"] == {"deny": [">"]}


def test_the_system_account_has_no_streams() -> None:
    limits = claims(account_jwt(OPERATOR, ACCOUNT.public, "SYS", signing_keys={}, is_system=True))["nats"]["limits"]
    assert [limits[field] for field in ("mem_storage", "disk_storage", "streams", "consumer")] == [0, 0, 0, 0]


def test_an_account_lists_its_keys_revocations_and_limits() -> None:
    jwt = account_jwt(
        OPERATOR,
        ACCOUNT.public,
        "team",
        signing_keys={SIGNER.public: MEMBER, ACCOUNT.public: None},
        revocations={USER.public: 7},
        limits=AccountLimits(connections=10, disk_bytes=1000),
    )
    said = claims(jwt)["nats"]
    scoped, bare = said["signing_keys"]
    assert (scoped["kind"], scoped["key"], scoped["role"]) == ("user_scope", SIGNER.public, "member")
    assert bare == ACCOUNT.public
    assert said["revocations"] == {USER.public: 7}
    assert (said["limits"]["conn"], said["limits"]["disk_storage"]) == (10, 1000)
    assert said["limits"]["disallow_bearer"] is True


def test_an_operator_names_its_system_account_and_signing_keys() -> None:
    said = claims(operator_jwt(OPERATOR, "covey", ACCOUNT.public, signing_keys=["OX"]))
    assert said["nats"]["system_account"] == ACCOUNT.public
    assert said["nats"]["signing_keys"] == ["OX"]
    assert said["sub"] == said["iss"] == OPERATOR.public


def test_the_same_claims_make_the_same_token() -> None:
    assert member_jwt() == member_jwt()
    assert member_jwt(200) != member_jwt()


def test_a_token_can_be_taken_apart_and_put_together() -> None:
    assert joined(*split(member_jwt())) == member_jwt()


@pytest.mark.parametrize("text", ["", "a.b", "a.b.c", "a.b.c.d", "eyJ9.e30.x", f"{member_jwt()}x", "é.é.é"])
def test_what_is_not_a_token_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"token|base64|padding|digit|ASCII|number of data"):
        split(text)


@pytest.mark.parametrize("text", ["", "x", "a.b", "a.!!.c", "a.MTIz.c", "a.bm8.c"])
def test_claims_of_something_else_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"token|ase64|padding|digit|ASCII"):
        claims(text)
