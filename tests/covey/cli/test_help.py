"""The help pages, as people get them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from covey.cli.overview import OTHERS, SECTIONS
from covey.contract import OPERATIONS
from tests.covey.conftest import Covey


def page(covey: Covey, *words: str) -> list[str]:
    return covey.run(*words, "--help").stdout.splitlines()


def test_every_command_stands_once_in_its_group(covey: Covey) -> None:
    lines = page(covey, "--help")
    assert lines[0] == "usage: covey [-h] [--version] COMMAND …"
    titles = [line.rstrip(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert [title for title in titles if title in SECTIONS] == list(SECTIONS)
    begin, end = lines.index(f"{next(iter(SECTIONS))}:"), lines.index("also:")
    named = [line.split()[0] for line in lines[begin:end] if line.startswith("  ") and not line.startswith("   ")]
    verbs = {operation.cli[0] for operation in OPERATIONS if operation.cli}
    aliases = {alias for operation in OPERATIONS if len(operation.cli) > 1 for alias in operation.aliases}
    assert sorted(named) == sorted(verbs | aliases)
    assert named.index("ps") < named.index("up")
    assert OTHERS not in titles


@pytest.mark.parametrize("words", [[], ["ps"], ["beat"], ["wait"], ["target", "add"]])
def test_help_fits_80_columns_and_what_is_broken_keeps_its_indent(covey: Covey, words: list[str]) -> None:
    lines = page(covey, *words)
    assert all(len(line) <= 80 for line in lines)
    if "examples:" in lines:
        examples = lines[lines.index("examples:") + 1 :]
        assert all(line.startswith("  ") for line in examples[: examples.index("")])


def test_a_command_that_runs_makes_no_help_page() -> None:
    program = (
        "import sys, os; os.environ['COVEY_HOME'] = '/nonexistent/covey'\n"
        "from covey.cli import main\n"
        "try: main(['status'])\n"
        "except SystemExit: pass\n"
        "print(*(name for name in ('covey.cli.overview', 'covey.cli.help', 'argparse') if name in sys.modules))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "\n"
