"""The keys of the embedded broker: the operator, who signs accounts, and the system account, which administrates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

import msgspec

from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from covey.mesh.auth.jwt import account_jwt, operator_jwt, user_jwt
from covey.mesh.auth.permissions import AUTHORITY
from covey.mesh.crypto.nkeys import SigningKey
from murli import AgentError, tool_error

if TYPE_CHECKING:
    from pathlib import Path

NAME = "operator.json"
MODE = 0o600
LARGEST = 64 * 1024
SYSTEM = "SYS"


class _Stored(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The content of the file: seeds."""

    operator: str
    operator_signing: str
    system_account: str
    system_user: str


class OperatorFile:
    """The keys in `operator.json`. They never leave this machine; whoever has them can admit itself to every mesh."""

    def __init__(self, stored: _Stored) -> None:
        self.operator = SigningKey.from_seed(stored.operator)
        self.signer = SigningKey.from_seed(stored.operator_signing)
        """The key that signs accounts."""
        self.system_account = SigningKey.from_seed(stored.system_account)
        self.system_user = SigningKey.from_seed(stored.system_user)

    def __repr__(self) -> str:
        return f"OperatorFile({self.operator.public})"

    @classmethod
    def load_or_create(cls, directory: Path) -> Self:
        """Return the keys of a directory, which are made if there are none. Raises `AgentError`."""
        try:
            return cls.load(directory)
        except FileNotFoundError:
            pass
        try:
            return cls.create(directory)
        except FileExistsError:  # another process was faster
            return cls.load(directory)

    @classmethod
    def create(cls, directory: Path) -> Self:
        """Make keys and write them, 0600. Raises `FileExistsError` if there are some: they must not be replaced."""
        path = directory / NAME
        stored = _Stored(
            operator=SigningKey.generate("O").seed,
            operator_signing=SigningKey.generate("O").seed,
            system_account=SigningKey.generate("A").seed,
            system_user=SigningKey.generate("U").seed,
        )
        beside = directory / f".{NAME}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            write_file(os.fspath(beside), msgspec.json.format(msgspec.json.encode(stored)), MODE)
            os.link(beside, path)  # unlike a rename it fails if somebody else was faster
            _sync(directory)
        except FileExistsError:
            raise
        except OSError as error:
            raise _unusable(path, error.strerror or str(error)) from error
        finally:
            beside.unlink(missing_ok=True)
        return cls(stored)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read the keys. Raises `FileNotFoundError`, or `AgentError` if the file cannot be used."""
        path = directory / NAME
        try:
            stored = msgspec.json.decode(read_regular(path, LARGEST), type=_Stored)
            if path.stat().st_mode & 0o077:
                path.chmod(MODE)
            return cls(stored)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unusable(path, error.strerror or str(error)) from error
        except (msgspec.DecodeError, AgentError, ValueError):
            raise _unusable(path, "its content is damaged") from None

    def operator_jwt(self) -> str:
        """Return the claims of the operator, for the server's configuration."""
        return operator_jwt(
            self.operator, "covey", self.system_account.public, signing_keys=[self.signer.public], issued_at=0
        )

    def system_account_jwt(self) -> str:
        """Return the claims of the system account, for the server's configuration."""
        return account_jwt(
            self.signer, self.system_account.public, SYSTEM, signing_keys={}, is_system=True, issued_at=0
        )

    def system_user_jwt(self) -> str:
        """Return the claims of the one user of the system account."""
        return user_jwt(
            self.system_account,
            self.system_user.public,
            "covey",
            issuer_account=self.system_account.public,
            permissions=AUTHORITY,
        )


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, reason: str) -> AgentError:
    return tool_error(
        f"the broker's keys in {path} cannot be used: {reason}",
        "Restore the file from a backup. Without it the accounts of the meshes on this broker cannot be changed.",
        error="broker_keys_unusable",
    )
