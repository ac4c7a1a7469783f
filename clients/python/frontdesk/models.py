"""How JSON becomes objects with Python's names, and back."""

from __future__ import annotations

import datetime as _dt
import types
import typing
from functools import cache, partial
from typing import Any, Callable, ClassVar, Union

Decoder = Callable[[Any], Any]


class Omit:
    """The type of OMIT."""

    def __repr__(self) -> str:
        return "OMIT"

    def __bool__(self) -> bool:
        return False


OMIT = Omit()
"""Leaves a field out. In an update that keeps what there is; None clears it."""


class Model:
    """The base of answers: attributes in Python's names."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The object as the API's JSON has it, without what is None."""
        out: dict[str, Any] = {}
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = getattr(self, name)
            if value is not None:
                out[camel(name)] = _plain(value)
        return out


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return text(value) if isinstance(value, _dt.date) else value


@cache
def camel(name: str) -> str:
    """first_name as the API spells it: firstName."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(w[:1].upper() + w[1:] for w in rest)


def text(value: _dt.date) -> str:
    """A moment or a day as the API reads it. A moment without a time zone is local time."""
    if not isinstance(value, _dt.datetime):
        return value.isoformat()
    return value.astimezone(_dt.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Wire:
    """Turns inputs into JSON. The keys of free-form values stay as they are."""

    free: ClassVar[frozenset[str]] = frozenset()


def wire(value: Any) -> Any:
    """An input as JSON: dictionaries may have Python's names."""
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, typing.Mapping):
        return {
            camel(k): v if k in Wire.free else wire(v) for k, v in value.items() if v is not OMIT
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [wire(v) for v in value]
    return text(value) if isinstance(value, _dt.date) else value


_decoders: dict[Any, Decoder | None] = {}


def decoder(hint: Any) -> Decoder | None:
    """What turns JSON into a type; None where JSON is what it should be."""
    if hint not in _decoders:
        _decoders[hint] = _decoder(hint)
    return _decoders[hint]


def _decoder(hint: Any) -> Decoder | None:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [d for d in map(decoder, args) if d is not None]
        if len(inner) != 1:
            return None
        one = inner[0]
        return lambda v: None if v is None else one(v)
    if origin is list:
        element = decoder(args[0])
        return None if element is None else partial(_items, element)
    if origin is dict:
        value = decoder(args[1])
        return None if value is None else partial(_values, value)
    if hint is _dt.datetime:
        return _dt.datetime.fromisoformat
    if hint is _dt.date:
        return _dt.date.fromisoformat
    cls = origin or hint
    if isinstance(cls, type) and issubclass(cls, Model):
        return _model(cls, args)
    return None


def _items(one: Decoder, values: list[Any]) -> list[Any]:
    return [one(v) for v in values]


def _values(one: Decoder, values: dict[str, Any]) -> dict[str, Any]:
    return {k: one(v) for k, v in values.items()}


def _model(cls: type[Model], args: tuple[Any, ...]) -> Decoder:
    variables = dict(zip(getattr(cls, "__parameters__", ()), args))
    fields: list[tuple[str, str, Decoder | None]] = []

    def decode(data: dict[str, Any]) -> Model:
        if not fields:  # at first use, because types may contain themselves
            for name, hint in typing.get_type_hints(cls).items():
                if name in cls.__dataclass_fields__:  # type: ignore[attr-defined]
                    if variables and typing.get_args(hint):
                        hint = Union[tuple(variables.get(a, a) for a in typing.get_args(hint))]
                    fields.append((name, camel(name), decoder(hint)))
        out = cls.__new__(cls)
        for name, key, one in fields:
            value = data.get(key)
            setattr(out, name, value if one is None or value is None else one(value))
        return out

    return decode
