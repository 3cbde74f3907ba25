"""What a member asks of the authority, over the mesh: signed in both directions."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from covey.mesh.authority.authority import AskAnswer
from covey.mesh.crypto.errors import ForgedError
from covey.mesh.crypto.nkeys import decode_mesh_id
from covey.mesh.crypto.records import AskRequest, open_record, sign_record
from covey.mesh.link.errors import NotAnsweredError
from murli import AgentError, tool_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.link.session import Session

ANSWER_S = 10.0
PATIENCE_S = 3.0
"""How long it is asked again while nobody answers: the authority may be connecting just now."""


async def ask(
    session: Session, keys: KeyPair, mesh: str, what: str, arguments: Mapping[str, Any], at: float
) -> dict[str, Any]:
    """Return the authority's answer. `at` is greater than in any request before. Raises AgentError."""
    request = AskRequest(
        mesh=mesh, member=keys.member, what=what, arguments=dict(arguments), at=at, nonce=secrets.token_hex(16)
    )
    try:
        wire = await session.request(
            f"ask.{keys.member}",
            sign_record(keys.identity, "ask", request),
            deadline_s=ANSWER_S,
            patience_s=PATIENCE_S,
        )
    except NotAnsweredError as error:
        raise tool_error(
            f"the authority of the mesh cannot be asked to {what}: {error.message}",
            "The peer that created the mesh must run: `covey mesh status` there. Then try again.",
            error="authority_offline",
        ) from error
    answer = open_record(AskAnswer, decode_mesh_id(mesh), "ask", wire)
    if answer.nonce != request.nonce and answer.error is None:
        raise ForgedError("the answer belongs to a different request")
    if answer.error is not None:
        raise AgentError.from_envelope(answer.error)
    return answer.result
