"""Notifications through apprise: a real one, to a real HTTP server on loopback."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from covey.attention import doctor, senders
from covey.attention.apprise_sender import INSTALL, scheme
from covey.attention.channel import APPRISE, Channel
from covey.attention.notification import TEST
from covey.kernel.doctor.doctor import Examination
from covey.kernel.doctor.finding import Finding
from covey.node.settings import SETTINGS
from tests.covey.attention.rooms import homes, opened, until
from tests.covey.attention.test_channels import configured


@pytest.fixture
def received() -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """A server's port, and what was posted to it."""
    posted: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200 if self.path != "/refused" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1], posted
    server.shutdown()
    thread.join()
    server.server_close()


async def test_what_needs_somebody_is_posted_and_addresses_stay_secret(
    received: tuple[int, list[dict[str, Any]]],
) -> None:
    pytest.importorskip("apprise")
    port, posted = received
    with homes() as home:
        configured(home, f'kind = "apprise"\nurls = ["json://user:password@127.0.0.1:{port}/", "nonsense"]')
        async with opened(home) as room:
            await until(lambda: bool(room.status()["channels"]), "the channel")
            await room.ask("a", "claude asks", "rm -rf build/", kind="approval", command="covey approve runtime:1")
            await until(lambda: bool(room.status()["notify_problem"]), "the end of it")
            assert room.status()["notify_problem"] == (
                "apprise: apprise ended with code 1: address 2 (?) is not understood"
            )
    (message,) = posted
    assert (message["title"], message["message"]) == ("claude asks", "rm -rf build/\ncovey approve runtime:1")
    refused = Channel("x", APPRISE, urls=(f"json://user:password@127.0.0.1:{port}/refused",))
    problem = await senders.Senders(None).send(refused, TEST)  # type: ignore[arg-type]
    assert problem == "apprise ended with code 1: address 1 (json) failed"


async def test_without_the_extra_the_problem_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "apprise.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(filter(None, sys.path))}")
    channel = Channel("x", APPRISE, urls=("json://127.0.0.1:1/",))
    assert await senders.Senders(None).send(channel, TEST) == INSTALL  # type: ignore[arg-type]
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with homes() as home:
        configured(home, 'kind = "apprise"\nurls = ["json://127.0.0.1:1/"]')
        (check,) = doctor.checks(Examination(home.node, SETTINGS))
        found = check.examine()
        assert not isinstance(found, Finding)
        (finding,) = found
        assert "pip install 'covey[notify]'" in finding.fix


def test_the_scheme_of_an_address_is_all_that_is_shown() -> None:
    assert [scheme(url) for url in ("ntfys://secret", "secret", "a b://x", "://x")] == ["ntfys", "?", "?", "?"]
