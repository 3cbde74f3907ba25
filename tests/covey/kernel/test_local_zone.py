"""The name of this machine's time zone."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.kernel.local_zone import local_zone


@pytest.mark.parametrize(
    ("variable", "link", "zone"),
    [
        ("", "/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("", "/var/db/timezone/zoneinfo/America/New_York", "America/New_York"),
        ("Asia/Tokyo", "/usr/share/zoneinfo/Europe/Berlin", "Asia/Tokyo"),
        (":Asia/Tokyo", "", "Asia/Tokyo"),
        ("Nowhere/No", "/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("", "/etc/a file", "UTC"),
        ("", "", "UTC"),
    ],
)
def test_a_zone_has_the_name_of_the_variable_or_of_the_link(
    variable: str, link: str, zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", variable)
    place = tmp_path / "localtime"
    if link:
        place.symlink_to(link)
    assert local_zone(str(place)) == zone
