"""`python -m covey.mesh.services.graph.child FILE`: answers the requests of a peer on standard input, in their order.

It ends when the peer has ended: then its standard input does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import apsw
import msgspec

from covey.mesh.services.graph.child import messages
from covey.mesh.services.graph.child.faults import MemoryFaultError
from covey.mesh.services.graph.child.graph_file import GraphFile
from covey.mesh.services.graph.child.limits import shut
from covey.mesh.services.graph.child.messages import LENGTH, Reply
from covey.mesh.services.graph.engine import EngineError, EngineFaultError, NotAReadError

if TYPE_CHECKING:
    from typing import BinaryIO


def main(path: str) -> int:
    """Serve one peer until it ends."""
    requests, replies = _pipes()
    try:
        graph = GraphFile(path)
        shut()
    except (EngineError, apsw.Error, OSError) as error:
        _send(replies, _failed(messages.FAULT, error))
        return 1
    _send(replies, Reply())
    while (head := requests.read(LENGTH.size)) and len(head) == LENGTH.size:
        data = requests.read(LENGTH.unpack(head)[0])
        _send(replies, _answer(graph, data))
    return 0


def _send(replies: BinaryIO, reply: Reply) -> None:
    replies.write(messages.frame(reply))
    replies.flush()


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return where requests come from and answers go to. The engine's own output goes nowhere."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    os.close(null)
    return requests, replies


def _answer(graph: GraphFile, data: bytes) -> Reply:
    try:
        return _perform(graph, messages.decode_request(data))
    except (MemoryFaultError, MemoryError) as error:
        return _failed(messages.MEMORY, error)
    except (EngineFaultError, apsw.Error) as error:
        return _failed(messages.FAULT, error)
    except NotAReadError as error:
        return _failed(messages.NOT_A_READ, error)
    except (EngineError, msgspec.MsgspecError, RecursionError) as error:
        return _failed(messages.STATEMENT, error)


def _perform(graph: GraphFile, request: messages.Request) -> Reply:
    match request:
        case messages.Locate():
            return Reply(position=graph.position())
        case messages.Read():
            answer = graph.read(request.statement, request.params, limit=request.limit, deadline_s=request.deadline_s)
            return Reply(answer=answer)
        case messages.TryOut():
            graph.try_out(request.entry, deadline_s=request.deadline_s)
            return Reply()
        case messages.Apply():
            applied = graph.apply(request.entries, answer_for=request.answer_for, limit=request.limit)
            return Reply(applied=applied)
        case messages.CountCrash():
            return Reply(count=graph.count_crash(request.sequence))
        case messages.Describe():
            return Reply(facts=graph.facts())


def _failed(kind: str, error: BaseException) -> Reply:
    return Reply(error=(kind, str(error) or type(error).__name__))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
