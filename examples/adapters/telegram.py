"""Connects a kept session to a Telegram bot.

    TELEGRAM_BOT_TOKEN=... python telegram.py --chat 123456 [--session name] [--api https://api.telegram.org]

Messages from the chats that are named are sent to the agent; those from anyone else are left out. What the agent sends
to the channel `telegram` goes to the chat that wrote last, or to the first one. Ask @userinfobot for the id of a chat.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from covey.adapter import Channel, ChannelClosed

POLL_S = 50
LONGEST_MESSAGE = 4096
LONGEST_PAUSE_S = 60.0


class Bot:
    """A bot, by its HTTP API. The token is part of every address, so no address is ever printed."""

    def __init__(self, api: str, token: str) -> None:
        self._base = f"{api.rstrip('/')}/bot{token}/"

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method, again and again until it is answered. Raises ValueError if Telegram refuses it."""
        pause = 1.0
        while True:
            try:
                return self._called(method, parameters)
            except urllib.error.HTTPError as error:
                answer = _json(error)
                if error.code == 429:  # noqa: PLR2004 - too many requests
                    pause = float(answer.get("parameters", {}).get("retry_after", pause))
                elif error.code < 500 and error.code != 409:  # noqa: PLR2004 - 409: a second program polls
                    raise ValueError(f"{method}: {answer.get('description', error.code)}") from None
                say(f"{method} failed with {error.code}, next attempt in {pause:.0f} s")
            except (OSError, ValueError) as error:
                say(f"{method} failed ({type(error).__name__}), next attempt in {pause:.0f} s")
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def _called(self, method: str, parameters: dict[str, Any]) -> Any:
        body = json.dumps(parameters).encode()
        request = urllib.request.Request(self._base + method, body, {"Content-Type": "application/json"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=POLL_S + 20) as answer:  # noqa: S310 - the user names the server
            return json.load(answer)["result"]


class Chats:
    """The chats that may write, and the one that answers go to."""

    def __init__(self, allowed: list[int]) -> None:
        self.allowed = allowed
        self.last = allowed[0]


def receive(bot: Bot, channel: Channel, chats: Chats) -> None:
    """Send the agent what is written to the bot, for ever. An update is confirmed when the next are asked for."""
    offset = 0
    while True:
        for update in bot.call("getUpdates", offset=offset, timeout=POLL_S, allowed_updates=["message"]):
            message = update.get("message", {})
            chat, text = message.get("chat", {}).get("id"), message.get("text", "")
            if chat in chats.allowed and text.strip():
                chats.last = chat
                sender = message.get("from", {}).get("username", "")
                send(channel, text, {"chat": chat, "from": sender}, float(message.get("date", time.time())))
            elif text:
                say(f"a message from chat {chat} was left out: it is not allowed")
            offset = update["update_id"] + 1


def send(channel: Channel, text: str, meta: dict[str, Any], at: float) -> None:
    """Send a message to the agent, however long the daemon is down."""
    while True:
        try:
            channel.send(text, meta, at)
        except ChannelClosed as error:
            say(str(error))
        else:
            return


def answer(bot: Bot, channel: Channel, chats: Chats) -> None:
    """Send what the agent says to the chat that wrote last, for ever."""
    for text in channel.messages():
        for start in range(0, len(text), LONGEST_MESSAGE):
            try:
                bot.call("sendMessage", chat_id=chats.last, text=text[start : start + LONGEST_MESSAGE])
            except ValueError as error:
                say(str(error))


def say(text: str) -> None:
    """Write a line of the log."""
    sys.stderr.write(json.dumps({"ts": round(time.time(), 3), "msg": text}) + "\n")


def _json(error: urllib.error.HTTPError) -> dict[str, Any]:
    with error:
        try:
            found = json.load(error)
        except ValueError:
            return {}
    return found if isinstance(found, dict) else {}


def main() -> None:
    """Run until ended."""
    parser = argparse.ArgumentParser(description="Connects a kept session to a Telegram bot.")
    parser.add_argument("--chat", type=int, action="append", required=True, help="a chat that may write; repeatable")
    parser.add_argument("--session", help="name of the kept session")
    parser.add_argument("--api", default="https://api.telegram.org", help="address of the Bot API")
    words = parser.parse_args()
    token = os.environ.get("TELEGRAM_BOT_TOKEN", "")
    if not token:
        parser.error("set TELEGRAM_BOT_TOKEN to the token that @BotFather gave you")
    bot, chats = Bot(words.api, token), Chats(words.chat)
    with Channel("telegram", words.session) as channel:
        threading.Thread(target=answer, args=(bot, channel, chats), daemon=True).start()
        try:
            receive(bot, channel, chats)
        except ValueError as error:
            sys.exit(f"Telegram refuses: {error}")


if __name__ == "__main__":
    main()
