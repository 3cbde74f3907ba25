"""Typing into a pane that is still what it was, on a real server."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from covey.tmux.typing import NOBODY, PERSON, Difference, PaneCheck, paste, press
from tests.covey.tmux.conftest import Tmux, until, watching

ROW = 'Is 5 % of #{pid}, or {a} [b] (c) ^d$ e* f+ g? h|i \\ it\'s "all" ~ 漢字 é ▐▛█ ─ ❯\u00a0x'  # noqa: RUF001 - as drawn
RECEIVES = "stty raw -echo; printf '\\033[?2004h'; cat {rows}; exec cat >{file}"


class Receiver:
    """A pane whose program writes what is typed to a file, below rows that it has drawn."""

    def __init__(self, tmux: Tmux, rows: str = f"{ROW}\r\n") -> None:
        self.tmux = tmux
        self.file = tmux.folder / "typed"
        (tmux.folder / "rows").write_text(rows)
        tmux.start(command=RECEIVES.format(rows=tmux.folder / "rows", file=self.file))

    async def check(self, **changes: object) -> PaneCheck:
        await until(lambda: self.tmux.run("display-message", "-p", "#{pane_current_command}") == "cat")
        fields = self.tmux.run("display-message", "-p", "#{pid} #{start_time} #{pane_id} #{pane_pid}").split()
        check = PaneCheck(
            server_pid=int(fields[0]),
            server_started=int(fields[1]),
            pane_id=fields[2],
            pane_pid=int(fields[3]),
            program="cat",
        )
        return replace(check, **changes)

    @property
    def typed(self) -> bytes:
        return self.file.read_bytes() if self.file.exists() else b""


@pytest.mark.parametrize(
    "text",
    ["a;", "\\;", "-t %9", 'it\'s #{pid} %H $HOME ~/x `id` "q"', "one\n\ttwo\n", "é" * 9000 + "漢" * 5000 + ";"],
)
async def test_a_text_is_pasted_as_it_is(tmux: Tmux, text: str) -> None:
    receiver = Receiver(tmux)
    check = await receiver.check(rows=(ROW,))
    async with watching(tmux) as reader:
        assert await paste(reader.watch.command, check, "covey-x", text) is None
        assert await press(reader.watch.command, check, "Enter") is None
    wanted = b"\x1b[200~" + text.encode() + b"\x1b[201~\r"
    await until(lambda: len(receiver.typed) >= len(wanted))
    assert receiver.typed == wanted
    assert tmux.run("list-buffers") == ""


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"server_pid": 1}, "server"),
        ({"server_started": 1}, "server"),
        ({"pane_pid": 1}, "process"),
        ({"program": "claude"}, "program"),
        ({"rows": ("not on the screen",)}, "screen"),
        ({"rows": (ROW[:-1],)}, "screen"),
        ({"rows": (ROW,), "absent": ("^Is [0-9]",)}, "dialog"),
    ],
)
async def test_nothing_is_typed_into_a_pane_that_is_not_as_it_should_be(
    tmux: Tmux, changes: dict[str, object], what: str
) -> None:
    receiver = Receiver(tmux)
    check = await receiver.check(**changes)
    async with watching(tmux) as reader:
        refused = [
            await paste(reader.watch.command, check, "covey-x", "text"),
            await press(reader.watch.command, check, "x"),
        ]
        assert [one and one.what for one in refused] == [what, what]
        assert await press(reader.watch.command, await receiver.check(absent=("nowhere",)), "y") is None
    await until(lambda: receiver.typed)
    assert receiver.typed == b"y"
    assert tmux.run("list-buffers") == ""


async def test_a_mode_and_another_process_are_named(tmux: Tmux) -> None:
    check = await Receiver(tmux).check()
    async with watching(tmux) as reader:
        tmux.run("copy-mode", "-t", check.pane_id)
        assert await press(reader.watch.command, check, "x") == Difference("mode", "1")
        tmux.run("respawn-pane", "-k", "-t", check.pane_id, "exec sleep 1000")
        found = await press(reader.watch.command, check, "x")
        assert found is not None
        assert (found.what, found.found.isdigit()) == ("process", True)


async def test_any_row_is_recognised_again(tmux: Tmux) -> None:
    chance = random.Random(3)
    signs = [chr(code) for code in range(33, 127)] + list("é─漢│ ")
    rows = ["".join(chance.choices(signs, k=chance.randrange(1, 60))).strip() or "x" for _ in range(24)]
    receiver = Receiver(tmux, "".join(f"{row}\r\n" for row in rows))
    check = await receiver.check()
    async with watching(tmux) as reader:
        for row in rows:
            assert await press(reader.watch.command, replace(check, rows=(row,)), "x") is None, row
    await until(lambda: receiver.typed == b"x" * len(rows))


async def test_a_key_that_a_person_has_pressed_since_is_noticed(tmux: Tmux) -> None:
    receiver = Receiver(tmux)
    check = await receiver.check()
    assert tmux.run("display-message", "-p", f"#{{{PERSON}}}") == NOBODY
    person = tmux.attach()
    await until(tmux.clients)
    typed_at = tmux.run("display-message", "-p", f"#{{{PERSON}}}")
    await until(lambda: int(tmux.run("display-message", "-p", "%s")) > int(typed_at))
    async with watching(tmux) as reader:
        assert await press(reader.watch.command, replace(check, person=typed_at), "a") is None
        person.press(b"x")
        await until(lambda: receiver.typed == b"ax")
        refused = await press(reader.watch.command, replace(check, person=typed_at), "b")
        assert refused is not None
        assert (refused.what, int(refused.found) > int(typed_at)) == ("person", True)
    assert receiver.typed == b"ax"
