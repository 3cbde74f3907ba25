"""Small typed value classes without the import cost of `dataclasses`.

`dataclasses` imports `inspect` and about doubles the start of a small command line tool, which is why this module
exists (docs/decisions/0002-no-dataclasses-on-the-start-path.md).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        return lambda cls: cls


@dataclass_transform(kw_only_default=True, eq_default=True)
class Record:
    """A value with named fields: keyword-only constructor, equality, repr, and `as_dict` in field order.

    A field with a mutable default (`list`, `dict`) gets its own copy in every instance.
    """

    _defaults: ClassVar[dict[str, Any]] = {}
    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = [name for name in vars(cls).get("__annotations__", {}) if not name.startswith("_")]
        cls._fields = (*cls._fields, *(name for name in own if name not in cls._fields))
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}

    def __init__(self, **values: Any) -> None:
        given = self.__dict__
        for name in self._fields:
            if name in values:
                given[name] = values.pop(name)
            elif name in self._defaults:
                default = self._defaults[name]
                given[name] = default.copy() if isinstance(default, (list, dict)) else default
            else:
                msg = f"{type(self).__name__}() is missing the field {name!r}"
                raise TypeError(msg)
        if values:
            msg = f"{type(self).__name__}() has no field {next(iter(values))!r}"
            raise TypeError(msg)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]  # fields may be lists: a record is a value, not a key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"

    def as_dict(self) -> dict[str, Any]:
        """The fields and their values, in the order in which they are declared."""
        return {name: self.__dict__[name] for name in self._fields}
