"""Named sets of flag values, kept in `~/.<tool>/profiles.json`."""

from __future__ import annotations

import json
import os

from murli._core.errors import AgentError, not_found, tool_error, user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ProfileStore:
    """All profiles of one tool.

    The file is private to its owner, replaced in one step, and never overwritten when it cannot be understood.
    """

    def __init__(self, path: str, default: str = "", profiles: dict[str, dict[str, str]] | None = None) -> None:
        self.path = path
        self.default = default
        self.profiles = profiles or {}

    @classmethod
    def load(cls, path: str) -> ProfileStore:
        """Read the store; a tool that has none yet gets an empty one."""
        try:
            with open(path, "rb") as file:  # pathlib costs start-up time, and every command may read its profile
                document = json.loads(file.read().decode("utf-8"))
        except FileNotFoundError:
            return cls(path)
        except OSError as error:
            raise tool_error(
                f"the profiles cannot be read: {error}",
                f"Make {path} readable, or move it away.",
                error="profile_error",
            ) from error
        except (ValueError, RecursionError) as error:
            raise _corrupt(path, str(error)) from error
        return cls(path, *_checked(document, path))

    def get(self, name: str) -> dict[str, str]:
        """The flag values of a profile."""
        if name not in self.profiles:
            error = not_found(
                f"there is no profile {name!r}",
                "Run `profile list` to see the profiles, or `profile save` to make one.",
                field="profile",
            )
            error.valid_values = self.names()
            raise error
        return self.profiles[name]

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self.profiles)

    def save(self) -> None:
        """Write the store in one step: readers see the old file or the new one, never half of it."""
        body: dict[str, Any] = {"default": self.default} if self.default else {}
        body["profiles"] = {name: {"flags": self.profiles[name]} for name in self.names()}
        temporary = f"{self.path}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except (OSError, ValueError) as error:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise tool_error(
                f"the profiles cannot be written: {error}",
                f"Make {os.path.dirname(self.path)} writable.",
                error="profile_error",
            ) from error


def _checked(document: Any, path: str) -> tuple[str, dict[str, dict[str, str]]]:
    if (
        not isinstance(document, dict)
        or not isinstance(document.get("profiles", {}), dict)
        or not isinstance(document.get("default", ""), str)
    ):
        raise _corrupt(path, "expected an object with `profiles`")
    profiles = {}
    for name, profile in document.get("profiles", {}).items():
        flags = profile.get("flags") if isinstance(profile, dict) else None
        if not isinstance(flags, dict) or not all(isinstance(value, str) for value in flags.values()):
            raise _corrupt(path, f"profile {name!r} has no `flags` object of strings")
        profiles[name] = flags
    return document.get("default", ""), profiles


def _corrupt(path: str, why: str) -> AgentError:
    return user_error(
        f"the profiles in {path} are damaged: {why}",
        f"Mend the file by hand, or move it away: mv {path} {path}.bad",
        error="profile_error",
    )
