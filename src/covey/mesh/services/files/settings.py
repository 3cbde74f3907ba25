"""What can be set about the files of a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.byte_sizes import MB
from covey.kernel.config.setting import Setting
from covey.mesh.broker.streams import CHUNK_BYTES, MOST_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

QUOTA_MB, LARGEST_MB, EXPIRE_DAYS = "files.quota_mb", "files.largest_mb", "files.expire_days"

SETTINGS = (
    Setting(
        QUOTA_MB,
        "How much all shared files of the mesh may take at the broker; each counts in steps of 512 KiB. It counts at "
        "the peer of the mesh's authority.",
        consent=False,
        type="int",
        default=MOST_CHUNKS * CHUNK_BYTES // MB,
        minimum=1,
        maximum=MB,
    ),
    Setting(
        LARGEST_MB,
        "The largest file that is shared from here.",
        consent=False,
        type="int",
        default=2000,
        minimum=1,
        maximum=MB,
    ),
    Setting(
        EXPIRE_DAYS,
        "After how many days a file that is shared from here is removed, unless it is persistent.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0.00001,
        maximum=3650.0,
    ),
)


def most_chunks(get: Callable[[str], Any]) -> int:
    """Return how many chunks the files of the mesh may have. `get` returns the value of a setting."""
    return int(get(QUOTA_MB)) * MB // CHUNK_BYTES
