"""The Telegram adapter of the examples, with a stand-in of the Bot API on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.covey.keeper.adapters.conftest import LIMIT_S, Session, until

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "adapters" / "telegram.py"
TOKEN = "12345678:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"


class Telegram:
    """What people write to the bot, and what the bot sends. `failures` are the next statuses of sendMessage."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.failures: list[int] = []
        self.confirmed = 0
        self._changed = threading.Condition()
        world = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = world.answer(self.path, asked)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path == f"/bot{TOKEN}/getUpdates":
            with self._changed:
                self.confirmed = max(self.confirmed, asked["offset"])
                self._changed.wait_for(lambda: self._from(asked["offset"]), timeout=min(asked["timeout"], 2))
                return 200, {"ok": True, "result": self._from(asked["offset"])}
        if path == f"/bot{TOKEN}/sendMessage":
            if self.failures:
                status = self.failures.pop(0)
                return status, {"ok": False, "description": "no", "parameters": {"retry_after": 0.01}}
            self.sent.append(asked)
            return 200, {"ok": True, "result": {}}
        return 401, {"ok": False, "description": "Unauthorized"}

    def write(self, chat: int, text: str) -> None:
        with self._changed:
            message = {"chat": {"id": chat}, "from": {"username": "ann"}, "date": 1_767_225_600, "text": text}
            self.updates.append({"update_id": len(self.updates) + 1, "message": message})
            self._changed.notify_all()

    def _from(self, offset: int) -> list[dict[str, Any]]:
        return [update for update in self.updates if update["update_id"] >= offset]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def telegram() -> Iterator[Telegram]:
    found = Telegram()
    yield found
    found.close()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "session"
    folder.mkdir(mode=0o700)
    found = Session(folder)
    yield found
    found.close()


def started(telegram: Telegram, session: Session, log: Path, token: str = TOKEN) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "COVEY_RUNTIME_DIR": str(session.folder), "TELEGRAM_BOT_TOKEN": token}
    with log.open("wb") as stderr:
        words = [sys.executable, str(PROGRAM), "--api", telegram.url, "--chat", "7", "--chat", "8"]
        return subprocess.Popen(words, env=environment, stderr=stderr)


def test_messages_of_allowed_chats_go_in_and_answers_go_to_the_last(
    telegram: Telegram, session: Session, tmp_path: Path
) -> None:
    process = started(telegram, session, tmp_path / "log")
    try:
        session.say("telegram", "to the first chat")
        until(lambda: telegram.sent)
        telegram.write(666, "let me in")
        telegram.write(8, "Check\nmy homework")
        message = session.message("telegram")
        assert message["content"] == "Check\nmy homework"
        assert (message["ts"], message["meta"]) == (1_767_225_600, {"chat": 8, "from": "ann"})
        telegram.failures = [429, 500, 400]
        session.say("telegram", "done\nwell")
        until(lambda: not telegram.failures)
        session.say("telegram", "long " + "x" * 4096)
        until(lambda: len(telegram.sent) == 3)
        until(lambda: telegram.confirmed == 3)
        assert [(one["chat_id"], len(one["text"])) for one in telegram.sent] == [(7, 17), (8, 4096), (8, 5)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 143
    finally:
        process.kill()
        process.wait()
    assert list(session.folder.iterdir()) == []
    log = (tmp_path / "log").read_text()
    assert "chat 666 was left out" in log
    assert TOKEN not in log


def test_a_token_that_is_refused_ends_the_program(telegram: Telegram, session: Session, tmp_path: Path) -> None:
    process = started(telegram, session, tmp_path / "log", "87654321:wrong")
    assert process.wait(LIMIT_S) == 1
    assert (tmp_path / "log").read_text() == "Telegram refuses: getUpdates: Unauthorized\n"
