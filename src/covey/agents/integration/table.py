"""The JSON file in which most agents keep hooks, ours and others': `{"hooks": {event: [entry, …]}}`, edited as text."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any, ClassVar

from covey.agents.integration.edit import NotEditable
from covey.agents.integration.integration import Integration
from covey.agents.integration.json_text import Text, blanked, parsed
from covey.agents.integration.script import is_ours
from covey.kernel.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from covey.agents.integration.user_environment import UserEnvironment


class HooksTable(Integration):
    """Adds one entry for each event at the end of its list.

    Entries of others, and all else in the file, keep every byte.
    """

    comments: ClassVar[bool] = False
    """Whether the agent itself reads a file with comments in it."""
    required: ClassVar[Mapping[str, object]] = {}
    """What must stand beside the hooks for the agent to read them."""

    @property
    def adds(self) -> str:
        return f"a hook for each of {len(self.events)} events, all else as it is"

    def entry(self, command: str, event: str) -> dict[str, Any]:
        """Our hook for an event in the form the agent wants."""
        raise NotImplementedError

    def entries(self, user: UserEnvironment) -> dict[str, dict[str, Any]]:
        """Our hooks by their event."""
        return {event: self.entry(user.command(self.name), event) for event in self.events}

    def content(self, user: UserEnvironment) -> bytes:
        hooks = {event: [entry] for event, entry in self.entries(user).items()}
        return json.dumps({**self.required, "hooks": hooks}, indent=2).encode() + b"\n"

    def installed(self, path: Path, before: bytes | None, user: UserEnvironment) -> bytes:
        if before is None or not before.strip():
            return self.content(user)
        mark, text = self._read(path, before)
        entries = self.entries(user)
        if self._complete(text.value, entries):
            return before
        self._remove(text)
        for name, value in self.required.items():
            if name not in text.value:
                text.put((), name, value)
        if "hooks" not in text.value:
            text.put((), "hooks", {})
        for event, entry in entries.items():
            if event not in text.value["hooks"]:
                text.put(("hooks",), event, [entry])
            else:
                text.append(("hooks", event), entry)
        return mark + text.text.encode("utf-8", "surrogatepass")

    def removed(self, path: Path, before: bytes) -> bytes | None:
        if not before.strip():
            return before
        mark, text = self._read(path, before)
        self._remove(text)
        return mark + text.text.encode("utf-8", "surrogatepass")

    def has_ours(self, path: Path, content: bytes) -> bool:
        return bool(self.own_events(path, content))

    def own_events(self, path: Path, content: bytes) -> list[str]:
        """The events for which a hook of ours is in the file."""
        if not content.strip():
            return []
        _, text = self._read(path, content)
        return [
            event
            for event, entries in text.value.get("hooks", {}).items()
            if any(is_our_entry(entry) for entry in _listed(entries))
        ]

    def _complete(self, document: dict[str, Any], entries: Mapping[str, dict[str, Any]]) -> bool:
        """Whether our entry, and no other of ours, is there once for each event."""
        hooks = document.get("hooks", {})
        ours = {event: [one for one in _listed(entries) if is_our_entry(one)] for event, entries in hooks.items()}
        return {event: found for event, found in ours.items() if found} == {
            event: [entry] for event, entry in entries.items()
        } and all(name in document for name in self.required)

    def _remove(self, text: Text) -> None:
        for event, entries in text.value.get("hooks", {}).items():
            gone = 0
            for index in reversed(range(len(_listed(entries)))):
                entry = entries[index]
                grouped = _listed(entry.get("hooks")) if isinstance(entry, dict) else []
                mine = [number for number, hook in enumerate(grouped) if is_our_hook(hook)]
                if is_our_hook(entry) or (mine and len(mine) == len(grouped)):
                    text.delete(("hooks", event, index))
                    gone += 1
                else:
                    for number in reversed(mine):
                        text.delete(("hooks", event, index, "hooks", number))
            if gone and gone == len(entries):
                text.delete(("hooks", event))
                if not text.value["hooks"]:
                    text.delete(("hooks",))

    def _read(self, path: Path, content: bytes) -> tuple[bytes, Text]:
        """The mark at the start of the file, if there is one, and its text; refused unless we can edit it."""
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        edit = f"Correct it in an editor: ${{EDITOR:-vi}} {quoted(str(path))}"
        try:
            decoded = content[len(mark) :].decode()
            text = Text(decoded, comments=self.comments)
        except UnicodeDecodeError as error:
            raise NotEditable(path, f"is not UTF-8 (at byte {error.start})", edit) from None
        except RecursionError:
            raise NotEditable(path, "is nested too deeply", edit) from None
        except ValueError as error:
            if _is_json(blanked(decoded)):
                raise NotEditable(
                    path,
                    f"has comments or superfluous commas, with which {self.title} does not read it",
                    f"Take them out: ${{EDITOR:-vi}} {quoted(str(path))}",
                ) from None
            raise NotEditable(path, f"is not valid JSON ({error})", edit) from None
        hooks = text.value.get("hooks", {}) if isinstance(text.value, dict) else None
        if not isinstance(hooks, dict):
            raise NotEditable(path, 'is not an object with an object under "hooks", as the agent wants it', edit)
        wrong = [event for event in self.events if not isinstance(hooks.get(event, []), list)]
        if wrong:
            raise NotEditable(path, f'has something under "hooks" "{wrong[0]}" that is not a list', edit)
        return mark, text


def is_our_hook(hook: object) -> bool:
    return isinstance(hook, dict) and is_ours(hook.get("command"))


def is_our_entry(entry: object) -> bool:
    """Whether an entry is, or has among its hooks, one of ours."""
    return is_our_hook(entry) or (
        isinstance(entry, dict) and any(is_our_hook(hook) for hook in _listed(entry.get("hooks")))
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_json(text: str) -> bool:
    try:
        parsed(text)
    except (ValueError, RecursionError):
        return False
    return True
