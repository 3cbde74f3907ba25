"""Covey as a background service of the user: systemd on Linux, launchd on macOS, a definition file for Windows.

What would be written is made first and written afterwards, so that a dry run shows exactly that. A file that we did not write is never touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.home import write_file
from murli import conflict, tool_error

if TYPE_CHECKING:
    from covey.kernel.home import Home

MARK = "Written by `covey service install`"
LABEL = "dev.covey.node"
COMMAND_S = 15.0


class Definition(NamedTuple):
    """The file that makes Covey a service, and the commands that make the system notice it."""

    path: str
    text: str
    enable: list[list[str]]
    disable: list[list[str]]


def definition(home: Home, executable: str, platform: str = sys.platform, environ: dict[str, str] | None = None) -> Definition:
    """The service of this platform."""
    env = dict(os.environ if environ is None else environ)
    user = env.get("HOME") or os.path.expanduser("~")
    if platform == "darwin":
        path = os.path.join(user, "Library", "LaunchAgents", f"{LABEL}.plist")
        return Definition(path, _launchd(home, executable, env), [["launchctl", "load", "-w", path]], [["launchctl", "unload", "-w", path]])
    if platform == "win32":
        return Definition(os.path.join(home.path, "covey-service.xml"), _windows(home, executable), [], [])
    folder = os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(user, ".config"), "systemd", "user")
    enable = [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", "--now", "covey.service"]]
    disable = [["systemctl", "--user", "disable", "--now", "covey.service"], ["systemctl", "--user", "daemon-reload"]]
    return Definition(os.path.join(folder, "covey.service"), _systemd(home, executable, env), enable, disable)


def install(wanted: Definition) -> bool:
    """Write the definition; False if it was there already, word for word."""
    current = _current(wanted)
    if current == wanted.text:
        return False
    try:
        os.makedirs(os.path.dirname(wanted.path), exist_ok=True)
        write_file(wanted.path, wanted.text.encode(), 0o644)
    except OSError as error:
        raise tool_error(f"{wanted.path} cannot be written: {error}", "Check the folder, then try again.") from error
    return True


def uninstall(wanted: Definition) -> bool:
    """Remove the definition; False if there was none."""
    if _current(wanted) is None:
        return False
    os.unlink(wanted.path)
    return True


def installed(wanted: Definition) -> bool:
    """Whether a definition of ours is there."""
    return _current(wanted) is not None


def tell_system(commands: list[list[str]]) -> list[str]:
    """Run the commands where the system's manager answers; return those that the user has to run."""
    for index, command in enumerate(commands):
        if shutil.which(command[0]) is None or _run(command) != 0:
            return [" ".join(words) for words in commands[index:]]
    return []


def active(platform: str = sys.platform) -> str:
    """What the system's manager says about the service: active, inactive, failed, or unknown."""
    systemctl = shutil.which("systemctl")
    if platform == "linux" and systemctl:
        try:
            ended = subprocess.run(  # noqa: S603 - found on PATH
                [systemctl, "--user", "is-active", "covey.service"], capture_output=True, text=True, timeout=COMMAND_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        return ended.stdout.strip() or "unknown"
    return "unknown"


def _current(wanted: Definition) -> str | None:
    try:
        with open(wanted.path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise tool_error(f"{wanted.path} cannot be read: {error}", "Move it away, then try again.") from error
    if MARK not in text:
        raise conflict(
            f"{wanted.path} was not written by Covey", f"Look at it, and move it away if it is not needed: mv {wanted.path} {wanted.path}.old"
        )
    return text


def _run(command: list[str]) -> int:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_S, check=False).returncode  # noqa: S603 - fixed words
    except (OSError, subprocess.TimeoutExpired):
        return 1


def _systemd(home: Home, executable: str, environ: dict[str, str]) -> str:
    named = [] if home.is_default(environ) else [f'Environment="COVEY_HOME={_systemd_escaped(home.path)}"']
    return "\n".join(
        [
            f"# {MARK}; `covey service uninstall` removes it.",
            "[Unit]",
            "Description=Covey, the control plane for coding agents",
            "",
            "[Service]",
            "Type=notify",
            f'ExecStart="{_systemd_escaped(executable)}" up --foreground',
            *named,
            "Restart=on-failure",
            "RestartSec=5s",
            "WatchdogSec=60s",
            "MemoryMax=512M",
            "StandardOutput=journal",
            "StandardError=journal",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def _systemd_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _launchd(home: Home, executable: str, environ: dict[str, str]) -> str:
    import plistlib

    document = {
        "Label": LABEL,
        "ProgramArguments": [executable, "up", "--foreground"],
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "EnvironmentVariables": {} if home.is_default(environ) else {"COVEY_HOME": home.path},
    }
    text = plistlib.dumps(document, sort_keys=False).decode()
    head, _, rest = text.partition("\n")
    return f"{head}\n<!-- {MARK}; `covey service uninstall` removes it. -->\n{rest}"


def _windows(home: Home, executable: str) -> str:
    from xml.sax.saxutils import escape

    return "\n".join(
        [
            f"<!-- {MARK}; `covey service uninstall` removes it. For WinSW. -->",
            "<service>",
            "  <id>covey</id>",
            "  <name>Covey</name>",
            "  <description>The control plane for coding agents</description>",
            f"  <executable>{escape(executable)}</executable>",
            "  <arguments>up --foreground</arguments>",
            f'  <env name="COVEY_HOME" value="{escape(home.path, {chr(34): "&quot;"})}"/>',
            '  <onfailure action="restart" delay="5 sec"/>',
            "</service>",
            "",
        ]
    )
