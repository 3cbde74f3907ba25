"""docs/murli.md and murli's README are true: their files are written, their commands run, their output compared."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from murli import conformance
from tests.murli.conftest import Tool

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "murli.md"
README = ROOT / "packages" / "murli" / "README.md"


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return every fenced block of a page: its info string and its text."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("page", "least"), [(GUIDE, 15), (README, 4)], ids=["guide", "readme"])
def test_every_block_of_a_page_works_as_printed(page: Path, least: int, tmp_path: Path) -> None:
    shell = Tool(["sh", "-c"], tmp_path / "guide")
    path = f"{Path(sys.executable).parent}:{shell.environment()['PATH']}"
    commands = 0
    for info, text in blocks(page):
        if info == "python":
            name = re.match(r"# (\S+\.py)\n", text)
            assert name, "a Python block starts with the name of its file"
            (shell.folder / name[1]).write_text(text)
        elif info.startswith("console"):
            for command, expected in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", text, re.MULTILINE):
                run = shell.run_on_terminal if info == "console terminal" else shell.run
                ran = run(command, PATH=path, NO_COLOR="1")
                printed = (ran.stdout + ran.stderr).decode()
                assert _right_trimmed(printed) == _right_trimmed(expected), command
                commands += 1
        else:
            assert info == ""
    assert commands >= least


def test_the_tool_of_the_guide_passes_the_whole_kit(tmp_path: Path) -> None:
    source = [text for info, text in blocks(GUIDE) if info == "python" and text.startswith("# notes.py")][-1]
    (tmp_path / "notes.py").write_text(source)
    conformance.assert_conforms([sys.executable, str(tmp_path / "notes.py")])


def _right_trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
