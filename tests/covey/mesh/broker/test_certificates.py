"""Certificates: kept, renewed, readable, and accepted by OpenSSL."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.mesh.broker.certificates import (
    LEAF_DAYS,
    RENEW_DAYS,
    CertificateFiles,
    fingerprint,
    make_ca,
    make_leaf,
    summary,
)
from murli import AgentError

NAMES, IPS = ["mesh.example.org"], ["192.0.2.7", "2001:db8::7"]
DAY_S = 86_400


def openssl(*words: str | Path) -> str:
    ran = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_openssl_verifies_the_chain_and_the_names(tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC).timestamp())
    files = CertificateFiles(tmp_path / "tls")
    assert files.ensure(NAMES, IPS, clock)
    for words in (("-verify_hostname", NAMES[0]), ("-verify_ip", IPS[0]), ("-verify_ip", IPS[1])):
        openssl("verify", "-x509_strict", "-purpose", "sslserver", *words, "-CAfile", files.ca, files.server)
    printed = openssl("x509", "-in", files.ca, "-noout", "-fingerprint", "-sha256")
    assert printed.strip().partition("=")[2] in files.summary()


def test_what_is_there_stays(tmp_path: Path) -> None:
    clock = ManualClock()
    files = CertificateFiles(tmp_path / "tls")
    files.ensure(NAMES, IPS, clock)
    before = [file.read_bytes() for file in sorted(files.directory.iterdir())]
    assert not files.ensure(NAMES, IPS, clock)
    assert [file.read_bytes() for file in sorted(files.directory.iterdir())] == before


def test_keys_are_private_and_certificates_can_be_read(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "tls")
    files.ensure(NAMES, IPS, ManualClock())
    modes = {file.name: file.stat().st_mode & 0o777 for file in files.directory.iterdir()}
    assert modes == {"ca.pem": 0o644, "ca.key": 0o600, "server.pem": 0o644, "server.key": 0o600}


@pytest.mark.parametrize("cause", ["names", "time", "authority"])
def test_the_server_certificate_is_renewed_and_the_authority_stays(tmp_path: Path, cause: str) -> None:
    clock = ManualClock()
    files = CertificateFiles(tmp_path / "tls")
    files.ensure(NAMES, IPS, clock)
    authority = files.ca_der()
    names = NAMES
    if cause == "names":
        names = [*NAMES, "second.example.org"]
    elif cause == "time":
        clock.advance((LEAF_DAYS - RENEW_DAYS + 1) * DAY_S)
    else:
        foreign = make_leaf(make_ca("Covey mesh", datetime.fromtimestamp(clock.time(), UTC)), NAMES, IPS, _now(clock))
        files.server.write_bytes(foreign.pem)
        files.server_key.write_bytes(foreign.key_pem)
    assert files.ensure(names, IPS, clock)
    assert files.ca_der() == authority
    assert not files.ensure(names, IPS, clock)


def test_the_summary_says_for_whom_until_when_and_the_fingerprint() -> None:
    now = datetime(2027, 1, 1, tzinfo=UTC)
    authority = make_ca("Covey mesh", now)
    leaf = make_leaf(authority, NAMES, IPS, now)
    text = summary(leaf.certificate)
    assert "serves       mesh.example.org, 192.0.2.7, 2001:db8::7" in text
    assert "valid until  2028-02-02" in text
    assert fingerprint(leaf.certificate) in text
    assert "serves" not in summary(authority.certificate)


@pytest.mark.parametrize(("names", "ips"), [([], []), (["bücher.example"], []), ([], ["not an ip"])])
def test_names_that_no_certificate_can_have_are_refused(tmp_path: Path, names: list[str], ips: list[str]) -> None:
    with pytest.raises(AgentError):
        CertificateFiles(tmp_path / "tls").ensure(names, ips, ManualClock())


@pytest.mark.parametrize("name", ["ca.pem", "ca.key", "server.pem", "server.key"])
def test_a_damaged_file_is_reported_and_stays(tmp_path: Path, name: str) -> None:
    files = CertificateFiles(tmp_path / "tls")
    files.ensure(NAMES, IPS, ManualClock())
    (files.directory / name).write_text("damaged")
    with pytest.raises(AgentError, match="cannot be used"):
        files.ensure(NAMES, IPS, ManualClock())
    assert (files.directory / name).read_text() == "damaged"


def _now(clock: ManualClock) -> datetime:
    return datetime.fromtimestamp(clock.time(), UTC)
