"""A shell script in the place of `claude` that prints what the real one (2.1.325, in the lab) printed.

For tests of what people see, which must run where no agent is installed.
"""

from __future__ import annotations

import shlex
from pathlib import Path

OUTPUT = Path(__file__).parents[1] / "beats_output" / "claude" / "2.1.325"
SCRIPT = """\
#!/bin/sh
cat > /dev/null
head -n 1 {recording}
while [ -e {hold} ]; do sleep 0.05; done
tail -n +2 {recording}
exit {code}
"""


class RecordedClaude:
    """In a folder for the PATH. `hold`: it waits after its first tool call until it is let go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hold = folder / "hold"
        folder.mkdir()
        self.says("attention")

    def says(self, recording: str, *, code: int = 0) -> None:
        program = self.folder / "claude"
        words = {
            "recording": shlex.quote(str(OUTPUT / f"{recording}.jsonl")),
            "hold": shlex.quote(str(self._hold)),
            "code": code,
        }
        program.write_text(SCRIPT.format(**words))
        program.chmod(0o755)

    def hold(self) -> None:
        self._hold.touch()

    def let_go(self) -> None:
        self._hold.unlink(missing_ok=True)
