"""A STAND-IN for Cursor's CLI (`cursor-agent`), for the lab: it is not Cursor's program and shares no code with it.

Cursor's CLI comes from no registry the lab may use, so this small program shows what is publicly known of its screen,
keys, hooks and files, and talks Chat Completions to the scripted model. It stands on these public facts:

- approval by y and n, /compress: docs.cursor.com/en/cli/using; `Shell(..)`, `Write(..)` and `WebFetch(..)` in
  ~/.cursor/cli-config.json: cursor.com/docs/cli/reference/permissions
- hooks, their names, payloads and answers: cursor.com/docs/hooks; that the terminal fires beforeSubmitPrompt,
  afterAgentResponse and stop, and that one unknown event or a URL in a command silently voids the whole file: measured
  in github.com/receptron/mulmoterminal (docs/agent-capability-matrix.md); that beforeShellExecution fires before it is
  known whether to ask: github.com/manaflow-ai/cmux (pull 9349); that questions fire no tool hooks: reports named in
  mulmoterminal (pull 2061)
- heading, composer between half-block bars, its two placeholders, `ctrl+c to stop`, the spinner row, the command card
  that takes the composer's place, the trust box: captures in github.com/srjn45/warden (testdata/cursor); no alternate
  screen: github.com/dcouple/Pane (pull 397)
- the answer box behind "Skip & tell the agent what to do instead", the headings of the write and fetch cards, the
  placeholder of a question, `Reconnecting (attempt N, Ns)`, seen without the stop hint: github.com/lenajeremy/agentman,
  written against releases of 2026; `Waiting for you`: a test of github.com/rpuneet/mycel
- chats/<md5 of the folder>/<id>/meta.json and the chat's title as window title: github.com/BetaYao/seahelm (issue 20);
  projects/<slug>/agent-transcripts/<id>/<id>.jsonl: mulmoterminal; .workspace-trusted: warden
- a refused login leaves the prompt in the composer: a public test against a capture of 2026.09

Guesses: how these look: the choices of a question, queued prompts, pasted blocks, tool output, errors, cancelled turns,
helper agents, compaction, the answer box; the wording of a chat's title; that a refusal lets the model go on; that a
file write always asks (Cursor mostly allows it unasked). Invented: states.jsonl, in which this program writes its state
for the lab's witness, and the CURSOR_STANDIN_* variables. Left out: MCP, modes, menus, shell mode, resuming, hooks of a
project, store.db.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import termios
import time
import tty
from pathlib import Path

# It is started by its path, as agents are, and finds the lab from there.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from lab.standins.cursor_session import MODEL, VERSION, Session, now  # noqa: E402
from lab.standins.cursor_turn import EVERYTHING, Card, Worker  # noqa: E402
from lab.standins.screen import Screen, fold  # noqa: E402

LABEL = f"{VERSION}, a stand-in made by Covey's lab - not Cursor's program"
SPINNER = ("⠀⠞", "⠠⠜", "⠰⠰", "⠘⠤", "⠘⠆", "⠘⠣", "⠰⠳", "⠠⠛")
BEAT = 0.25
FIRST, NEXT = "Plan, search, build anything", "Add a follow-up"
REASON = "Tell the agent what to do instead (Enter to send, empty to skip, Esc to cancel)"
QUESTION = "Answer questions (Enter to select/next, Esc to skip)"
TRUST = """
⚠ Workspace Trust Required

Cursor Agent can execute code and access files in this directory.

Do you trust the contents of this directory?

  {folder}

▶ [a] Trust this workspace
  [q] Quit

Use arrow keys to navigate, Enter to select, or press the key shown

{label}
"""
LONG_PASTE = 800
COMPOSER_ROWS = 6
OUTPUT_ROWS = 6
KEYS = re.compile(
    rb"\x1b\[200~(?P<paste>.*?)\x1b\[201~|\x1b\[[0-9;]*[A-Za-z~]|\x1bO.|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+", re.DOTALL
)
NAMES = {
    b"\r": "enter", b"\x1b": "esc", b"\x03": "ctrl+c", b"\x15": "ctrl+u", b"\x7f": "backspace", b"\t": "tab",
    b"\x1b[Z": "shift+tab", b"\x1b[A": "up", b"\x1b[B": "down",
}  # fmt: skip


class Interface:
    """Reads keys and draws the screen; a turn runs beside it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._worker = Worker(session)
        self._screen = Screen()
        self._said: list[str] = []
        self._typed = b""
        self._draft = ""
        self._pastes: dict[str, str] = {}
        self._queue: list[str] = []
        self._busy = self._leaving = self._quit = False
        self._turns = self._tokens = self._point = 0
        self._status, self._since = "", 0.0
        self._partial = self._tool = ""
        self._card: Card | None = None
        self._reason = False
        self._trusted = session.trust.exists()

    def run(self) -> None:
        before = termios.tcgetattr(0)
        tty.setraw(0)
        self._screen.write("\x1b[?2004h\x1b[?25l\x1b]0;Cursor Agent\x07")
        try:
            if self._trusted:
                self._open()
            while not self._quit:
                self._draw()
                ready, _, _ = select.select([0, self._worker.wake], [], [], BEAT if self._busy else None)
                if 0 in ready:
                    self._read()
                if self._worker.wake in ready:
                    os.read(self._worker.wake, 65536)
                    while not self._worker.news.empty():
                        kind, what = self._worker.news.get()
                        getattr(self, f"_on_{kind}")(what)
        finally:
            self._draw()
            self._screen.write("\x1b[?2004l\x1b[?25h\r\n")
            termios.tcsetattr(0, termios.TCSADRAIN, before)

    def _open(self) -> None:
        self._say("", "  \x1b[1mCursor Agent\x1b[m", f"  \x1b[2m{LABEL}\x1b[m", "")
        self._session.open()

    def _say(self, *lines: str) -> None:
        self._said += lines

    def _on_status(self, status: str) -> None:
        if status != self._status:
            self._status, self._since = status, time.time()

    def _on_text(self, text: str) -> None:
        self._on_status("Working")
        self._on_token(text)
        *done, self._partial = fold(self._partial + text, self._screen.width() - 4)
        self._say(*(f"  {line}" for line in done))

    def _on_token(self, text: str) -> None:
        self._tokens += max(1, len(text) // 4)

    def _on_line(self, line: str) -> None:
        self._flush()
        self._say(line, "")

    def _on_tool(self, what: tuple[str, str]) -> None:
        self._flush()
        self._tool = what[1]
        self._on_status({"task": "Running subagent", "write": "Editing"}.get(what[0], "Running"))

    def _on_done(self, output: str) -> None:
        rows = [f"    {line[: self._screen.width() - 6]}" for line in output.splitlines()]
        hidden = (
            [f"    … {len(rows) - OUTPUT_ROWS} output lines hidden · ctrl+o to expand"]
            if len(rows) > OUTPUT_ROWS
            else []
        )
        self._say(f"  {self._tool} {self._elapsed()}", *rows[:OUTPUT_ROWS], *hidden, "")
        self._tool = ""

    def _on_card(self, card: Card) -> None:
        self._flush()
        self._card, self._point = card, 0
        if card.question:
            self._on_status("Waiting for you")

    def _on_restore(self, prompt: str) -> None:
        self._draft = self._draft or prompt

    def _on_end(self, note: str) -> None:
        self._flush()
        if self._tool:
            self._say(f"  {self._tool} {self._elapsed()}")
        self._busy, self._card, self._reason, self._tool = False, None, False, ""
        if note:
            self._say(f"  \x1b[31m{note}\x1b[m" if note.startswith("Error") else f"  \x1b[2m{note}\x1b[m", "")
        if self._queue:
            self._submit(self._queue.pop(0))

    def _flush(self) -> None:
        if self._partial:
            self._say(f"  {self._partial}", "")
        self._partial = ""

    def _read(self) -> None:
        self._typed += os.read(0, 65536)
        if b"\x1b[200~" in self._typed and b"\x1b[201~" not in self._typed:
            return  # the rest of the paste is on its way
        for match in KEYS.finditer(self._typed):
            if match["paste"] is not None:
                self._paste(match["paste"].decode(errors="replace").replace("\r", "\n"))
            else:
                self._key(NAMES.get(match[0]) or match[0].decode(errors="replace"))
        self._typed = b""

    def _paste(self, text: str) -> None:
        if len(text) > LONG_PASTE:
            name = f"[Pasted text #{len(self._pastes) + 1} +{len(text.splitlines())} lines]"
            self._pastes[name] = text
            text = name
        self._draft += text

    def _key(self, key: str) -> None:
        if not self._trusted:
            self._on_trust(key)
        elif self._card and not self._reason and key != "ctrl+c":
            self._on_choice(self._card, key)
        elif key == "enter":
            self._enter()
        elif key in {"ctrl+c", "esc"}:
            self._leave(key)
        elif key == "ctrl+u":
            self._draft = ""
        elif key == "backspace":
            self._draft = self._draft[:-1]
        elif key.isprintable() and key not in NAMES.values():
            self._draft += key

    def _on_trust(self, key: str) -> None:
        if key in {"a", "enter"}:
            self._session.trust.parent.mkdir(parents=True, exist_ok=True)
            self._session.trust.write_text(json.dumps({"trustedAt": now(), "workspacePath": str(self._session.folder)}))
            self._trusted = True
            self._open()
        self._quit = key in {"q", "esc", "ctrl+c"}

    def _on_choice(self, card: Card, key: str) -> None:
        count = len(card.choices)
        if key in {"up", "down"}:
            self._point = (self._point + (1 if key == "down" else -1)) % count
            return
        taken = [number for number, (_, keys) in enumerate(card.choices) if key in keys.split(" or ")]
        if key == "enter" or (key == "esc" and card.question):
            taken = [self._point if key == "enter" else -1]
        if taken and taken[0] == count - 1 and card.reason:
            self._reason, self._draft = True, ""
        elif taken:
            self._answer(taken[0], "")

    def _answer(self, choice: int, reason: str) -> None:
        self._card, self._reason = None, False
        self._on_status("Working")
        self._worker.answers.put((choice, reason))

    def _leave(self, key: str) -> None:
        """Handle Escape and Ctrl-C: back to the card, stop the turn, empty the composer, or quit at a second press."""
        if self._reason and key == "esc":
            self._reason = False
        elif self._busy:
            self._worker.stop()
        elif key == "ctrl+c" and not self._draft:
            self._quit = self._leaving
            self._leaving = True
        elif key == "ctrl+c":
            self._draft = ""

    def _enter(self) -> None:
        text = re.sub(
            r"\[Pasted text #\d+ \+\d+ lines\]", lambda match: self._pastes.get(match[0], match[0]), self._draft
        ).strip()
        self._draft = ""
        if self._reason and self._card:
            self._answer(len(self._card.choices) - 1, text)
            return
        self._pastes.clear()
        if text in {"/quit", "/exit"}:
            self._session.fire(
                "sessionEnd", reason="user_close", duration_ms=0, is_background_agent=False, final_status="completed"
            )
            self._quit = True
        elif text and self._busy:
            self._queue.append(text)
        elif text:
            self._submit(text)

    def _submit(self, text: str) -> None:
        self._say(*(f"  {line}" for line in fold(text, self._screen.width() - 4)), "")
        if not self._turns:
            title = " ".join(text.split()[:3]).title()
            self._session.meta(title=title)
            self._screen.write(f"\x1b]0;{title}\x07")
        self._turns += 1
        self._busy, self._leaving, self._tokens = True, False, 0
        self._on_status("Working")
        self._worker.start(text)

    def _draw(self) -> None:
        said = self._said
        self._said = []
        width = self._screen.width()
        self._screen.draw(self._rows(width) if self._trusted else self._box(width), said)

    def _elapsed(self) -> str:
        seconds = time.time() - self._since
        return f"{seconds:.1f}s" if seconds >= 1 else f"{seconds * 1000:.0f}ms"

    def _rows(self, width: int) -> list[str]:
        rows = [f"  {self._partial}"[: width - 1]] if self._partial else []
        if self._tool:
            rows.append(f"  {self._tool} {self._elapsed()}"[: width - 1])
        card = self._card
        if card and card.head:
            rows.append(f"  {card.head} Waiting for approval..."[: width - 1])
        if card and not card.question and not self._reason:
            choices = [
                f"  {'→' if number == self._point else ' '} {label} ({keys})"
                for number, (label, keys) in enumerate(card.choices)
            ]
            return [*rows, "", "─" * (width - 1), *(row[: width - 1] for row in (*card.rows, *choices))]
        if card and card.question:
            rows += [
                *card.rows,
                *(
                    f"  {'→ ●' if number == self._point else '  ○'} {label}"
                    for number, (label, _) in enumerate(card.choices)
                ),
            ]
        if self._busy and not self._reason:
            frame = SPINNER[int(time.time() / BEAT) % len(SPINNER)]
            status = self._status.format(int(time.time() - self._since))
            rows += ["", f" {frame} {status}" + (f"  {self._tokens} tokens" if self._tokens else "")]
        rows += [f"  \x1b[2mQueued  {text[: width - 12]}\x1b[m" for text in self._queue]
        return [*rows, *self._composer(width), *self._footer(width)]

    def _composer(self, width: int) -> list[str]:
        placeholder = NEXT if self._turns else FIRST
        if self._reason:
            placeholder = REASON
        elif self._card:
            placeholder = QUESTION
        hint = "ctrl+c to stop" if self._busy and not self._card and not self._status.startswith("Reconnecting") else ""
        lines = fold(self._draft, width - 8)[-COMPOSER_ROWS:] if self._draft else []
        first = lines[0] if lines else placeholder[: width - 8]
        if not lines:
            shown = f"\x1b[7m{first[0]}\x1b[m\x1b[2m{first[1:]}\x1b[m"
        else:
            shown = f"{first}\x1b[7m \x1b[m" if len(lines) == 1 else first
        gap = " " * (width - 7 - len(first) - len(hint))
        hint = hint if gap else ""
        more = [f"    {line}" for line in lines[1:]]
        return [f" {'▄' * (width - 3)}", f"  → {shown}{gap}\x1b[2m{hint}\x1b[m", *more, f" {'▀' * (width - 3)}"]

    def _footer(self, width: int) -> list[str]:
        used = f" · {min(99.0, 6.5 + self._turns / 10):.1f}%" if self._turns else ""
        everything = f"   {EVERYTHING}" if self._worker.everything else ""
        folder = str(self._session.folder)[-(width - 4) :]
        leaving = ["  Press ctrl+c again to exit"] if self._leaving else []
        return [f"  \x1b[2m{MODEL}{used}{everything}\x1b[m", f"  \x1b[2m{folder}\x1b[m", *leaving]

    def _box(self, width: int) -> list[str]:
        inside = width - 8
        text = TRUST.format(folder=str(self._session.folder)[:inside], label=LABEL).split("\n")
        return [
            "",
            f"  ╭{'─' * (inside + 2)}╮",
            *(f"  │ {line:<{inside}} │" for line in text),
            f"  ╰{'─' * (inside + 2)}╯",
        ]


def main() -> None:
    if "--version" in sys.argv:
        sys.stdout.write(f"{LABEL}\n")
        return
    Interface(Session(Path.home(), Path.cwd())).run()


if __name__ == "__main__":
    main()
