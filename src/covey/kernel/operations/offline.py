"""Operations that need files but no daemon. The daemon does them in a thread; without one, the command line does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.config.config import Config, set_value, unset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from covey.contract import Operation
    from covey.contract.event_kind import EventKind
    from covey.kernel.config.settings import Settings
    from covey.kernel.seat import Seat
    from covey.kernel.subsystem import Subsystem


class OfflineOperations:
    """The configuration, the API's description and the doctor of one kind of daemon, for its seat.

    `subsystems` is called by the doctor only: importing them costs more than the other operations take.
    """

    def __init__(
        self,
        seat: Seat,
        settings: Settings,
        operations: Sequence[Operation],
        events: Sequence[EventKind],
        subsystems: Callable[[], Sequence[Subsystem]],
    ) -> None:
        self._seat = seat
        self._settings = settings
        self._operations = operations
        self._events = events
        self._subsystems = subsystems

    def handlers(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """The functions by the name of their operation; each takes parameters and returns a result."""
        return {
            "config.list": self._config_list,
            "config.get": self._config_get,
            "config.set": self._config_set,
            "config.unset": self._config_unset,
            "openapi": self._openapi,
            "doctor": self._doctor,
        }

    def _config_list(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"items": [item._asdict() for item in Config.load(self._seat, self._settings).items()]}

    def _config_get(self, params: dict[str, Any]) -> dict[str, Any]:
        return Config.load(self._seat, self._settings).item(params["key"])._asdict()

    def _config_set(self, params: dict[str, Any]) -> dict[str, Any]:
        return set_value(self._seat, self._settings, params["key"], params["value"])._asdict()

    def _config_unset(self, params: dict[str, Any]) -> dict[str, Any]:
        return unset(self._seat, self._settings, params["key"])._asdict()

    def _openapi(self, _: dict[str, Any]) -> dict[str, Any]:
        from covey.kernel.http.openapi import document

        return document(self._operations, self._events)

    def _doctor(self, _: dict[str, Any]) -> dict[str, Any]:
        from covey.kernel.doctor.doctor import examine

        findings = [finding._asdict() for finding in examine(self._seat, self._settings, self._subsystems())]
        return {"ok": all(finding["status"] != "fail" for finding in findings), "findings": findings}
