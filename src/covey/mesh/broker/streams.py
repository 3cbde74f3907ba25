"""The streams of a mesh: created where they are missing, and brought to the settings that this version wants.

JetStream's API is used directly, because the client library does not know every field.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from nats.errors import Error as NatsError

from murli import AgentError, timed_out, tool_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nats.aio.client import Client

NS = 1_000_000_000
DAY_S = 86_400
MAX_AGE = 30 * DAY_S * NS
DUPLICATE_WINDOW = DAY_S * NS
REQUEST_S = 5.0
PAUSE_S = 0.2
NOT_FOUND = 404
MOST_CONSUMERS = 100_000
"""Each member reads with one of each stream. NATS 2.15 allows 1,000 where nothing is said, and has no word for all."""
CHUNK_BYTES = 512 * 1024
"""Of a file, in one message of FILES. Half of what a broker takes at least: some set their limit lower than ours."""
CHUNK_EXTRA = 1024
"""Room for the nonce and the tag of a sealed chunk."""
MOST_CHUNKS = 8192
"""In FILES at a time, unless the authority sets another quota: 4 GB."""
_HIDDEN = "ax"
"""The first word of the subjects under which AUTHORITY takes messages."""
_PASSING = (408, 500, 503)
"""Codes of errors that pass: a cluster elects a leader, or is too busy."""
LATEST_ONLY: Mapping[str, Any] = {"max_msgs_per_subject": 1}
FIRST_ONLY: Mapping[str, Any] = {**LATEST_ONLY, "discard": "new", "discard_new_per_subject": True}
"""Nobody overwrites a message: a second one under its subject is refused."""
ASYNC: Mapping[str, Any] = {"persist_mode": "async"}
"""Written to disk later: a loss of the last moments is mended by the next message."""
_MESSAGES: Mapping[str, Any] = {"max_age": MAX_AGE, "duplicate_window": DUPLICATE_WINDOW}

STREAMS: Mapping[str, Mapping[str, Any]] = {
    "DM": {"subjects": ["dm.*.*"], **_MESSAGES},
    "TOPICS": {"subjects": ["t.*.*"], **_MESSAGES},
    "MEMBERS": {"subjects": ["m.*"], **LATEST_ONLY},
    "AUTHORITY": {"subjects": ["a.mesh", "a.member.*", "a.grant.*.*", "a.shared.*"], **LATEST_ONLY},
    "PRESENCE": {"subjects": ["p.*", "h.*", "a.gone.*"], **LATEST_ONLY, **ASYNC},
    "RECEIPTS": {"subjects": ["rc.*.*"], **LATEST_ONLY, **ASYNC},
    "SHARED": {"subjects": ["s.*.*"], **LATEST_ONLY},
    # The bound is on messages of a bounded size: `max_bytes` would be set aside at the broker's disk for each mesh.
    "FILES": {"subjects": ["f.*.*.*"], **FIRST_ONLY, "max_msg_size": CHUNK_BYTES + CHUNK_EXTRA, "deny_purge": False},
    "GRAPH": {"subjects": ["g.*"], "duplicate_window": DUPLICATE_WINDOW},
}
"""What is special about each stream."""


def authority_subject(subject: str, token: str) -> str:
    """Return the subject to which the authority publishes so that AUTHORITY stores the message under `subject`.

    A server sends acknowledgements to whatever subject a member names as the reply of its message, and checks no
    permission for that: a member could overwrite records of the authority with them. So AUTHORITY takes messages under
    subjects with a token that only the authority knows, and stores them under those that members read.
    """
    return f"{_HIDDEN}.{token}{subject.removeprefix('a')}" if token else subject


def stream_config(
    name: str, replicas: int, authority_token: str = "", most_chunks: int = MOST_CHUNKS
) -> dict[str, Any]:
    """Return the settings of a stream as JetStream's API wants them."""
    config: dict[str, Any] = {
        "name": name,
        "storage": "file",
        "retention": "limits",
        "discard": "old",
        "num_replicas": replicas,
        "max_consumers": MOST_CONSUMERS,
        "allow_direct": True,
        "deny_delete": True,
        "deny_purge": True,
        "allow_rollup_hdrs": False,
        **STREAMS[name],
    }
    if name == "AUTHORITY" and authority_token:
        config["subjects"] = [authority_subject(subject, authority_token) for subject in config["subjects"]]
        config["subject_transform"] = {"src": f"{_HIDDEN}.{authority_token}.>", "dest": "a.>"}
        config["republish"] = {"src": "a.>", "dest": "a.>"}  # for those who subscribe without a consumer
    if name == "FILES":
        config["max_msgs"] = most_chunks
    if replicas > 1:
        config.pop("persist_mode", None)  # a server refuses it for a stream with replicas
    return config


async def ensure_streams(
    client: Client,
    replicas: int = 1,
    deadline: float = 60.0,
    *,
    authority_token: str = "",
    most_chunks: int = MOST_CHUNKS,
) -> bool:
    """Create the streams that are missing and mend those that differ. Returns whether one was created.

    `authority_token` is a secret word of the authority: see `authority_subject`; without it, members can overwrite the
    authority's records with junk. `most_chunks` is the quota of all files together. A created stream starts at 1,
    whatever a stream of this name had before. May be repeated; what passes (a cluster without a leader, a lost answer)
    is tried again for `deadline` seconds. Raises `AgentError`.
    """
    created = False
    last = "no answer"
    try:
        async with asyncio.timeout(deadline):
            for name in STREAMS:
                while True:
                    try:
                        config = stream_config(name, replicas, authority_token, most_chunks)
                        created = await _ensure(client, config) or created
                        break
                    except (_PassingError, NatsError, msgspec.DecodeError) as error:
                        last = str(error) or type(error).__name__
                    await asyncio.sleep(PAUSE_S)
    except TimeoutError:
        raise timed_out(
            f"the streams of the mesh could not be created within {deadline:g} s: {last}",
            "A cluster may have lost most of its servers, or these credentials may not create streams.",
        ) from None
    return created


class _PassingError(Exception):
    """An error of JetStream that passes."""


async def _ensure(client: Client, config: Mapping[str, Any]) -> bool:
    """Create or mend one stream. Returns whether it was created."""
    name = config["name"]
    found = await _api(client, f"STREAM.INFO.{name}", {})
    if found.get("error", {}).get("code") == NOT_FOUND:
        _require(await _api(client, f"STREAM.CREATE.{name}", config), name)
        return True
    _require(found, name)
    present = found["config"]
    different = {field: value for field, value in config.items() if present.get(field, _default(value)) != value}
    if different:
        _require(await _api(client, f"STREAM.UPDATE.{name}", {**present, **different}), name)
    return False


async def _api(client: Client, subject: str, document: Mapping[str, Any]) -> dict[str, Any]:
    reply = await client.request(f"$JS.API.{subject}", msgspec.json.encode(document), timeout=REQUEST_S)
    answer: dict[str, Any] = msgspec.json.decode(reply.data, type=dict[str, Any])
    error = answer.get("error")
    if error is not None and error.get("code") in _PASSING:
        raise _PassingError(error.get("description", "an error of the broker"))
    return answer


def _require(answer: Mapping[str, Any], name: str) -> None:
    """Raise `AgentError` if JetStream refused."""
    error = answer.get("error")
    if error is not None:
        raise _refused(name, error)


def _refused(name: str, error: Mapping[str, Any]) -> AgentError:
    return tool_error(
        f"the broker refused the stream {name}: {error.get('description', 'no reason given')}",
        "See the limits of the mesh's account and the space on the broker's disk.",
        error="broker_stream",
    )


def _default(value: object) -> object:
    """Return what a field means that the broker leaves out."""
    return False if value is False else None
