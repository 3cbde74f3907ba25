"""The tools that an agent has, each with the form of its input, and the reader of their calls. Pure.

An input is understood whole or not at all: a key that is not declared, a value of a different type, a patch or a folder
that could be read in two ways make a call that no rule allows. Nothing in an input decides what kind of call it is.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from covey.policy.patch import Patch
from covey.policy.tool_call import FILE, MCP, OTHER, PATCH, SHELL, Kind, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Form = Literal["text", "number", "flag", "off", "texts", "places", "json"]
"""What a value has to be. `places` are a text or a list of texts. `off` is what widens the call: unless it is false or
empty, the call is not understood."""
DEEPEST = 64
"""Lists and objects inside each other; a deeper input is not understood."""
MOST_WORDS = 64
_NOT_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,16}:|\$|~(?!/|$)")
MOST_TEXTS = 2000
"""Texts of one input that a deny looks at; an input with more is not understood."""
_NUMBERS = (int, float)


class Tool(NamedTuple):
    """One declared tool: the kind of its calls, and every key that its input may have."""

    kind: Kind
    keys: Mapping[str, Form]
    needs: tuple[str, ...] = ()
    """Keys without which there is no call."""
    command: str = ""
    """The key of what a shell is given, or of a patch."""
    folder: str = ""
    """The key of the folder in which it runs."""
    paths: tuple[str, ...] = ()
    """The keys of files."""
    inside: tuple[str, ...] = ()
    """The keys of patterns for names below the paths."""
    deep: bool = False
    """Whether it reaches what is below its paths. Without a path, that is the folder of the agent."""
    objection: Callable[[Mapping[str, object]], str] = lambda _given: ""
    """Returns what else is wrong with an input of the declared form; empty if nothing is."""


class Tools:
    """The tools of one agent, by the names that its hooks use."""

    def __init__(
        self,
        declared: Mapping[str, Tool],
        *,
        mcp_prefix: str = "",
        asked_as: Mapping[str, str] | None = None,
        never: Mapping[str, str] | None = None,
    ) -> None:
        """`mcp_prefix`: how the names of tools begin that come from an MCP server, if the agent marks them so.

        `asked_as`: what the agent calls a tool when it asks for permission, where that is a different name. `never`:
        tools that no rule can allow, because their input does not tell what they do, and how it does not.
        """
        self.declared = declared
        self.never = never or {}
        self.asked_as = asked_as or {}
        self._mcp_prefix = mcp_prefix

    def knows(self, name: str) -> bool:
        """Return whether a tool is declared, or comes from an MCP server."""
        return name in self.declared or self.kind_of(name) == MCP

    def kind_of(self, name: str) -> Kind:
        """Return the kind of a tool; `other` for one that is not declared."""
        if name in self.declared:
            return self.declared[name].kind
        return MCP if self._mcp_prefix and name.startswith(self._mcp_prefix) else OTHER

    def read(self, name: object, given: object) -> ToolCall:
        """Return the call of a tool with this input. Never raises: what is not understood says so in `unread`."""
        texts, is_deep = _texts(given)
        kind = self.kind_of(name) if isinstance(name, str) else OTHER
        call = ToolCall(kind=kind, texts=texts, unread="it has too many parts to be read" if is_deep else "")
        if not isinstance(name, str) or not name or not name.isprintable():
            return _not_read(call, "its tool has no readable name")
        if not isinstance(given, dict):
            return _not_read(call, "its input is not an object")
        if call.unread or kind == MCP:
            return call
        tool = self.declared.get(name)
        if tool is None:
            return _not_read(call, self.never.get(name) or f"{name[:60]} is not a tool that Covey knows")
        return _read(tool, given, call)


def _read(tool: Tool, given: dict[str, object], call: ToolCall) -> ToolCall:
    """Return a call with what its input says, read by the declaration of its tool."""
    wrong = _objection(tool, given)
    command, patch = _text(given, tool.command), None
    if tool.kind == PATCH:
        patch = Patch(command)
        wrong = wrong or patch.objection
    paths = [path for key in tool.paths for path in _places(given, key)]
    if tool.deep and not paths:
        paths.append(".")
    if not all(paths):
        wrong = wrong or "one of its files has no name"
    if tool.kind == FILE and not all(map(_is_plain_path, paths)):
        wrong = wrong or "the name of its file may mean different things"
    several = any(tool.keys[key] == "places" for key in tool.paths)
    if not several and len({posixpath.normpath(path) for path in paths}) > 1:
        wrong = wrong or "it names several files where one is meant"
    return ToolCall(
        kind=call.kind,
        command=command if tool.kind == SHELL else "",
        paths=tuple(dict.fromkeys(patch.paths if patch else paths)),
        deep=tool.deep,
        texts=call.texts,
        folder=_text(given, tool.folder),
        unread=wrong,
    )


def _objection(tool: Tool, given: dict[str, object]) -> str:
    """Return why an input is not of the declared form; empty if it is."""
    for key, value in given.items():
        form = tool.keys.get(key) if isinstance(key, str) else None
        if form is None:
            return f"its input has {key[:60]!r}, which Covey does not know"
        if form == "off" and value:
            return f"{key} widens what it may do"
        if value is not None and not _has_form(value, form):
            return f"{key} is not what it has to be ({_WORDS[form]})"
    for key in tool.needs:
        if not _text(given, key):
            return f"{key} is missing"
    return _place_objection(tool, given) or tool.objection(given)


def _place_objection(tool: Tool, given: dict[str, object]) -> str:
    """Return why it is not certain where a call acts; empty if it is."""
    if _text(given, tool.folder).startswith("~"):
        return f"{tool.folder} can be read in two ways"
    for key in tool.inside:
        pattern = _text(given, key)
        if pattern.startswith(("/", "~")) or ".." in pattern:
            return f"{key} leads out of its folder"
    return ""


_WORDS: Mapping[Form, str] = {
    "text": "a text",
    "number": "a number",
    "flag": "true or false",
    "off": "false",
    "texts": "a list of texts",
    "places": "a text or a list of texts",
    "json": "JSON",
}


def _has_form(value: object, form: Form) -> bool:
    if form == "text":
        return isinstance(value, str)
    if form == "number":
        return isinstance(value, _NUMBERS) and not isinstance(value, bool)
    if form == "flag":
        return isinstance(value, bool)
    if form in {"json", "off"} or (form == "places" and isinstance(value, str)):
        return True
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key) if key else None
    return value if isinstance(value, str) else ""


def _places(given: Mapping[str, object], key: str) -> list[str]:
    """Return the files under a key, which is a text or a list of texts."""
    value = given.get(key)
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)]
    return [value] if isinstance(value, str) and value else []


def _is_plain_path(path: str) -> bool:
    """Return whether a path is one for every agent, which may trim it, or find a URL, a variable or a user in it."""
    return path.isprintable() and path == path.strip() and "\\" not in path and _NOT_PLAIN.match(path) is None


def _not_read(call: ToolCall, why: str) -> ToolCall:
    return ToolCall(kind=call.kind, texts=call.texts, unread=why)


def _texts(given: object) -> tuple[tuple[str, ...], bool]:
    """Return the texts of an input, keys too, and whether there is more than is looked at."""
    found: list[str] = []
    level: Sequence[object] = [given]
    for _ in range(DEEPEST):
        if not level or len(found) > MOST_TEXTS:
            break
        found += [one for one in level if isinstance(one, str)]
        found += [" ".join(one) for one in level if isinstance(one, list) and _are_words(one)]
        level = [part for one in level for part in _parts(one)]
    return tuple(dict.fromkeys(found[:MOST_TEXTS])), bool(level) or len(found) > MOST_TEXTS


def _are_words(values: list[Any]) -> bool:
    """Return whether a list may be a command, as its words."""
    return 1 < len(values) <= MOST_WORDS and all(isinstance(one, str) for one in values)


def texts_in(given: object) -> tuple[str, ...]:
    """Return the texts of an input, those of its keys too, as far as a deny looks."""
    return _texts(given)[0]


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def file_tool(*paths: str, needs: bool = True, deep: bool = False, inside: Sequence[str] = (), **keys: Form) -> Tool:
    """Return a tool for files: the keys of its paths, and its other keys with their forms."""
    whole: dict[str, Form] = {**dict.fromkeys((*paths, *inside), "text"), **keys}
    return Tool(FILE, whole, needs=paths[:1] if needs else (), paths=paths, inside=tuple(inside), deep=deep)


def other_tool(kind: Kind = OTHER, **keys: Form) -> Tool:
    """Return a tool that is neither a shell nor for files."""
    return Tool(kind, keys)
