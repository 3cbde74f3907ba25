"""The whole screen of a terminal, taken for a while and restored however the program ends."""

from __future__ import annotations

import os
import signal
import sys
import termios

from murli import terminal_safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
HOME, REST_OF_LINE, REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
ECHO_FLAGS, CONTROL = 3, 6
"""Where `termios` keeps the local modes and the control characters."""


class Screen:
    """Draws the lines that `draw` returns for a size, and again when the size changes: `with Screen(draw)`.

    Typed characters are not echoed, and none are left for the shell.
    """

    def __init__(self, draw: Callable[[int, int], list[str]]) -> None:
        self._draw = draw
        self._modes: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self.signals, self._signalled = -1, -1
        """A descriptor that is readable after a signal. A caller that waits must wait for it too.

        Python handles signals between two steps of the main thread; one that arrives just before the wait begins, or in
        another thread, does not end the wait.
        """
        self._woken_before = -1

    def __enter__(self) -> Self:
        self.signals, self._signalled = os.pipe()
        for end in (self.signals, self._signalled):
            os.set_blocking(end, False)
        self._woken_before = signal.set_wakeup_fd(self._signalled, warn_on_full_buffer=False)
        self._take()
        own = {signal.SIGWINCH: self._resized, signal.SIGTSTP: self._suspended}
        own |= dict.fromkeys((signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT), _end)
        self._handlers = {number: signal.signal(number, handler) for number, handler in own.items()}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._woken_before)
        os.close(self.signals)
        os.close(self._signalled)
        self._give_back()

    @property
    def keyboard(self) -> int | None:
        """Return the descriptor that keys come from, or None if standard input is not a terminal."""
        return 0 if self._modes is not None else None

    def draw(self) -> None:
        """Draw every line over the old one, so that nothing flickers, and clear what was below."""
        try:
            columns, rows = os.get_terminal_size(1)
        except OSError:
            columns, rows = 80, 24
        lines = [terminal_safe(line) for line in self._draw(columns or 80, rows or 24)[: rows or 24]]
        body = f"{REST_OF_LINE}\r\n".join(lines)
        _write(f"{HOME}{body}{REST_OF_LINE}{REST_OF_SCREEN if len(lines) < rows else ''}")

    def _take(self) -> None:
        try:
            self._modes = termios.tcgetattr(0)
            quiet = [*self._modes]
            quiet[ECHO_FLAGS] &= ~(termios.ECHO | termios.ICANON)
            quiet[CONTROL] = [*quiet[CONTROL]]
            quiet[CONTROL][termios.VMIN], quiet[CONTROL][termios.VTIME] = 1, 0  # a read returns with the first key
            termios.tcsetattr(0, termios.TCSADRAIN, quiet)
        except termios.error:  # the keyboard is elsewhere
            self._modes = None
        _write(ENTER)

    def _give_back(self) -> None:
        try:
            _write(LEAVE)
            if self._modes is not None:
                termios.tcsetattr(0, termios.TCSAFLUSH, self._modes)
        except (OSError, termios.error):  # the terminal is gone: there is nothing to give back
            pass

    def _resized(self, *_: object) -> None:
        self.draw()

    def _suspended(self, *_: object) -> None:
        """Handle Ctrl-Z: restore the terminal for the shell, and take it again when the process continues."""
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspended)
        self._take()
        self.draw()


def _end(*_: object) -> None:
    raise SystemExit(0)


def _write(text: str) -> None:
    """Write past Python's buffers: a signal handler may draw during a write, which they do not allow."""
    data = text.encode(sys.stdout.encoding or "utf-8", "murli.similar")
    while data:
        data = data[os.write(1, data) :]
