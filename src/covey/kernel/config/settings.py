"""The settings that a daemon knows, and those of the kernel. Each subsystem declares its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.kernel.config.setting import Setting, Tables
from murli import not_found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from murli import AgentError

__all__ = ["KERNEL", "Setting", "Settings", "Tables"]


class Settings:
    """Every setting there is: composed of the lists that the subsystems declare."""

    def __init__(self, *groups: Iterable[Setting]) -> None:
        self._by_key: dict[str, Setting] = {}
        for group in groups:
            for setting in group:
                if setting.key in self._by_key:
                    msg = f"the setting {setting.key} is declared twice"
                    raise ValueError(msg)
                self._by_key[setting.key] = setting
        self.sections = {setting.path[:length] for setting in self for length in range(1, len(setting.path))}
        for setting in self:
            if setting.path in self.sections:
                msg = f"{setting.key} is a setting and a section at once"
                raise ValueError(msg)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._by_key.values())

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __getitem__(self, key: str) -> Setting:
        """The setting of that name, or an error that names the nearest one."""
        found = self._by_key.get(key)
        if found is None:
            raise self.unknown(key)
        return found

    def nearest(self, key: str) -> str:
        """The valid key that was probably meant, or nothing."""
        import difflib

        close = difflib.get_close_matches(key, list(self._by_key), n=1)
        if close:
            return close[0]
        last = key.rpartition(".")[2]
        return next((setting.key for setting in self if setting.path[-1] == last), "")

    def unknown(self, key: str) -> AgentError:
        """The error for a key that does not exist."""
        near = self.nearest(key)
        error = not_found(
            f"{key} is not a setting{f'; did you mean {near}?' if near else ''}",
            "See them all with: covey config list",
            field="key",
        )
        error.valid_values = list(self._by_key)
        return error


def _web_address(value: str) -> str:
    return (
        ""
        if not value or value.startswith(("http://", "https://"))
        else "an address that begins with http:// or https://, or nothing"
    )


KERNEL = (
    Setting(
        "log.level",
        "How much the daemon writes to its log.",
        consent=False,
        default="info",
        enum=("debug", "info", "warning", "error"),
    ),
    Setting(
        "log.max_mb",
        "Size in megabytes at which the log starts a new file.",
        consent=False,
        type="int",
        default=100,
        minimum=1,
        maximum=100_000,
    ),
    Setting(
        "log.max_days",
        "Days after which a log file is closed; closed ones that are older are deleted.",
        consent=False,
        type="int",
        default=14,
        minimum=1,
        maximum=3650,
    ),
    Setting(
        "log.max_files",
        "How many log files are kept, the current one included.",
        consent=False,
        type="int",
        default=5,
        minimum=1,
        maximum=100,
    ),
    Setting(
        "store.fsync",
        "When a write counts as safe: on disk at once, on disk together with those of the next 50 ms, "
        "or when the system gets round to it.",
        consent=False,
        default="strict",
        enum=("strict", "batched_50ms", "off"),
        restart=True,
    ),
    Setting(
        "events.max_days", "Days that events are kept.", consent=False, type="int", default=30, minimum=1, maximum=3650
    ),
    Setting(
        "events.max_mb",
        "Megabytes of events that are kept.",
        consent=False,
        type="int",
        default=256,
        minimum=1,
        maximum=1_000_000,
    ),
    Setting(
        "http.tcp",
        "Serve the API on a loopback TCP port too, guarded by a token.",
        consent=True,
        type="bool",
        default=True,
        restart=True,
    ),
    Setting(
        "http.port",
        "The TCP port; 0 for any that is free.",
        consent=False,
        type="int",
        default=0,
        minimum=0,
        maximum=65_535,
        restart=True,
    ),
    Setting(
        "http.body_limit_kb",
        "Largest request body in kilobytes.",
        consent=False,
        type="int",
        default=1024,
        minimum=1,
        maximum=1_048_576,
        restart=True,
    ),
    Setting(
        "http.deadline_s",
        "Seconds after which a request is given up.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0.1,
        maximum=3600,
        restart=True,
    ),
    Setting(
        "consent.from_programs",
        "Operations, such as mesh.join, that a program may call without a person; agents that are known never may.",
        consent=True,
        type="list",
        default=[],
    ),
    Setting(
        "consent.terminals",
        "Programs whose terminals are yours, beside the known ones: a person's decisions are taken there.",
        consent=True,
        type="list",
        default=[],
    ),
    Setting(
        "telemetry.otlp_endpoint",
        "Where OpenTelemetry traces are sent; nothing for nowhere.",
        consent=True,
        default="",
        check=_web_address,
        restart=True,
    ),
)
