"""Regular expressions take a time that grows with the length of a text, not with its square, whatever is in it.

All that the modules of Covey define are tried with texts that repeat what they look for. What users write is limited
otherwise: see `kernel/time_limit`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
import warnings

import pytest

import covey

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MODULES = ("agents", "attention", "beats", "fleet", "hosts", "keeper", "kernel", "mesh", "tmux", "policy")
WHOLE = {
    "covey.agents.gemini.headless._NOISE": "is matched at the beginning of a line",
    "covey.beats.permissions._PATTERN": "is compared with a whole text",
    "covey.fleet.actions.dialog_answer._SCROLLED": "is compared with a whole row",
    "covey.fleet.answers.references._PLACE": "is compared with a whole text",
    "covey.keeper.permission_requests.ANSWER": "is compared with a whole message",
    "covey.mesh.exposure._HOST_NAME": "is compared with a whole name",
    "covey.mesh.hooks.hook_files._ENDING": "is compared with the name of a file",
    "covey.mesh.hooks.hook_files._TIMEOUT": "is matched at the beginning of a line",
    "covey.mesh.services.leases.file_name._SCP": "is compared with a whole address",
    "covey.mesh.services.leases.file_name._URL": "is compared with a whole address",
    "covey.policy.shell.programs._SED": "is compared with a whole command of a script",
    "covey.policy.shell.reading._HARMLESS": "is compared with a whole assignment",
    "covey.policy.shell.reading._STARTS": "is compared with a whole name",
    "covey.policy.shell.remote._FLAG": "is compared with a whole word",
    "covey.policy.shell.simple._ASSIGNMENT": "is matched at the beginning of a word",
}
"""These are only matched at one place."""
BOUNDED = {
    "covey.agents.codex.signals.COMMAND": "searches 1,000 characters",
    "covey.agents.integration.json_text._COMMENT": "reads the user's own settings, in the command",
    "covey.agents.integration.json_text._TRAILING": "as above",
    "covey.agents.screens.composer._OTHER_ESCAPE": "is limited in time with the whole screen",
    "covey.fleet.actions.dialog_answer._OTHER_ESCAPE": "as above",
    "covey.fleet.watch.targets._PASSWORD": "reads an address that the user gives",
    "covey.mesh.broker.program._VERSION": "reads what a program of the user's choice says of itself",
}
"""These are not linear, and are given little to read."""
PARTS = (
    *("a", "1", " ", "\n", "/", "-", "_", ".", "@", ":", '"', "\\", "=", "é", "_a", "a ", "a=", "a.", "a@", "1:", "//"),
    *("\x1b]", "\x1b[1;", '\\"', '"a', " \n", "a/b", "[1]", "(a", "<a", "<script", "/* ", "://", "a+b://", "Bearer "),
    *("*** ", "retry in 1s ", '"message": ', "blocked by PreToolUse hook: ", 'Rejected("`', 'cmd: "', "[API Error: "),
)


def patterns() -> dict[str, re.Pattern[str] | re.Pattern[bytes]]:
    found: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(covey.__path__, "covey."):
            if module.name.split(".")[1] in MODULES and not module.name.endswith("__main__"):
                try:
                    values = vars(importlib.import_module(module.name))
                except ImportError:  # needs an extra that is not installed
                    continue
                found |= {f"{module.name}.{key}": one for key, one in values.items() if isinstance(one, re.Pattern)}
    return found


PATTERNS = patterns()


@pytest.mark.parametrize("name", sorted(name for name in PATTERNS if name not in BOUNDED))
def test_a_pattern_is_linear_on_every_hostile_text(name: str) -> None:
    pattern = PATTERNS[name]
    once = name in WHOLE
    for part in PARTS:
        whole = min(seconds(pattern, part, 4000, once=once) for _ in range(2))
        if whole > 0.002:
            half = min(seconds(pattern, part, 2000, once=once) for _ in range(3))
            whole = min(seconds(pattern, part, 4000, once=once) for _ in range(3))
            assert whole < 3.2 * half, part


def test_the_lists_name_patterns_that_exist() -> None:
    assert not {*WHOLE, *BOUNDED} - {*PATTERNS}


def seconds(pattern: re.Pattern[str] | re.Pattern[bytes], part: str, length: int, *, once: bool) -> float:
    text = (part * length)[:length] + "\0"
    began = time.thread_time()
    if isinstance(pattern.pattern, bytes):
        _apply(pattern, text.encode(), once=once)  # type: ignore[arg-type]
    else:
        _apply(pattern, text, once=once)
    return time.thread_time() - began


def _apply(pattern: re.Pattern[str], text: str, *, once: bool) -> None:
    pattern.match(text)
    pattern.fullmatch(text)
    if not once:
        for _ in pattern.finditer(text):
            pass
