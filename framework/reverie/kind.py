"""The kinds of values an argument may be of: how each is described, and how a JSON value becomes one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from attrs import NOTHING, evolve, frozen

from reverie_hookspecs import PluginError

SCALARS: Final = {
    str: ("string", "a string"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
}
"""Python's class -> the word of JSON Schema, and the words of a sentence."""

Bound = float | None


@frozen
class Kind(ABC):
    """What all kinds have in common: bounds, which only some of them take."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""

    @abstractmethod
    def expected(self) -> str:
        """What belongs there, in the words of a sentence."""

    @abstractmethod
    def read(self, value: Any, place: str, problems: list[str]) -> Any:
        """The value for Python; what is wrong with it is added to ``problems``, under the name of its place."""

    def bounded(self, low: Bound, high: Bound) -> Kind:
        """The same within bounds; PluginError where they mean nothing."""
        if low is not None or high is not None:
            raise PluginError(f"min and max mean nothing for {self.expected()}")
        return self


@frozen
class Scalar(Kind):
    """A string, a number or a boolean; ``words`` are the only ones allowed, if any."""

    type: type
    words: tuple[Any, ...] = ()
    low: Bound = None
    high: Bound = None

    def schema(self) -> dict[str, Any]:
        told: dict[str, Any] = {"type": SCALARS[self.type][0]}
        if self.words:
            told["enum"] = list(self.words)
        names = ("minLength", "maxLength") if self.type is str else ("minimum", "maximum")
        return told | limits(names, self.low, self.high)

    def expected(self) -> str:
        if self.words:
            listed = [quoted(word) for word in self.words]
            return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
        unit = " characters" if self.type is str else ""
        return SCALARS[self.type][1] + span(self.low, self.high, unit)

    def read(self, value: Any, place: str, problems: list[str]) -> Any:
        found = fitting(self.type, value)
        if found is None or (self.words and found not in self.words):
            problems.append(misfit(value, place, self.expected()))
        elif isinstance(found, str) and not within(len(found), self.low, self.high):
            problems.append(missized(len(found), "characters", place, self.expected()))
        elif not isinstance(found, str) and not within(found, self.low, self.high):
            problems.append(misfit(value, place, self.expected()))
        return found

    def bounded(self, low: Bound, high: Bound) -> Kind:
        if low is None and high is None:
            return self
        if self.words or self.type is bool:
            return super().bounded(low, high)
        if self.type is str:
            counts(low, high)
        return evolve(self, low=low, high=high)


@frozen
class Many(Kind):
    """A list of values of one kind, as a list or a tuple."""

    type: type
    item: Kind
    low: Bound = None
    high: Bound = None

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema()} | limits(("minItems", "maxItems"), self.low, self.high)

    def expected(self) -> str:
        return "a list" + span(self.low, self.high, " items")

    def read(self, value: Any, place: str, problems: list[str]) -> Any:
        if not isinstance(value, list | tuple):
            problems.append(misfit(value, place, self.expected()))
            return None
        if not within(len(value), self.low, self.high):
            problems.append(missized(len(value), "items", place, self.expected()))
            return None
        return self.type(self.item.read(one, f"{place}[{number}]", problems) for number, one in enumerate(value))

    def bounded(self, low: Bound, high: Bound) -> Kind:
        counts(low, high)
        return evolve(self, low=low, high=high)


@frozen
class Named(Kind):
    """An object of any names, whose values are of one kind."""

    value: Kind

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.value.schema()}

    def expected(self) -> str:
        return "an object"

    def read(self, value: Any, place: str, problems: list[str]) -> Any:
        if not isinstance(value, Mapping):
            problems.append(misfit(value, place, self.expected()))
            return None
        for name in value:
            SCALAR_TEXT.read(name, f"a name in {place}", problems)
        return {name: self.value.read(one, f"{place}.{clear(name)}", problems) for name, one in value.items()}


@frozen
class Argument:
    """One field: ``name`` is what its class calls it, ``wire`` what the caller does."""

    name: str
    wire: str
    kind: Kind
    about: str
    default: Any
    lenient: bool

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema, with what is said about it."""
        told = self.kind.schema() | ({"description": self.about} if self.about else {})
        unfit: list[str] = []
        if type(self.default) in SCALARS:
            self.kind.read(self.default, self.wire, unfit)
            return told if unfit else told | {"default": self.default}
        return told


@frozen
class Nested(Kind):
    """An object with the arguments of an attrs class, and no others."""

    cls: type
    arguments: Mapping[str, Argument]

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {wire: one.schema() for wire, one in self.arguments.items()},
            "required": [wire for wire, one in self.arguments.items() if one.default is NOTHING],
            "additionalProperties": False,
        }

    def expected(self) -> str:
        return f"an object with {', '.join(self.arguments) or 'nothing in it'}"

    def read(self, value: Any, place: str, problems: list[str]) -> Any:
        if not isinstance(value, Mapping):
            problems.append(misfit(value, place or "what was given", self.expected()))
            return None
        before = len(problems)
        stem = f"{place}." if place else ""
        problems += [self.unknown(str(name), stem) for name in value if name not in self.arguments]
        given = {wire: one for wire, one in self.arguments.items() if wire in value}
        problems += [
            f"{stem}{wire} is missing, and {one.kind.expected()} is expected"
            for wire, one in self.arguments.items()
            if wire not in given and one.default is NOTHING
        ]
        read = {wire: self.one(one, value[wire], f"{stem}{wire}", problems) for wire, one in given.items()}
        if len(problems) > before:
            return None
        return self.made({given[wire].name: found for wire, found in read.items() if found is not NOTHING}, problems)

    def one(self, argument: Argument, value: Any, place: str, problems: list[str]) -> Any:
        """The value of one argument, or NOTHING where it does not fit and need not."""
        own: list[str] = []
        found = argument.kind.read(value, place, own)
        if own and argument.lenient:
            return NOTHING
        problems += own
        return found

    def made(self, values: dict[str, Any], problems: list[str]) -> Any:
        """The instance; what a validator of the class says against it is a problem like any other."""
        try:
            return self.cls(**values)
        except (TypeError, ValueError) as error:
            problems.append(clear(str(error.args[0] if error.args else error)))
            return None

    def unknown(self, name: str, stem: str) -> str:
        from .config.remark import suggestion

        known = f"; there are {', '.join(self.arguments)}" if self.arguments else "; it takes none"
        return f'there is no argument "{stem}{clear(name)}"{suggestion(name, self.arguments) or known}'


SCALAR_TEXT: Final = Scalar(str)


# Judgements


def fitting(kind: type, value: Any) -> Any:
    """The value as one of a kind, by the rules of JSON Schema; None where it is none.

    >>> fitting(int, 3.0), fitting(int, True), fitting(float, 3)
    (3, None, 3)
    """
    if kind is str:
        return value if isinstance(value, str) and encodable(value) else None
    if kind is bool or isinstance(value, bool):
        return value if isinstance(value, bool) and kind is bool else None
    if not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if kind is int and isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def encodable(text: str) -> bool:
    """Whether it can be written as UTF-8: JSON may hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def within(size: float, low: Bound, high: Bound) -> bool:
    return (low is None or size >= low) and (high is None or size <= high)


def bounds(metadata: Mapping[Any, Any]) -> tuple[Bound, Bound]:
    """``min`` and ``max`` of a field; PluginError where they are no numbers, or leave no room."""
    low, high = metadata.get("min"), metadata.get("max")
    for name, bound in (("min", low), ("max", high)):
        if bound is not None and fitting(float, bound) is None:
            raise PluginError(f"its {name} is {bound!r} and not a number")
    if low is not None and high is not None and low > high:
        raise PluginError(f"its min {low} is over its max {high}")
    return low, high


def counts(low: Bound, high: Bound) -> None:
    """Refuse bounds that count nothing."""
    for bound in (low, high):
        if bound is not None and (type(bound) is not int or bound < 0):
            raise PluginError(f"{bound} counts neither characters nor items")


def limits(names: tuple[str, str], low: Bound, high: Bound) -> dict[str, Any]:
    return {name: bound for name, bound in zip(names, (low, high), strict=True) if bound is not None}


# Sentences


def misfit(value: Any, place: str, expected: str) -> str:
    from .config.remark import shown

    return f"{place} is {shown(value)}, and {expected} is expected"


def missized(size: int, unit: str, place: str, expected: str) -> str:
    return f"{place} has {size} {unit}, and {expected} is expected"


def clear(text: Any) -> str:
    from .config.remark import printable

    return printable(str(text))


def quoted(word: Any) -> str:
    return f'"{clear(word)}"' if isinstance(word, str) else str(word).lower()


def span(low: Bound, high: Bound, unit: str) -> str:
    """`` from 1 to 20``, `` of at least 1 characters`` or nothing."""
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f" of at {'most' if low is None else 'least'} {high if low is None else low}{unit}"
    return f" {'of' if unit else 'from'} {low} to {high}{unit}"
