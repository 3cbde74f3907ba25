"""The Python SDK over forks, event loops, threads and copies of its errors."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import covey_sdk
import pytest
from covey_sdk import AsyncNode, ConnectionLostError, CoveyError, Node

from sdk.conformance.hosts import Host


def answer_of_a_child(ask: Any) -> str:
    """Return what a forked process finds, or its error."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            found = str(ask())
        except BaseException as error:  # noqa: BLE001 - it goes to the parent
            found = repr(error)
        os.write(sending, found.encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_connections_of_its_own(hosts: tuple[Host, Host]) -> None:
    with Node(str(hosts[0].home)) as node:
        cursor = node.cursor()
        kept = node._client.idle[0]
        assert int(answer_of_a_child(node.cursor)) >= cursor
        answer_of_a_child(node.close)
        assert node.cursor() >= cursor
        assert node._client.idle == [kept]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_stream_goes_on_in_both_processes_after_a_fork(hosts: tuple[Host, Host]) -> None:
    with Node(str(hosts[0].home)) as node:
        events = node.events(0)
        first = next(events)
        following = int(answer_of_a_child(lambda: next(events).cursor))
        assert following == next(events).cursor > first.cursor


def test_a_client_for_asyncio_goes_on_in_another_event_loop(hosts: tuple[Host, Host]) -> None:
    node = AsyncNode(str(hosts[0].home))
    assert asyncio.run(node.cursor()) <= asyncio.run(node.cursor())
    node.close()


def test_at_most_eight_connections_are_kept(hosts: tuple[Host, Host]) -> None:
    async def together(node: AsyncNode) -> int:
        await asyncio.gather(*[node.cursor() for _ in range(20)])
        return len(node._client.idle)

    asynchronous = AsyncNode(str(hosts[0].home))
    assert asyncio.run(together(asynchronous)) <= 8
    asynchronous.close()
    with Node(str(hosts[0].home)) as node, ThreadPoolExecutor(20) as threads:
        list(threads.map(lambda _: node.cursor(), range(60)))
        assert 1 <= len(node._client.idle) <= 8
    assert node._client.idle == []


def test_a_thread_that_waits_in_a_stream_ends_when_it_is_closed(hosts: tuple[Host, Host]) -> None:
    node = Node(str(hosts[0].home))
    events = node.events(0)
    begun, ended = threading.Event(), []

    def take() -> None:
        try:
            for _ in events:
                begun.set()
        except ConnectionLostError as error:
            ended.append(error.error)

    thread = threading.Thread(target=take)
    thread.start()
    assert begun.wait(60)
    node.close()
    thread.join(60)
    assert ended == ["connection_lost"]


@pytest.mark.parametrize("kind", ["CoveyError", "NotRunningError", "ConnectionLostError", "DeadlineError"])
def test_an_error_is_copied_and_pickled_with_all_its_fields(kind: str) -> None:
    fields = {"field": "to", "valid_values": ["a"], "retry_after_ms": 5, "status": 400, "recoverable": True}
    error = getattr(covey_sdk, kind)("no", error="not_found", code=5, suggestion="Try.", **fields)
    for other in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))


def test_one_kind_in_the_place_of_a_list_is_refused_at_once(hosts: tuple[Host, Host]) -> None:
    for made in (Node, AsyncNode):
        daemon = made(str(hosts[0].home))
        with pytest.raises(CoveyError, match="kinds is a list") as caught:
            daemon.events(kinds="message")
        assert (caught.value.error, caught.value.field) == ("user_error", "kinds")
        daemon.close()


def test_a_deadline_that_is_not_a_number_is_refused_when_the_client_is_made(tmp_path: Path) -> None:
    with pytest.raises(CoveyError, match="a deadline is a number"):
        Node(str(tmp_path), deadline_s=float("nan"))
