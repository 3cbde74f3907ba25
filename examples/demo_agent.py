"""A simulated agent for `./run demo`: it takes a prompt, asks before it does anything drastic, and works for a while.

Nothing is really done. Covey knows it from `examples/adapters/demo-agent.toml` alone: there is no code for it anywhere.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import termios
import time
import tty

NAME = "demo-agent"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog=NAME, description="A pretend agent. Ask it to delete something, to choose something, or for anything else."
    )
    parser.add_argument("prompt", nargs="?", default="", help="the first prompt, as if it were typed")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long it works on a prompt")
    wanted = parser.parse_args()
    say(f"{NAME}: pretends to work, does nothing\n")
    prompt = wanted.prompt
    if prompt:
        say(f"> {prompt}\n")
    while True:
        if prompt:
            answer(prompt, wanted.seconds)
        title("ready")
        prompt = input("> ").strip()


def answer(prompt: str, seconds: float) -> None:
    verb, _, rest = prompt.partition(" ")
    if verb == "delete":
        title("asks")
        if not allowed(f"Shell: rm -rf {rest}"):
            say("Left as it was.\n")
            return
    elif verb == "choose":
        title("asks")
        say(f"Question: which of {rest}?\n")
        prompt = f"{input('Your answer: ').strip()} it is"
    work(prompt, seconds)


def allowed(what: str) -> bool:
    """Ask whether to do something, and clear the dialog away when a key has answered it."""
    say(f"{what}\nAllow?\n  1. Yes\n  2. No\n")
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin, termios.TCSADRAIN)
    try:
        while (key := os.read(sys.stdin.fileno(), 1)) not in {b"1", b"2"}:
            if not key:
                raise EOFError
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    say("\x1b[4A\x1b[J")
    return key == b"1"


def work(prompt: str, seconds: float) -> None:
    title("works")
    until = time.monotonic() + seconds
    for sign in itertools.cycle("|/-\\"):
        say(f"\r{sign} Working: {prompt}")
        time.sleep(0.1)
        if time.monotonic() > until:
            break
    say("\r\x1b[KDone.\n")


def title(word: str) -> None:
    say(f"\x1b]2;{NAME} {word}\x07")


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except (EOFError, KeyboardInterrupt, termios.error):  # the last if it has no terminal
        title("")
