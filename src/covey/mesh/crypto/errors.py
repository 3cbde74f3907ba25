"""The errors of the mesh's cryptography.

AgentError
  MeshCryptoError       bytes or keys of the mesh cannot be used
    ForgedError         a signature, a box or a claimed sender is wrong
    MalformedError      the bytes do not have the form that docs/reference/mesh-envelope.md describes
    WrongMeshError      the bytes belong to a different mesh
    NotForUsError       the envelope or the grant is addressed to a different member
    UnknownKeyError     the encryption key that is named is not known here
    PassphraseError     the passphrase does not open the exported keys, or is too short to protect them

No message quotes what was received: its author may be hostile, and messages reach logs and terminals.
"""

from __future__ import annotations

from typing import ClassVar

from murli import EXIT_USER_ERROR, AgentError


class MeshCryptoError(AgentError):
    """Bytes or keys of the mesh cannot be used."""

    word: ClassVar[str] = "mesh_crypto"
    advice: ClassVar[str] = ""
    mendable: ClassVar[bool] = False

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(
            message,
            code=EXIT_USER_ERROR,
            error=self.word,
            suggestion=suggestion or self.advice,
            recoverable=self.mendable,
        )


class ForgedError(MeshCryptoError):
    """A signature, a box or a claimed sender is wrong: nothing in these bytes may be believed."""

    word = "mesh_forged"
    advice = (
        "Nothing was accepted. If it happens again, a member or the broker sends false messages: see `covey mesh logs`."
    )


class MalformedError(MeshCryptoError):
    """The bytes do not have the described form."""

    word = "mesh_malformed"
    advice = "Nothing was accepted. The sender may run a different version of Covey: compare `covey --version`."


class WrongMeshError(MeshCryptoError):
    """The bytes belong to a different mesh."""

    word = "mesh_wrong_mesh"
    advice = "Nothing was accepted. Look with `covey mesh ps` which mesh this peer belongs to."


class NotForUsError(MeshCryptoError):
    """The envelope or the grant is addressed to a different member."""

    word = "mesh_not_for_us"
    advice = "Nothing was accepted. Look with `covey mesh members` which member this peer is."


class UnknownKeyError(MeshCryptoError):
    """The encryption key that is named is not known here."""

    word = "mesh_unknown_key"
    advice = "It can be opened once the profile with that key has arrived; a key that was dropped here stays unknown."


class PassphraseError(MeshCryptoError):
    """The passphrase does not open the exported keys, or is too short to protect them."""

    word = "mesh_passphrase"
    advice = "Try again with the passphrase that was given when the keys were exported."
    mendable = True
