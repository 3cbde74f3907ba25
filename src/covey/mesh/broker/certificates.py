"""Certificates for a broker that other machines reach: an authority (CA) of its own, and the server's certificate."""

from __future__ import annotations

import ipaddress
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from murli import AgentError, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from covey.kernel.clock import Clock

CA_DAYS, LEAF_DAYS = 3650, 397
"""Browsers and some TLS libraries refuse a server's certificate that is valid for longer than 398 days."""
RENEW_DAYS = 60
SKEW = timedelta(days=1)
"""A certificate is valid from this long before it was made: clocks differ."""
LARGEST = 64 * 1024
PRIVATE, PUBLIC = 0o600, 0o644


class Issued(NamedTuple):
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


class CertificateFiles:
    """The certificates in a directory: `ca.pem`, `ca.key`, `server.pem`, `server.key`. Keys have mode 0600."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ca = directory / "ca.pem"
        self.ca_key = directory / "ca.key"
        self.server = directory / "server.pem"
        self.server_key = directory / "server.key"

    def ensure(self, names: Iterable[str], ips: Iterable[str], clock: Clock) -> bool:
        """Make what is missing, and a new server certificate if its names differ or it expires soon.

        Returns whether the server's certificate is new; the authority is made once and stays. Raises `AgentError`.
        """
        now = datetime.fromtimestamp(clock.time(), UTC)
        wanted = _alternatives(names, ips)
        try:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            authority = self._issued(self.ca, self.ca_key)
            if authority is None:
                authority = make_ca("Covey mesh", now)
                self._write(self.ca_key, authority.key_pem, PRIVATE)
                self._write(self.ca, authority.pem, PUBLIC)
            present = self._issued(self.server, self.server_key)
            if present is not None and _serves(present.certificate, authority, wanted, now):
                return False
            leaf = _leaf(authority, wanted, now)
            self._write(self.server_key, leaf.key_pem, PRIVATE)
            self._write(self.server, leaf.pem, PUBLIC)
        except OSError as error:
            raise _unusable(self.directory, str(error)) from error
        return True

    def ca_der(self) -> bytes:
        """Return the authority's certificate as an invite carries it. Raises `AgentError`."""
        authority = self._issued(self.ca, self.ca_key)
        if authority is None:
            raise _unusable(self.directory, "there is no certificate authority yet")
        return authority.certificate.public_bytes(serialization.Encoding.DER)

    def summary(self) -> str:
        """Return what a person wants to know about both certificates. Raises `AgentError`."""
        found = [self._issued(self.ca, self.ca_key), self._issued(self.server, self.server_key)]
        return "\n\n".join(summary(one.certificate) for one in found if one is not None)

    def _issued(self, certificate: Path, key: Path) -> Issued | None:
        """Return a certificate and its key from files; None if one is missing."""
        try:
            return Issued(
                x509.load_pem_x509_certificate(read_regular(certificate, LARGEST)),
                _loaded_key(read_regular(key, LARGEST)),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise _unusable(certificate, str(error)) from error

    def _write(self, path: Path, data: bytes, mode: int) -> None:
        write_file(os.fspath(path), data, mode)


def make_ca(name: str, now: datetime) -> Issued:
    """Return a new certificate authority that signs nothing but servers, valid for ten years."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _builder(subject, subject, key.public_key(), now, CA_DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True).add_extension(
        _usage(signs_certificates=True), critical=True
    )
    return Issued(builder.sign(key, hashes.SHA256()), key)


def make_leaf(authority: Issued, names: Iterable[str], ips: Iterable[str], now: datetime) -> Issued:
    """Return a new server certificate for host names and addresses. Raises `AgentError` if one is not valid."""
    return _leaf(authority, _alternatives(names, ips), now)


def fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 of a certificate in the form that `openssl x509 -fingerprint -sha256` prints."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def summary(certificate: x509.Certificate) -> str:
    """Return a few lines for people: for whom it is, until when it is valid, and its fingerprint."""
    subject = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    lines = [f"Certificate of {subject[0].value!s}" if subject else "Certificate"]
    serves = [str(one.value) for one in _found_alternatives(certificate)]
    if serves:
        lines.append(f"  serves       {', '.join(serves)}")
    lines.append(f"  valid until  {certificate.not_valid_after_utc:%Y-%m-%d}")
    lines.append(f"  SHA-256      {fingerprint(certificate)}")
    return "\n".join(lines)


def _leaf(authority: Issued, wanted: list[x509.GeneralName], now: datetime) -> Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Covey broker")])
    builder = _builder(subject, authority.certificate.subject, key.public_key(), now, LEAF_DAYS)
    builder = (
        builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(wanted), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()),
            critical=False,
        )
    )
    return Issued(builder.sign(authority.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternatives(names: Iterable[str], ips: Iterable[str]) -> list[x509.GeneralName]:
    found: list[x509.GeneralName] = []
    for name in sorted(set(names)):
        try:
            found.append(x509.DNSName(name))
        except ValueError:
            raise user_error(
                f"{name!r} cannot stand in a certificate: it is not a host name in ASCII",
                "Name the host as DNS knows it.",
            ) from None
    for ip in sorted(set(ips)):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(ip)))
        except ValueError:
            raise user_error(f"{ip!r} is not an IP address", "Give it as 192.0.2.7 or 2001:db8::7.") from None
    if not found:
        raise user_error("a certificate needs at least one host name or address", "Name how others reach this host.")
    return found


def _serves(certificate: x509.Certificate, authority: Issued, wanted: list[x509.GeneralName], now: datetime) -> bool:
    """Return whether a server certificate can stay."""
    lasts = certificate.not_valid_after_utc - now > timedelta(days=RENEW_DAYS)
    begun = certificate.not_valid_before_utc <= now
    return (
        lasts
        and begun
        and certificate.issuer == authority.certificate.subject
        and _is_signed_by(certificate, authority)
        and set(_found_alternatives(certificate)) == set(wanted)
    )


def _is_signed_by(certificate: x509.Certificate, authority: Issued) -> bool:
    try:
        certificate.verify_directly_issued_by(authority.certificate)
    except Exception:  # noqa: BLE001 - it raises several kinds, all of which mean no
        return False
    return True


def _found_alternatives(certificate: x509.Certificate) -> list[x509.GeneralName]:
    try:
        return list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def _loaded_key(data: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(data, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("the key is not one of Covey's")  # noqa: TRY004 - the content of the file is wrong
    return key


def _unusable(path: Path, reason: str) -> AgentError:
    return tool_error(
        f"the broker's certificates in {path} cannot be used: {reason}",
        "Remove the directory to make new ones; members then need a new invite.",
        error="broker_certificates",
    )
