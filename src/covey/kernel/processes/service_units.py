"""Writes the texts that a service manager reads: a systemd user unit and a launchd agent.

Both stop only the daemon itself: agents and tmux servers, which are not its children, and runs of beats outlive it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Sequence

WATCHDOG_S = 30
DESCRIPTION = "Covey keeps coding agents running, visible and reachable"
_LAUNCHD_PATH = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
"""launchd gives an agent no more than /usr/bin:/bin, where there is no tmux."""


class DaemonWords(NamedTuple):
    """What follows the command to be a daemon in the foreground and to reload it, and what it is."""

    run: tuple[str, ...] = ("up", "--foreground")
    reload: tuple[str, ...] = ("reload",)
    description: str = DESCRIPTION
    limits: str = ""
    """Further lines of the systemd unit."""


OF_NODE = DaemonWords()


def systemd_unit(
    command: Sequence[str], home: str, mark: str, *, name: str = "covey", words: DaemonWords = OF_NODE
) -> str:
    """Return the systemd unit. `home` is empty for the default home."""
    environment = f"Environment={_systemd_word(f'COVEY_HOME={home}', variables=False)}\n" if home else ""
    return f"""\
# {mark}
# For changes of your own: systemctl --user edit {name}
[Unit]
Description={words.description}

[Service]
Type=notify
ExecStart={_systemd_command([*command, *words.run])}
ExecReload={_systemd_command([*command, *words.reload])}
{environment}Restart=on-failure
RestartSec=5s
# 6: the home is not ours to use, 7: another daemon runs on it; starting again would not help
RestartPreventExitStatus=6 7
WatchdogSec={WATCHDOG_S}s
{words.limits}# only the daemon itself is stopped: what it looks after goes on
KillMode=process
StandardOutput=journal
StandardError=journal

[Install]
WantedBy=default.target
"""


def launchd_agent(
    command: Sequence[str], home: str, mark: str, label: str, log: str, *, words: DaemonWords = OF_NODE
) -> str:
    """Return the property list of the launchd agent."""
    import plistlib

    environment = {"PATH": _LAUNCHD_PATH, **({"COVEY_HOME": home} if home else {})}
    agent: dict[str, Any] = {
        "Label": label,
        "ProgramArguments": [_printable(word) for word in (*command, *words.run)],
        "EnvironmentVariables": {name: _printable(value) for name, value in environment.items()},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "AbandonProcessGroup": True,
        "StandardErrorPath": _printable(log),
    }
    text = plistlib.dumps(agent, sort_keys=False).decode()
    head, newline, body = text.partition("<plist")
    return f"{head}<!-- {mark} -->\n{newline}{body}"


def _systemd_command(words: Sequence[str]) -> str:
    """Return a command line of systemd.

    The program's own path takes no variables, so a dollar in it means itself, and no quotes, so a path with quotes is
    started through env.
    """
    program, *arguments = ["/usr/bin/env", *words] if any(letter in words[0] for letter in "\"'\\") else words
    return " ".join(
        [_systemd_word(program, variables=False), *(_systemd_word(word, variables=True) for word in arguments)]
    )


def _systemd_word(word: str, *, variables: bool) -> str:
    """Return a word as systemd reads it: % begins a specifier, $ a variable; quotes and backslashes are as in C."""
    text = _printable(word).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    if variables:
        text = text.replace("$", "$$")
    needs_quotes = not word or any(letter in " \t\"'\\;" for letter in word)
    return f'"{text}"' if needs_quotes else text


def _printable(text: str) -> str:
    """Return the text. Raises `AgentError` if it holds a control character, which no service file can."""
    if not all(letter.isprintable() for letter in text):
        raise user_error(
            f"{text!a} holds a control character, which a service file cannot",
            "Use a path without it.",
            error="invalid_path",
        )
    return text
