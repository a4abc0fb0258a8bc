"""Fields of strangers' blocks that name only a type: JSON has types already, so nothing is coerced."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_any_set,
    is_mapping,
    is_sequence,
    list_structure_factory,
    mapping_structure_factory,
)
from cattrs.errors import CattrsError
from cattrs.gen import make_dict_structure_fn, override

from reverie_hookspecs.settings import Reader

from .outline import Key, camel

WORDS: Final[dict[object, str]] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
UNFIT: Final = (CattrsError, TypeError, ValueError, LookupError, ArithmeticError)
"""What cattrs and attrs raise for a value that does not fit."""
Hook = Callable[[Any, Any], Any]
Factory = Callable[[Any, Any], Hook]


def reader_of(key: Key) -> Reader:
    """A function from the JSON value to the field's type; it raises ValueError with what was expected."""
    block: Any = key.block
    reader: Reader = _reader(block, key.attribute)
    return reader


@cache
def _reader(block: Any, attribute: str) -> Reader:
    try:
        fields = attrs.fields_dict(attrs.resolve_types(block))
    except NameError as error:
        return _refusing(f"of a type that can be found ({error})")
    field = fields[attribute]
    expected = WORDS.get(field.type) or f"a value of type {typed(field.type)}"

    def read(value: Any) -> Any:
        try:
            structured = CONVERTER.structure(value, field.type)  # type: ignore[arg-type]
        except UNFIT:
            raise ValueError(expected) from None
        # A validator or a converter of the field has its say only when the class is made.
        return getattr(block(**{str(field.alias): structured}), attribute)

    return read


def typed(type_: Any) -> str:
    """The name of a type, as its author wrote it."""
    return str(type_) if get_args(type_) else getattr(type_, "__name__", str(type_))


def _refusing(expected: str) -> Reader:
    def read(value: Any) -> Any:
        raise ValueError(expected)

    return read


def exactly(kind: type) -> Hook:
    """Take a scalar of this type alone."""

    def structure(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"expected {kind.__name__}")
        return value

    return structure


def number(value: Any, _: Any) -> float:
    """Take a finite number; a whole one is a number too."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError("expected a number")
    return float(value)


def only(kind: type, factory: Factory) -> Factory:
    """Take a JSON list or object alone, then what the factory makes of it: a string is no list of letters."""

    def make(type_: Any, converter: Converter) -> Hook:
        inner = factory(type_, converter)

        def structure(value: Any, into: Any) -> Any:
            if not isinstance(value, kind):
                raise TypeError(f"expected {kind.__name__}")
            return inner(value, into)

        return structure

    return make


def structure_set(type_: Any, converter: Converter) -> Hook:
    """A list, made a set."""
    of: Any = get_args(type_)[0] if get_args(type_) else Any
    inner = list_structure_factory(cast("type", list[of]), converter)
    kind = frozenset if get_origin(type_) is frozenset else set
    return lambda value, _: kind(inner(value, list))


def structure_class(type_: Any, converter: Converter) -> Hook:
    """An object, its names in camelCase, made an attrs class."""
    renames: dict[str, Any] = {each.name: override(rename=camel(each.name)) for each in attrs.fields(type_)}
    return make_dict_structure_fn(type_, converter, _cattrs_forbid_extra_keys=True, **renames)


def structure_row(type_: Any, converter: Converter) -> Hook:
    """A list, made a tuple: ``tuple[X, ...]`` of any length, ``tuple[X, Y]`` of its own."""
    kinds = get_args(type_)
    if kinds[1:] == (...,):
        return homogenous_tuple_structure_factory(type_, converter)
    return lambda value, _: tuple(converter.structure(each, kind) for each, kind in zip(value, kinds, strict=True))


def structure_union(type_: Any, converter: Converter) -> Hook:
    """The first of the types that fits."""
    kinds = [kind for kind in get_args(type_) if kind is not NoneType]

    def structure(value: Any, _: Any) -> Any:
        if value is None and NoneType in get_args(type_):
            return None
        for kind in kinds:
            with suppress(*UNFIT):
                return converter.structure(value, kind)
        raise TypeError(f"expected {type_}")

    return structure


def converter() -> Converter:
    """A cattrs converter that coerces nothing."""
    made = Converter(forbid_extra_keys=True)
    for kind in (bool, int, str):
        made.register_structure_hook(kind, exactly(kind))
    made.register_structure_hook(float, number)
    made.register_structure_hook_factory(attrs.has, only(dict, structure_class))
    made.register_structure_hook_factory(is_mapping, only(dict, mapping_structure_factory))
    made.register_structure_hook_factory(is_any_set, only(list, structure_set))
    made.register_structure_hook_factory(is_sequence, only(list, list_structure_factory))
    made.register_structure_hook_factory(is_row, only(list, structure_row))
    made.register_structure_hook_factory(is_union, structure_union)
    return made


def is_row(type_: Any) -> bool:
    """Whether it is a tuple of anything."""
    return get_origin(type_) is tuple


def is_union(type_: Any) -> bool:
    """Whether it is ``X | Y``, however it is written."""
    return get_origin(type_) in (Union, UnionType)


CONVERTER: Final = converter()
