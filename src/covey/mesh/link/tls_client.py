"""The client of the NATS library, made to insist on TLS: by itself it takes the server's word that there is none."""

from __future__ import annotations

import logging
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

KEPT_OPEN = "returning true from eof_received() has no effect when using ssl"


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Return whether a record of the logger `asyncio` is logged: everything but one warning is.

    The library changes its connection to TLS below the stream that it has, which does not learn that and asks at the
    end for what TLS cannot do: to be kept open in the other direction. The event loop says so at each end of a
    connection, though nothing is lost: no stream of ours is half closed.
    """
    return not str(record.msg).startswith(KEPT_OPEN)


logging.getLogger("asyncio").addFilter(is_worth_logging)


class TlsClient(Client):
    """A client that shows its credentials to nobody but over TLS.

    A NATS server says in the clear, before anything else, whether it wants TLS. Somebody on the way who takes that out
    would be sent the credentials, and could use the signature for a connection of their own.
    """

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's
        server = self._current_server
        encrypted = server is not None and server.uri.scheme == "wss"
        if initial_connection and not encrypted and not info.get("tls_required"):
            raise NatsError("what answers there does not offer TLS, so it is not the broker of this mesh")
        await super()._process_info(info, initial_connection)
