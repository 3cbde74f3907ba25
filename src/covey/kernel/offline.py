"""Operations that need files but no daemon. The daemon does them in a thread; without one, the command line does them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract import OPERATIONS
from covey.kernel.config import Config, set_value, unset
from covey.kernel.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.kernel.home import Home


def config_list(home: Home, _: dict[str, Any]) -> dict[str, Any]:
    return {"items": [item._asdict() for item in Config.load(home, SETTINGS).items()]}


def config_get(home: Home, params: dict[str, Any]) -> dict[str, Any]:
    return Config.load(home, SETTINGS).item(params["key"])._asdict()


def config_set(home: Home, params: dict[str, Any]) -> dict[str, Any]:
    home.prepare()
    return set_value(home, SETTINGS, params["key"], params["value"])._asdict()


def config_unset(home: Home, params: dict[str, Any]) -> dict[str, Any]:
    return unset(home, SETTINGS, params["key"])._asdict()


def openapi(_: Home, __: dict[str, Any]) -> dict[str, Any]:
    from covey.contract.events import EVENTS
    from covey.kernel.openapi import document

    return document(OPERATIONS, EVENTS)


def doctor(home: Home, _: dict[str, Any]) -> dict[str, Any]:
    from covey.kernel.doctor import examine

    findings = [finding._asdict() for finding in examine(home, SETTINGS)]
    return {"ok": all(finding["status"] != "fail" for finding in findings), "findings": findings}


OFFLINE: dict[str, Callable[[Home, dict[str, Any]], dict[str, Any]]] = {
    "config.list": config_list,
    "config.get": config_get,
    "config.set": config_set,
    "config.unset": config_unset,
    "openapi": openapi,
    "doctor": doctor,
}
